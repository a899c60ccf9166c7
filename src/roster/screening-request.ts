import type { Party, PartyType } from './customer.js';

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
  return name
    .normalize('NFC')
    .replace(invisibles, '')
    .replace(joinerRuns, '$1')
    .normalize('NFC')
    .replace(joiners, (joiner, ...rest) => (isStray(rest) ? '' : joiner))
    .replace(whiteSpace, ' ')
    .trim()
    .normalize('NFC');
}

function isStray(rest: readonly unknown[]): boolean {
  const groups = rest.at(-1);
  return typeof groups === 'object' && groups !== null && 'stray' in groups && groups.stray !== undefined;
}
