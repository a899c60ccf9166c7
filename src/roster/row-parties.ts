import { listWords } from '../vocabulary/words.js';
import type { PartyRole } from '../vocabulary.js';
import { checkPartyRow } from './check-row.js';
import { bindPartyColumns, type PartyBinding, type SourceHeaders, type WordColumn } from './column-binding.js';
import type { PartyRow } from './customer.js';
import { saysUnknown } from './doubts.js';
import { createIsMapped, standardHeaders } from './headers.js';
import { isCompanyName, looksLikeParties, readListText } from './name-lists.js';
import { partyFilePrefix } from './rejects.js';
import type { ColumnSettings, PartyColumnSettings } from './settings.js';
import type { TableRecord } from './table-reading.js';
import words from './words/names.json' with { type: 'json' };

type Binding = PartyBinding & { role: WordColumn<PartyRole> };

/** Reads the related parties in the row of their customer. */
export type RowPartyReader = (record: TableRecord) => readonly PartyRow[];

/**
 * Finds the columns of the related parties in a roster's rows. Each entry of `columns.parties` is read like a source of
 * related parties with these columns only, so that its rows have the same rejects and doubts. Throws RosterError
 * `column_missing`.
 */
export function bindRowParties(columns: ColumnSettings, shape: SourceHeaders): RowPartyReader {
  const entries = columns.parties ?? [];
  const readers = entries.map((entry) => {
    const { separator: _, ...facts } = entry;
    const given: PartyColumnSettings = {
      customerId: columns.id ?? standardHeaders.id,
      role: { value: 'other' },
      language: columns.language,
      realNames: columns.realNames,
      realDates: columns.realDates,
      ...facts,
    };
    // Names a missing column beside all the columns that the source has.
    bindPartyColumns(given, shape);
    const isRead = createIsMapped(given, {});
    const places = shape.headers.flatMap((header, index) => (isRead(header) ? [index] : []));
    const own = places.map((place) => shape.headers[place] ?? '');
    const binding: Binding = bindPartyColumns(given, { ...shape, headers: own });
    return createReader(binding, places, entry);
  });
  const file = (record: TableRecord): string => partyFilePrefix + (record.file ?? shape.source);
  return (record) => readers.flatMap((read) => read({ ...record, file: file(record) }));
}

/** Reads an entry of `columns.parties`. One column may list several parties, then without birth date and country. */
function createReader(
  binding: Binding,
  places: readonly number[],
  { name: setting, type, separator }: NonNullable<ColumnSettings['parties']>[number],
): RowPartyReader {
  const isOneCell = typeof setting === 'string';
  const readName: Binding['readName'] = (text, partyType, parts) => {
    const read = binding.readName(text, partyType, parts);
    if (read === null || read.why !== null || !isOneCell || binding.isReal(text)) return read;
    return looksLikeParties(read.name, partyType, separator) ? { ...read, why: 'list_of_names' } : read;
  };
  const one: Binding = { ...binding, readName };
  const several: Binding = { ...one, birthDate: null, countries: { ...binding.countries, columns: [] } };
  const { columns } = binding.name;
  const toBinding = (name: string, isOnly: boolean): Binding => {
    const base = isOnly ? one : several;
    if (type !== undefined) return base;
    return { ...base, type: { ...base.type, column: null, absent: isCompanyName(name) ? 'entity' : 'person' } };
  };
  return (record) => {
    const fields = places.map((place) => record.fields[place] ?? '');
    const cells = columns.map(({ index }) => (fields[index] ?? '').trim());
    if (cells.every(saysNobody)) return [];
    const [column] = columns;
    if (!isOneCell || column === undefined)
      return [checkPartyRow(toBinding(cells.join(' '), true), { ...record, fields })];
    const names = splitParties(cells[0] ?? '', separator);
    return names.map((name) =>
      checkPartyRow(toBinding(name, names.length === 1), { ...record, fields: fields.with(column.index, name) }),
    );
  };
}

/** Words in a column of related parties for "there is none", in lower case. */
const nobody = new Set([...listWords(words.no), ...listWords(words.nobody)]);

const letterOrDigit = /[\p{L}\p{N}]/u;

