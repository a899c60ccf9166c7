import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { TextDecoder } from 'node:util';
import { type ConfigError, readErrorCode, usageError } from '../errors.js';
import { findOddFile } from '../files.js';
import type { PartyType } from '../vocabulary.js';

/** The text of a file in pieces, with its digest. */
export interface ListText {
  path: string;
  pieces: AsyncIterable<string>;
  /** SHA-256 (hex) of the bytes; throws before the file is read to its end. */
  sha256: () => string;
}

const encodings: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];
const strangers: readonly (readonly [bytes: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'a ZIP archive or a spreadsheet: unpack it, or save the sheet as CSV'],
  [[0x1f, 0x8b], 'compressed with gzip: unpack it'],
  [[0x25, 0x50, 0x44, 0x46], 'a PDF: use another format of the list'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an old spreadsheet (.xls): save it as CSV'],
];

/**
 * Reads a list file as text, in the encoding of its byte order mark, else of its XML declaration, else as UTF-8. The pieces throw ConfigError when
 * the file is not readable, is no text, or has another encoding.
 */
export function openListFile(path: string): ListText {
  const hash = createHash('sha256');
  let digest: string | null = null;
  return {
    path,
    pieces: decode(path, hash, () => {
      digest = hash.digest('hex');
    }),
    sha256: () => {
      if (digest === null) throw new Error(`${path} has not been read to its end`);
      return digest;
    },
  };
}

async function* decode(path: string, hash: ReturnType<typeof createHash>, onEnd: () => void): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  let line = 1;
  const toText = (bytes: Buffer | undefined): string => {
    try {
      const text = decoder?.decode(bytes, { stream: bytes !== undefined }) ?? '';
      line += text.split('\n').length - 1;
      return text;
    } catch (error) {
      const message = `is not in ${decoder?.encoding.toUpperCase() ?? 'UTF-8'} at or after this line: save the file as UTF-8`;
      throw toListError(path, line, message, error);
    }
  };
  for await (const chunk of readBytes(path)) {
    hash.update(chunk);
    decoder ??= chooseDecoder(path, chunk);
    yield toText(chunk);
  }
  if (decoder === undefined) throw toListError(path, null, `is empty: ${downloadAgain}`);
  yield toText(undefined);
  onEnd();
}

async function* readBytes(path: string): AsyncGenerator<Buffer> {
  const odd = findOddFile(path);
  if (odd !== null) throw toListError(path, null, `${odd}: save the list as a file and give its path`);
  try {
    for await (const chunk of createReadStream(path)) {
      const bytes: unknown = chunk;
      if (Buffer.isBuffer(bytes)) yield bytes;
    }
  } catch (error) {
    const code = readErrorCode(error);
    if (code === 'ENOENT') throw toListError(`file ${path}`, null, 'there is no such file', error);
    if (code === 'EISDIR') throw toListError(path, null, 'is a folder: give the path of the list in it', error);
    if (code === null) throw error;
    throw toListError(path, null, `cannot be read (${code})`, error);
  }
}

const beginsWith = (chunk: Buffer, bytes: readonly number[]): boolean => bytes.every((byte, at) => chunk[at] === byte);

function chooseDecoder(path: string, start: Buffer): TextDecoder {
  const stranger = strangers.find(([bytes]) => beginsWith(start, bytes));
  if (stranger) throw toListError(path, null, `is ${stranger[1]}`);
  const declared = /^<\?xml[^>]*\bencoding=["']([\w.-]+)["']/.exec(start.subarray(0, 200).toString('latin1'))?.[1];
  const encoding = encodings.find(([bytes]) => beginsWith(start, bytes))?.[1] ?? declared ?? 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true });
  } catch (error) {
    throw toListError(path, 1, `declares the unknown encoding ${encoding}: save the file as UTF-8`, error);
  }
}

/** The advice for a damaged list. */
export const downloadAgain = 'download the list from its publisher again';

/** An error of a list with its file and line; nothing is spent before it. */
export function toListError(path: string, line: number | null, message: string, cause?: unknown): ConfigError {
  return usageError(line === null ? path : `${path}:${line}`, message, cause);
}

/** An entry of a published list: a name with its other spellings. */
export interface ListedParty {
  /** The number in the list. */
  id: string | null;
  /** Null if the list does not give it. */
  type: PartyType | null;
  /** A vessel or an aircraft, which is no customer. */
  isVehicle?: true;
  /** In natural order, given names before family names, if the list separates them. */
  name: string;
  aliases: readonly string[];
}

const maxNameLength = 1_000;

const opening = /^[“”"'‘’«»„]+/u;
const closing = /(?<![“”"'‘’«»])[“”"'‘’«»]+$/u;

/** Folds white space and removes quotation marks around a name. */
function cleanName(text: string): string {
  const name = text.replace(/[\s\p{Z}\p{Cc}]+/gu, ' ').trim();
  const isQuoted = opening.test(name) && closing.test(name);
  return isQuoted ? name.replace(opening, '').replace(closing, '').trim() : name;
}

/** Reads the name on a line; throws ConfigError when it has no letter or digit, is too long, or is damaged. */
export function readName(path: string, line: number, text: string): string {
  const name = cleanName(text);
  if (name.length > maxNameLength) {
    throw toListError(path, line, `holds a name of ${name.length} characters: write one name on a line`);
  }
  if (name.includes('\ufffd')) {
    throw toListError(path, line, `holds a damaged character (U+FFFD): ${downloadAgain}`);
  }
  if (!/[\p{L}\p{N}]/u.test(name)) {
    throw toListError(path, line, 'holds no name: correct or remove the line');
  }
  return name;
}

/** The valid spellings, each once and without the main one. */
export function cleanAliases(name: string, texts: readonly string[]): readonly string[] {
  const aliases = texts.map(cleanName).filter((alias) => /[\p{L}\p{N}]/u.test(alias) && alias.length <= maxNameLength);
  return [...new Set(aliases)].filter((alias) => alias !== name);
}

/** Whether the type of an entry is a vessel or an aircraft. */
export const isVehicleType = (type: string): boolean => ['vessel', 'aircraft'].includes(type.trim().toLowerCase());
