import type { PartyRole, PartyType, RiskTier } from './customer.js';
import type { BoundColumn } from './find-columns.js';
import { foldWord } from './fold-word.js';
import { rememberWords } from './remember-words.js';

/** A part of a customer that is one word of a closed set; without a column it is the same for every row. */
export interface WordColumn<Word> {
  column: BoundColumn | null;
  /** Null for a word that is not known. */
  read: (text: string) => Word | null;
  /** What an empty field, or no column, stands for. */
  absent: Word | null;
}

/** Words of our own for a part, by their folded spelling. */
type Words<Word> = Readonly<Record<string, Word>>;

type WordSetting<Word> = string | { value: Word } | { column: string; values: Readonly<Record<string, Word>> };

/** `person` and `entity`. */
export const typeWords: Words<PartyType> = { person: 'person', entity: 'entity' };

/** `low`, `medium` and `high`. */
export const tierWords: Words<RiskTier> = { low: 'low', medium: 'medium', high: 'high' };

/** The roles of related parties, with the names that registers give them. */
export const roleWords: Words<PartyRole> = {
  alias: 'alias',
  aka: 'alias',
  joint_holder: 'joint_holder',
  'joint holder': 'joint_holder',
  director: 'director',
  beneficial_owner: 'beneficial_owner',
  'beneficial owner': 'beneficial_owner',
  ubo: 'beneficial_owner',
  other: 'other',
};

/** Whether a customer is still one. */
export const standingWords: Words<boolean> = {
  ...{ yes: true, y: true, true: true, t: true, 1: true, active: true, open: true, current: true },
  ...{ no: false, n: false, false: false, f: false, 0: false, inactive: false, closed: false },
  ...{ former: false, left: false, ended: false, terminated: false },
};

/** Binds a setting to a column; own words that it lists are read beside ours, and before them. */
export function bindWords<Word extends string | boolean>(
  setting: WordSetting<Word> | BoundColumn | null,
  words: Words<Word>,
  absent: Word | null,
  find: (header: string) => BoundColumn,
): WordColumn<Word> {
  if (setting === null) return { column: null, read: () => null, absent };
  if (typeof setting === 'string') return { column: find(setting), read: toReader(words), absent };
  if ('value' in setting) return { column: null, read: () => null, absent: setting.value };
  if ('index' in setting) return { column: setting, read: toReader(words), absent };
  return { column: find(setting.column), read: toReader(words, setting.values), absent };
}

function toReader<Word>(words: Words<Word>, own: Words<Word> = {}): (text: string) => Word | null {
  const all = [...Object.entries(words), ...Object.entries(own)];
  const folded = new Map(all.map(([text, word]) => [foldWord(text), word]));
  return rememberWords((text) => folded.get(foldWord(text)) ?? null);
}
