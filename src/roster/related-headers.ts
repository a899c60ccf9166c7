import { listWords } from '../vocabulary/words.js';
import { foldHeader, readHeader } from './headers.js';
import words from './words/related-headers.json' with { type: 'json' };

/**
 * Words for people and firms beside the customer in some forty languages. A word also matches longer forms of it, such
 * as `wspólnik` and `wspólnika`, unless `$` ends it. Several words match in this order.
 */
const phrases = words.related;

/** What the people or firms of a column are to the customer. */
export type RelatedKind = keyof typeof phrases;

interface Phrase {
  text: string;
  kind: RelatedKind | 'thing';
}

const caseless = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** A phrase as it is looked for in ` folded header `: from the start of a word, and to its end after `$`. */
function toPhrases(rows: readonly string[], kind: Phrase['kind']): readonly Phrase[] {
  return listWords(rows).map((phrase) => {
    const folded = foldHeader(phrase);
    if (caseless.test(folded)) return { text: folded, kind };
    return { text: ` ${folded}${phrase.endsWith('$') ? ' ' : ''}`, kind };
  });
}

/** The maiden name of a mother is no name of the customer. */
const weigh = ({ text, kind }: Phrase): number => text.length - (kind === 'alias' ? 100 : 0);

const related = Object.entries(phrases)
  .flatMap(([kind, rows]) => (isKind(kind) ? toPhrases(rows, kind) : []))
  .toSorted((one, other) => weigh(other) - weigh(one));
/** A column of these is not one of names, whatever it looks like. */
const ofThings = toPhrases(words.things, 'thing');

function isKind(kind: string): kind is RelatedKind {
  return Object.hasOwn(phrases, kind);
}

/** The meaning of a header for the question whether its column holds names of people or firms. */
export interface RelatedHeader {
  /** `things`: the header says that it holds something else. `open`: it says nothing. */
  says: 'related' | 'own' | 'things' | 'open';
  kind: RelatedKind;
  /** What of the party: a name or a part of it, another fact of a party, or an unknown word beside the party. */
  fact: 'name' | 'first_name' | 'last_name' | 'birth_date' | 'countries' | 'unknown';
  /** Equal for the columns of one party. */
  party: string;
}

const staff = /\b(?:account|contact|record|lead|deal|opportunity|case|system|data|product|risk|business) owner/;

/** Reads whether a header names people or firms beside the customer. */
export function readRelatedHeader(header: string): RelatedHeader {
  const folded = ` ${foldHeader(header)} `;
  const found = related.find(({ text }) => folded.includes(text));
  if (found !== undefined && found.kind !== 'thing') {
    const kind = staff.test(folded) ? 'other' : found.kind;
    return { kind, ...readRest(folded, found.text) };
  }
  const { role, strength, isOther } = readHeader(header);
  const none = { kind: 'other', fact: 'unknown', party: '' } as const;
  if (role === 'aliases') return { ...none, says: 'own', kind: 'alias', fact: 'name' };
  if (role === 'name' || role === 'first_name' || role === 'last_name' || role === 'company') {
    return { ...none, says: strength > 1 ? 'own' : isThing(folded) ? 'things' : 'open', fact: 'name' };
  }
  return { ...none, says: role !== null || isOther || isThing(folded) ? 'things' : 'open' };
}

/** Words that add nothing to the word for the party. */
const fillers = new Set(listWords(words.fillers).map(foldHeader));

const isThing = (folded: string): boolean => ofThings.some(({ text }) => folded.includes(text));

/** Reads the words beside those for the party: `name` in `guarantor name`, `phone` in `guarantor phone`. */
function readRest(folded: string, phrase: string): Omit<RelatedHeader, 'kind'> {
  const at = folded.indexOf(phrase);
  const end = caseless.test(phrase) ? at + phrase.length : folded.indexOf(' ', at + phrase.trimEnd().length);
  const beside = `${folded.slice(0, at)} ${folded.slice(end < 0 ? folded.length : end)}`.trim().split(/\s+/);
  const numbers = beside.filter((word) => /^\d+$/.test(word));
  const rest = beside.filter((word) => word.length > 1 && !/^\d+$/.test(word) && !fillers.has(word)).join(' ');
  const party = `${phrase.trim()} ${numbers.join(' ')}`.trim();
  const isOfSeveral = related.some(({ text }) => ` ${rest} `.includes(text));
  if (rest === '' || isOfSeveral) return { says: 'related', fact: 'name', party };
  const { role, isOther } = readHeader(rest);
  switch (role) {
    case 'name':
    case 'company':
    case 'aliases':
      return { says: 'related', fact: 'name', party };
    case 'first_name':
    case 'last_name':
      return { says: 'related', fact: role, party };
    case 'birth_date':
    case 'countries':
      return { says: 'things', fact: role, party };
    case null:
      return { says: isOther || isThing(` ${rest} `) ? 'things' : 'related', fact: 'unknown', party };
    default:
      return { says: 'things', fact: 'unknown', party };
  }
}
