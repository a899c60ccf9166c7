import type { PartyType } from '../roster/customer.js';

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
