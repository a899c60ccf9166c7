import type { FactsOf } from '../vocabulary/facts.js';
import type { rejectSchema } from '../vocabulary/source-facts.js';
import type { DoubtField, DoubtReason, PartyRole, PartyType, RiskTier } from '../vocabulary.js';

/** One name under which a customer is screened. */
export interface Party {
  role: PartyRole;
  type: PartyType;
  /** As the roster gives it. */
  name: string;
  /** `yyyy`, `yyyy-mm` or `yyyy-mm-dd`. With a `?` at the end it is uncertain and contradicts no other date. */
  birthDate: string | null;
  /** Lower-case ISO 3166-1 codes, ISO 3166-3 codes of divided countries, `zz` for an unreadable one. */
  countries: readonly string[];
}

/** One accepted record; `reference` is the firm's own customer id, the first party the customer itself. */
export interface Customer {
  reference: string;
  riskTier: RiskTier | null;
  parties: readonly [Party, ...Party[]];
  /** False when the roster itself says that the customer is offboarded. */
  isActive: boolean;
  /** `yyyy-mm-dd`: the last day as a customer, if the roster gives one. */
  endDate: string | null;
  /** Further columns by their headers, if the settings keep them. */
  attributes: Readonly<Record<string, string>>;
  readings: Readings;
}

/** The facts of a row that are in doubt, and the source text of facts that are stored in another form. */
export interface Readings {
  doubts: readonly Doubt[];
  said: Readonly<Partial<Record<DoubtField, string>>> | null;
}

/** A fact that counts as unknown, or a name that may be another, with the source text. */
export interface Doubt {
  field: DoubtField;
  /** The source's column. */
  column: string;
  value: string;
  why: DoubtReason;
}

/** A rejected row, with everything that is needed to correct and re-import it. */
export interface RejectedRow extends FactsOf<typeof rejectSchema> {
  /** Whether the file ends within the row. */
  isCut?: boolean;
}

/** The result of a row. */
export type RosterRow =
  | {
      kind: 'customer';
      line: number;
      file: string | null;
      customer: Customer;
      /** The source texts in the order of the headers, in case another row contradicts this one. */
      fields: readonly string[];
      /** Related parties within the row, if the mapping names any. */
      related?: readonly PartyRow[];
      /** Whether the file ends with the row, without a line ending. */
      isOpen?: boolean;
    }
  | { kind: 'rejected'; rejected: RejectedRow };

/** The result of a row of related parties. */
export type PartyRow =
  | {
      kind: 'party';
      line: number;
      file: string | null;
      /** The customer's id, and a further party of the customer, such as a director. */
      related: { reference: string; party: Party; readings: Readings };
      /** Under the source's own headers. */
      fields: Readonly<Record<string, string>>;
    }
  | { kind: 'rejected'; rejected: RejectedRow };

/** The most parties of one customer, aliases included: each is a search, and all are planned together. */
export const maxParties = 10_000;

/** The request that is sent to the service for a party. */
export interface ScreeningRequest {
  type: PartyType;
  name: string;
}

/** Marks without a form of their own, such as variation selectors and fillers; joiners are looked at apart. */
const invisibles = /(?![\u200c\u200d])\p{Default_Ignorable_Code_Point}|[\ufff9-\ufffb]/gu;
/** The blank of Braille is white as well. */
const whiteSpace = /[\s\p{Z}\u0085\u2800]+/gu;
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

// Joiners that belong to the spelling: Persian separates parts of a word with ZWNJ, Sinhala and Bengali conjuncts need
// ZWJ, and older Malayalam ends words with a virama and ZWJ. All other joiners are removed.
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

/**
 * Gives the request of a party. The name is in NFC, with white space folded and trimmed and invisible marks removed;
 * otherwise it is as in the roster.
 */
export function toScreeningRequest(party: Party): ScreeningRequest {
  return { type: party.type, name: toSentName(party.name) };
}

// Letters and signs that need no folding, with single spaces between them: nearly all names of Latin script.
const plainName = /^[\x21-\x7e\xa1-\xac\xae-\xff\u0100-\u017f]+(?: [\x21-\x7e\xa1-\xac\xae-\xff\u0100-\u017f]+)*$/;

function toSentName(name: string): string {
  if (plainName.test(name)) return name;
  let sent = name.normalize('NFC').replace(invisibles, '').replace(joinerRuns, '$1').normalize('NFC');
  // After a stray joiner is removed, NFC may reorder marks and separate another joiner from its virama.
  for (let before = ''; before !== sent; ) {
    before = sent;
    sent = sent.replace(joiners, (joiner, ...rest) => (isStray(rest) ? '' : joiner)).normalize('NFC');
  }
  return sent.replace(whiteSpace, ' ').trim().normalize('NFC');
}

/** A text without blanks at its ends and without anything that nobody sees. */
export const removeInvisible = (text: string): string =>
  text
    .replace(invisibles, '')
    .replace(/[\u200c\u200d]/g, '')
    .replace(whiteSpace, ' ')
    .trim();

function isStray(rest: readonly unknown[]): boolean {
  const groups = rest.at(-1);
  return typeof groups === 'object' && groups !== null && 'stray' in groups && groups.stray !== undefined;
}
