import type { PartyType } from '../vocabulary.js';
import { toListError } from './list-file.js';

/** One entry of a published list: a name with its other spellings. */
export interface ListedParty {
  /** The list's own number, where it has one. */
  id: string | null;
  /** Null where the list does not say. */
  type: PartyType | null;
  /** A vessel or an aircraft: listed under a name, and nobody's customer. */
  isVehicle?: true;
  /** In the order in which people write it: given names before family names where the list tells them apart. */
  name: string;
  aliases: readonly string[];
}

/** How a published list is written, as its content shows. */
export type ListFormat = 'plain_text' | 'csv' | 'ofac_csv' | 'ofac_xml' | 'un_xml';

/** A published list as it was read. */
export interface PublishedList {
  /** The file's name, without its folder. */
  file: string;
  format: ListFormat;
  /** Every file that was read, with the SHA-256 (hex) of its bytes; the named one first. */
  files: readonly { file: string; sha256: string }[];
  /** SHA-256 (hex) of the named file. */
  digest: string;
  parties: readonly ListedParty[];
  /** Names and aliases together. */
  spellings: number;
}

const maxNameLength = 1_000;

/** A name with its white space folded and quotation marks around it taken off; empty when nothing is left. */
function cleanName(text: string): string {
  return text
    .replace(/[\s\p{Z}\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/^[“”"'‘’«»„]+(.*?)[“”"'‘’«»]+$/u, '$1')
    .trim();
}

/** The name on a line of a list; throws ConfigError when it has no letter or digit, is too long, or was damaged on the way. */
export function readName(path: string, line: number, text: string): string {
  const name = cleanName(text);
  if (name.length > maxNameLength) {
    throw toListError(path, line, `holds a name of ${name.length} characters: put one name on a line`);
  }
  if (name.includes('\ufffd')) {
    throw toListError(path, line, 'holds a damaged character (U+FFFD): take the list from its publisher again');
  }
  if (!/[\p{L}\p{N}]/u.test(name)) {
    throw toListError(path, line, 'holds no name: correct the line or take it out');
  }
  return name;
}

/** The spellings that are names, each once and without the main one. */
export function cleanAliases(name: string, texts: readonly string[]): readonly string[] {
  const aliases = texts.map(cleanName).filter((alias) => /[\p{L}\p{N}]/u.test(alias) && alias.length <= maxNameLength);
  return [...new Set(aliases)].filter((alias) => alias !== name);
}

/** Whether a list's word for what is listed means a vessel or an aircraft. */
export const isVehicleType = (type: string): boolean => ['vessel', 'aircraft'].includes(type.trim().toLowerCase());