/** What may be left of a name whose letters were lost. */
const lostLetters = /\?\?|[\p{C}\ufffd]/u;

/** Whether a cell names no party: empty, only signs, or a word such as `none`; not an unreadable name. */
export const saysNobody = (text: string): boolean =>
  text === '' ||
  (!lostLetters.test(text) &&
    (saysUnknown(text) || nobody.has(text.toLowerCase()) || (text.length < 4 && !letterOrDigit.test(text))));

const listSeparators = /[;|\n\r\u0085\u2028\u2029\uff0c\uff1b\uff5c\u060c\u061b\u3001]/u;
const lineBreaks = /[\n\r\u0085\u2028\u2029]/u;
const groups = /[([{（［][^()[\]{}（）［］]*[)\]}）］]/gu;
/** A number in brackets at the end of a name, such as `(50 udziałów)`, `(1/2)` and `(20 000 zł)`. */
const numberedGroups = /[([{（［]\s{0,3}\p{Nd}[^()[\]{}（）［］]*[)\]}）］](?=\s{0,3}(?:$|[,;|\n\r،，、；｜]))/gu;
const shareWords =
  'pct|proc|procent|percent|prozent|per ?cento|por ?ciento|por ?cento|pour ?cent|процент|процентов|процента';
const shares = new RegExp(
  `(?<![\\p{Nd}.,/])(?:\\p{Nd}{1,3}(?:[.,]\\p{Nd}{1,6})?\\s{0,3}(?:[%％٪]|(?:${shareWords})\\.?(?![\\p{L}]))|\\p{Nd}{1,3}/\\p{Nd}{1,3}(?![\\p{Nd}/])|[½⅓⅔¼¾])`,
  'giu',
);
const conjunction = /^(?:and|und|og|och|oraz|i|et|y|e|en|ja|és|ve|и|та|και)\s+(?=\S)/iu;
const listNumber = /^\d{1,2}[.)]\s{1,3}(?=\D)/;
/** What stands beside a share and is no name. */
const wordsOfShares =
  /^(?:of )?(?:the )?(?:shares?|votes?|voting rights|udział\p{L}*|głos\p{L}*|akcj\p{L}*|aktier|anteile?n?|parts|acciones|ações|azioni|quote|дол\p{L}*|акци\p{L}*)$/iu;
/** Stands for a share that was taken out; no text has it. */
const shareMark = '\u2063';

/**
 * Gives the names in a cell that lists related parties, without their shares: `Jan Nowak (50%); Acme Sp. z o.o. - 25
 * %`. A share ends its name, with a comma or nothing after it. A cell without a readable name is given as it is, so
 * that it is rejected.
 */
export function splitParties(cell: string, separator?: string): readonly string[] {
  const listed = readListText(cell);
  const pieces = listed ?? splitPieces(markShares(cell.replaceAll(shareMark, '')), separator);
  const given = pieces.flatMap(splitByShares);
  const names = given.filter((name) => !saysNobody(name));
  return given.length > 0 ? names : [cell];
}

const markShares = (text: string): string =>
  text
    .replace(groups, (group) => (group.search(shares) >= 0 ? shareMark : group))
    .replace(numberedGroups, shareMark)
    .replace(shares, shareMark);

const splitPieces = (text: string, separator: string | undefined): readonly string[] =>
  separator === undefined
    ? text.split(listSeparators)
    : text.split(separator).flatMap((part) => part.split(lineBreaks));

/** A conjunction is no part of a name where it follows the share of another. */
function splitByShares(piece: string): readonly string[] {
  const parts = piece.split(shareMark).map((part) => trimSigns(trimSigns(part).replace(listNumber, '')));
  const names = parts.filter((part) => part !== '' && !(parts.length > 1 && wordsOfShares.test(part)));
  return names.map((name, at) => (at === 0 ? name : name.replace(conjunction, '')));
}

const signs = ' \t\u00a0,;:–—-=/&+•·';
const signsBefore = new Set(`${signs})]`);
const signsAfter = new Set(`${signs}([`);

/** Removes blanks and signs around a name. A loop, because an expression for the end would take quadratic time. */
function trimSigns(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && signsBefore.has(text.charAt(start))) start += 1;
  while (end > start && signsAfter.has(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}
