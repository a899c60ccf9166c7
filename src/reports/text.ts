import { toLocalTime } from '../local-time.js';

const counts = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

/** A number with commas between the thousands, the same in every locale: `12,345`. */
export const formatCount = (count: number): string => counts.format(count);

/** A count with its noun: `1 customer`, `2 customers`; `plural` for an irregular plural. */
export function countNoun(count: number, singular: string, plural = `${singular}s`): string {
  return `${formatCount(count)} ${count === 1 ? singular : plural}`;
}

/** The entries whose condition holds: the others are false, empty or missing. */
export const keep = <Entry>(...entries: readonly (Entry | false | null | undefined)[]): readonly Entry[] =>
  entries.filter((entry): entry is Entry => entry !== false && entry !== '' && entry !== null && entry !== undefined);

/** A size in words: `812 bytes`, `47 kB`, `12.3 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1_000) return countNoun(bytes, 'byte');
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** An instant as `2026-11-21 02:04:11 UTC`. */
export function formatTime(instant: Date): string {
  return `${instant.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** An instant on the clock of an IANA time zone, as `2026-11-21 03:04`. */
export function formatMinute(instant: Date, timezone: string): string {
  const { date, time } = toLocalTime(instant, timezone);
  return `${date} ${time.slice(0, 5)}`;
}

/** The day of an instant in an IANA time zone, as `2026-11-21`. */
export const formatDay = (instant: Date, timezone: string): string => toLocalTime(instant, timezone).date;

/** The time between two instants in words. */
export const formatDuration = (from: Date, until: Date): string =>
  describeSpan(Math.max(0, Math.round((until.getTime() - from.getTime()) / 1_000)));

/** Whole seconds in words: `48 s`, `4 min 12 s`, `3 h 5 min`, `2 d 4 h`. */
export function describeSpan(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min${seconds % 60 === 0 ? '' : ` ${seconds % 60} s`}`;
  const minutes = Math.round(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/** A text with each of its instants in ISO 8601 shown in another way. */
export const replaceInstants = (text: string, show: (instant: Date) => string): string =>
  text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (instant) => show(new Date(instant)));

/** The words with a capital letter and a full stop, where they lack them and do not end with a command. */
export function toSentence(words: string): string {
  const text = words.trim();
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  // A stop behind a command would be copied with it.
  return /[.!?:]$|: nightscreen [^:.]*$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Quotes a word for a POSIX shell. */
export const quoteArgument = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

// `init`, `demo` and `sandbox` know no organisation, and `db` works for all. In JSON a line break is an escape.
const commandOfOne = /(?<=^|[\s`'"(|>;]|\\n)nightscreen (?=(?!(?:init|demo|sandbox|db|help)\b)[a-z])/gm;

/** A text, page or document in which each command, such as `nightscreen runs`, names the organisation; unchanged without one. */
export const nameInCommands = (text: string, organisation: string | undefined): string =>
  organisation === undefined ? text : text.replace(commandOfOne, `$&--organisation ${organisation} `);

/** Orders texts by code units, independent of the machine's locale. */
export const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

// U+200C and U+200D join letters in some scripts and are kept.
const hidden =
  /[\p{Cc}\p{Cs}\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{e0000}-\u{e007f}]/gu;
// No script has more marks on a letter; further marks would be drawn over other lines.
const heaped = /(?<=\p{M}{5})\p{M}/gu;

/**
 * The text with hidden characters (controls, direction overrides, zero-width spaces, lone surrogates, excess marks) shown as code points,
 * `[U+202E]`; joiners that scripts need are kept.
 */
export function toVisibleText(text: string): string {
  return text.replace(hidden, toCodePoint).replace(heaped, toCodePoint);
}

/** The same for text of several lines: line breaks (LF, CRLF) and tabs are kept, a single CR is shown as its code point. */
export const toVisibleLines = (text: string): string =>
  text.replace(/(\r?\n|\t)|(?:(?!\r?\n|\t)[\s\S])+/gu, (part, kept: string | undefined) => kept ?? toVisibleText(part));

/** A JSON document or a part of one, with the same characters as JSON escapes (`\u202e`), so that its values stay the same. */
export const toVisibleJson = (json: string): string =>
  json.replace(hidden, (character) =>
    // Line breaks and tabs occur only between values.
    /[\n\r\t]/.test(character)
      ? character
      : Array.from({ length: character.length }, (_, at) => toEscape(character.charCodeAt(at))).join(''),
  );

const toEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

function toCodePoint(character: string): string {
  const codePoint = character.codePointAt(0) ?? 0;
  return `[U+${codePoint.toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** Where a row of an imported list is. */
export interface ListPlace {
  /** Null in a CSV file. */
  sheet: string | null;
  line: number;
}

export const describePlace = ({ sheet, line }: ListPlace): string =>
  sheet === null ? `line ${line}` : `${toVisibleText(sheet)}, line ${line}`;
