import type { DoubtReason, PartyRole, PartyType, RejectReason, RiskTier } from '../vocabulary.js';

/** One name under which a customer is screened. */
export interface Party {
  role: PartyRole;
  type: PartyType;
  /** As the roster gives it. */
  name: string;
  /** `yyyy`, `yyyy-mm` or `yyyy-mm-dd`; with `?` behind it where it may be another date, so that it contradicts none. */
  birthDate: string | null;
  /**
   * Lower-case ISO 3166-1 alpha-2 codes, and ISO 3166-3 codes of four letters of countries that were split up since; `zz` among others is one
   * that cannot be read.
   */
  countries: readonly string[];
}

/** One accepted record of a roster; `reference` is the firm's own customer id. The first party is the customer itself. */
export interface Customer {
  reference: string;
  riskTier: RiskTier | null;
  parties: readonly [Party, ...Party[]];
  /** False where the roster itself says that the customer has left. */
  isActive: boolean;
  /** `yyyy-mm-dd`: the last day as a customer, where the roster gives one. */
  endDate: string | null;
  /** What else the roster says, by its own headers, where the settings ask to keep it. */
  attributes: Readonly<Record<string, string>>;
  readings: Readings;
}

/** What of a row's facts is in doubt, and what stands in the source where it is kept in another form. */
export interface Readings {
  doubts: readonly Doubt[];
  said: Readonly<Partial<Record<DoubtField, string>>> | null;
}

/** The facts that are no part of a request: they stop no search. */
export type DoubtField = 'birthDate' | 'countries' | 'riskTier' | 'active' | 'endDate' | 'aliases';

/** A fact that counts as unknown, with what the source says. */
export interface Doubt {
  field: DoubtField;
  /** The source's column. */
  column: string;
  value: string;
  why: DoubtReason;
}

/** A further party of a customer from a source of its own, such as a director. */
export interface RelatedParty {
  /** The customer's id. */
  reference: string;
  party: Party;
  readings: Readings;
}

/** A row that was not accepted, with all that is needed to fix it and feed it back. */
export interface RejectedRow {
  /** Physical line on which the row begins, from 1 (the header's is 1); for a query, the ordinal of the row. */
  line: number;
  /** The file it stands in where a roster has several, or the source of related parties; null otherwise. */
  file: string | null;
  /** The source's column at fault, where one is. */
  column: string | null;
  reason: RejectReason;
  /** What kind of value is at fault, without the value: such as `empty`, `digits, 8 characters`, `control character U+0000`. */
  valueClass: string | null;
  /** The customer id where the row shows one, so that a known customer stays in scope. */
  reference: string | null;
  /** The row's fields under the source's own headers. */
  fields: Readonly<Record<string, string>>;
  /** Whether the file ends in the middle of the row. */
  isCut?: boolean;
}

/** What a row became. */
export type RosterRow =
  | {
      kind: 'customer';
      line: number;
      file: string | null;
      customer: Customer;
      /** As they stand in the source, in the order of its headers, in case another row contradicts this one. */
      fields: readonly string[];
      /** The same with U+001F between them; null where one of them holds a control character. */
      joined: string | null;
    }
  | { kind: 'rejected'; rejected: RejectedRow };

/** What a row of related parties became. */
export type PartyRow =
  | { kind: 'party'; line: number; file: string | null; related: RelatedParty; fields: readonly string[] }
  | { kind: 'rejected'; rejected: RejectedRow };

/** The most parties of one customer, aliases and related parties included: each is a search of its own, and all are asked about together. */
export const maxParties = 10_000;

/** What is sent to the service for a party. */
export interface ScreeningRequest {
  type: PartyType;
  name: string;
}

const invisibles = /\u034f|[\u00ad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]/gu;
const whiteSpace = /[\s\p{Z}\u0085]+/gu;
const joinerRuns = /([\u200c\u200d])[\u200c\u200d]+/gu;

const brahmic = [
  'Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala',
  'Myanmar Khmer Tibetan Balinese Javanese Sundanese Tai_Tham Chakma Meetei_Mayek Grantha Tirhuta',
]
  .join(' ')
  .split(' ')
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');
const cursive = ['Arabic', 'Syriac', 'Mandaic', 'Nko', 'Mongolian']
  .map((script) => `\\p{Script_Extensions=${script}}`)
  .join('');
const viramas =
  '\\u094d\\u09cd\\u0a4d\\u0acd\\u0b4d\\u0bcd\\u0c4d\\u0ccd\\u0d4d\\u0dca\\u1039\\u103a\\u17d2\\u0f84\\u1b44\\ua9c0';

// Spelling, not decoration: Persian separates parts of a word with ZWNJ, Sinhala and Bengali conjuncts need ZWJ,
// and older Malayalam ends words with a virama and ZWJ. Everywhere else a joiner is invisible noise.
const letter = (scripts: string) => `(?=[${scripts}])[\\p{L}\\p{M}]`;
const joiners = new RegExp(
  [
    `(?<=${behind(brahmic)})[\\u200c\\u200d](?=${letter(brahmic)})`,
    `(?<=[${viramas}])\\u200d`,
    `(?<=${behind(cursive)})\\u200c(?=${letter(cursive)})`,
    '(?<stray>[\\u200c\\u200d])',
  ].join('|'),
  'gu',
);

function behind(scripts: string): string {
  return `[\\p{L}\\p{M}](?<=[${scripts}])`;
}

/** Gives what is sent for a party: NFC, white space folded and trimmed, marks that carry no spelling removed, otherwise as the roster gives it. */
export function toScreeningRequest(party: Party): ScreeningRequest {
  return { type: party.type, name: toSentName(party.name) };
}

/** Gives the same key for two requests exactly when they are the same search: the type, and the name as sent. */
export function toRequestKey(request: ScreeningRequest): string {
  return `${request.type}:${toSentName(request.name)}`;
}

// Letters and signs that stand for themselves, with single spaces between them: nearly all names of Latin script.
const plainName = /^[\x21-\x7e\xa1-\xac\xae-\xff\u0100-\u017f]+(?: [\x21-\x7e\xa1-\xac\xae-\xff\u0100-\u017f]+)*$/;

function toSentName(name: string): string {
  if (plainName.test(name)) return name;
  let sent = name.normalize('NFC').replace(invisibles, '').replace(joinerRuns, '$1').normalize('NFC');
  // Without a stray joiner between them, marks can change places and part another joiner from its virama.
  for (let before = ''; before !== sent; ) {
    before = sent;
    sent = sent.replace(joiners, (joiner, ...rest) => (isStray(rest) ? '' : joiner)).normalize('NFC');
  }
  return sent.replace(whiteSpace, ' ').trim().normalize('NFC');
}

function isStray(rest: readonly unknown[]): boolean {
  const groups = rest.at(-1);
  return typeof groups === 'object' && groups !== null && 'stray' in groups && groups.stray !== undefined;
}
