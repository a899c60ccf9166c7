import { stringify } from 'csv-stringify/sync';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { Match } from '../matches/match.js';
import { codeWords, describeTopic } from '../vocabulary/words.js';
import type { Agreement, AlertState } from '../vocabulary.js';
import type {
  ChangeAlertFacts,
  DossierChangeFacts,
  MatchChangeFacts,
  NotScreenedFacts,
  PartyFacts,
  ReplacedFacts,
} from './list-facts.js';
import { describeReason } from './reasons.js';
import { toVisibleLines } from './text.js';
import { describeChange, describeReplaced, describeSaid } from './words.js';

/** A cell: text is neutralised for spreadsheets and terminals, numbers stay numbers, null is an empty cell. */
export type Cell = string | number | null;

/** A column of a CSV file. */
export interface Column<Line> {
  header: string;
  cell: (line: Line) => Cell;
}

// Larger chunks leave the young generation and cost a third more memory and twice the time.
const linesPerChunk = 100;
const byteOrderMark = '\ufeff';

/** The CSV file (RFC 4180, UTF-8 with byte order mark) in chunks; always with a header. */
export function* renderCsv<Line>(columns: readonly Column<Line>[], lines: readonly Line[]): Generator<string> {
  yield renderHeader(columns);
  yield* renderLines(columns, lines);
}

/** The same of lines that come in batches. */
export async function* renderCsvBatches<Line>(
  columns: readonly Column<Line>[],
  batches: AsyncIterable<readonly Line[]>,
): AsyncGenerator<string> {
  yield renderHeader(columns);
  for await (const lines of batches) yield* renderLines(columns, lines);
}

const renderHeader = <Line>(columns: readonly Column<Line>[]): string =>
  byteOrderMark + toCsv([columns.map((column) => column.header)]);

function* renderLines<Line>(columns: readonly Column<Line>[], lines: readonly Line[]): Generator<string> {
  for (let start = 0; start < lines.length; start += linesPerChunk) {
    yield toCsv(lines.slice(start, start + linesPerChunk).map((line) => columns.map((column) => column.cell(line))));
  }
}

function toCsv(rows: readonly (readonly Cell[])[]): string {
  const harmless = rows.map((row) => row.map((cell) => (typeof cell === 'string' ? toHarmless(cell) : cell)));
  return stringify(harmless, { record_delimiter: 'windows', quoted_match: [/[\r\n;\t]/] });
}

const toHarmless = (text: string): string => neutraliseFormula(toVisibleLines(text));

/** The columns of a line's party, the same in every CSV file. */
export function partyColumns<Line>(toParty: (line: Line) => PartyFacts | null): readonly Column<Line>[] {
  return [
    { header: 'reference', cell: (line) => toParty(line)?.reference ?? null },
    { header: 'role', cell: (line) => toParty(line)?.role ?? null },
    { header: 'type', cell: (line) => readType(toParty(line)) },
    { header: 'name', cell: (line) => toParty(line)?.name ?? null },
    { header: 'birth_date', cell: (line) => toParty(line)?.birthDate ?? null },
    { header: 'countries', cell: (line) => toParty(line)?.countries.join('; ') ?? null },
    { header: 'risk_tier', cell: (line) => toParty(line)?.riskTier ?? null },
  ];
}

/** An id without a readable record has no known type. */
const readType = (party: PartyFacts | null): string | null => (party === null || party.name === '' ? null : party.type);

// Spreadsheets skip white space, control and format characters before they look for a formula.
const ignorable = '[\\s\\p{C}]*';

// ASCII, full-width and small forms, and the true minus sign.
const starters = '[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20\\ufe66\\ufe62\\ufe63\\ufe6b\\u2212]';

const atStart = new RegExp(`^${ignorable}${starters}`, 'u');

// A spreadsheet with another delimiter setting splits cells here, also inside quotes.
const breaks = '[;|\\t\\n\\v\\f\\r\\u0085\\u2028\\u2029]';

// It looks back from a sign only: from each character, the time would grow with the square of the text.
const afterBreak = new RegExp(`${starters}(?<=${breaks}${ignorable}${starters})`, 'gu');

// The same places, with or without apostrophes of the text before the sign.
const markedStart = new RegExp(`^(?='*${ignorable}${starters})`, 'u');

const markedBreak = new RegExp(`(?<!')'*${starters}(?<=${breaks}${ignorable}'*${starters})`, 'gu');

/**
 * The text with an apostrophe before each place where a spreadsheet could start a formula: at the start, and after a line break, tab,
 * semicolon or bar.
 */
export function neutraliseFormula(text: string): string {
  const inside = text.replace(afterBreak, "'$&");
  return atStart.test(text) ? `'${inside}` : inside;
}

/** The same, reversible: removing one apostrophe at each such place restores the text. */
export function markFormula(text: string): string {
  const inside = text.replace(markedBreak, "'$&");
  return markedStart.test(text) ? `'${inside}` : inside;
}

/** A line of `changes.csv`. */
export type ChangeLine =
  | { about: 'match' | 'first_screening'; change: MatchChangeFacts; dossier: null }
  | { about: 'dossier'; change: null; dossier: DossierChangeFacts };

/** All columns of changes. */
export const toChangeColumns = (timezone: string): readonly Column<ChangeLine>[] => [
  { header: 'about', cell: (line) => line.about },
  { header: 'severity', cell: (line) => line.change?.severity ?? null },
  { header: 'what', cell: describeLine },
  { header: 'kind', cell: (line) => (line.change ?? line.dossier).kind },
  { header: 'cause', cell: (line) => line.change?.cause ?? null },
  { header: 'group', cell: (line) => line.change?.cluster ?? null },
  ...partyColumns<ChangeLine>((line) => line.change?.party ?? null),
  { header: 'fields', cell: (line) => (line.change ?? line.dossier).fields.join('; ') },
  ...matchColumns('before', (line) => line.change?.before ?? null),
  ...matchColumns('after', (line) => line.change?.after ?? null),
  { header: 'match_id', cell: (line) => line.change?.matchId ?? null },
  { header: 'birth_date_agreement', cell: (line) => toAgreement(line.change?.corroboration?.birthDate) },
  { header: 'country_agreement', cell: (line) => toAgreement(line.change?.corroboration?.country) },
  { header: 'rule', cell: (line) => line.change?.rule ?? null },
  { header: 'adjustments', cell: (line) => line.change?.adjustments.join('; ') ?? null },
  { header: 'alert_state', cell: (line) => toAlertState(line.change?.alert?.state) },
  { header: 'alert_open_since', cell: (line) => toWaiting(line)?.openedAt.toISOString() ?? null },
  { header: 'alert_due', cell: (line) => toWaiting(line)?.dueAt?.toISOString() ?? null },
  { header: 'alert_assigned_to', cell: (line) => toWaiting(line)?.assignedTo ?? null },
  { header: 'last_disposition', cell: (line) => toLastSaid(line.change?.alert?.said[0], timezone) },
  { header: 'dossier_id', cell: (line) => line.dossier?.dossierId ?? null },
  { header: 'dossier_customer_known', cell: (line) => toYesNo(line.dossier?.customerKnown) },
  ...dossierColumns('before', (line) => line.dossier?.before ?? null),
  ...dossierColumns('after', (line) => line.dossier?.after ?? null),
  { header: 'change_id', cell: (line) => (line.change ?? line.dossier).changeId },
  { header: 'run_id', cell: (line) => line.change?.runId ?? null },
  { header: 'customer_before_name', cell: (line) => line.change?.formerParty?.name ?? null },
  { header: 'customer_before_type', cell: (line) => line.change?.formerParty?.type ?? null },
  { header: 'customer_before_birth_date', cell: (line) => line.change?.formerParty?.birthDate ?? null },
  { header: 'customer_before_countries', cell: (line) => line.change?.formerParty?.countries.join('; ') ?? null },
  { header: 'former_disposition', cell: (line) => toReplaced(line.change?.alert?.replaced, timezone) },
];

const toWaiting = ({ change }: ChangeLine): ChangeAlertFacts | null =>
  change?.alert?.state === 'open' || change?.alert?.state === 'pending_approval' ? change.alert : null;

const toAgreement = (agreement: Agreement | undefined): Cell =>
  agreement === undefined ? null : codeWords.agreement[agreement];

const toAlertState = (state: AlertState | undefined): Cell =>
  state === undefined ? null : codeWords.alertState[state];

const toLastSaid = (said: ChangeAlertFacts['said'][number] | undefined, timezone: string): Cell =>
  said ? describeSaid(said, timezone) : null;

const toReplaced = (replaced: ReplacedFacts | null | undefined, timezone: string): Cell =>
  replaced ? describeReplaced(replaced, timezone) : null;

function describeLine(line: ChangeLine): Cell {
  return line.about === 'dossier' ? codeWords.dossierChange[line.dossier.kind] : describeChange(line.change);
}

function matchColumns(when: string, toMatch: (line: ChangeLine) => Match | null): readonly Column<ChangeLine>[] {
  return [
    { header: `${when}_name`, cell: (line) => toMatch(line)?.name ?? null },
    { header: `${when}_hit`, cell: (line) => toYesNo(toMatch(line)?.isHit) },
    { header: `${when}_score`, cell: (line) => toMatch(line)?.score ?? null },
    { header: `${when}_rank`, cell: (line) => toMatch(line)?.rank ?? null },
    { header: `${when}_risk_categories`, cell: (line) => toMatch(line)?.topics.map(describeTopic).join('; ') ?? null },
    { header: `${when}_birth_dates`, cell: (line) => toMatch(line)?.birthDates.join('; ') ?? null },
    { header: `${when}_countries`, cell: (line) => toMatch(line)?.countries.join('; ') ?? null },
    { header: `${when}_schema`, cell: (line) => toMatch(line)?.schema ?? null },
    { header: `${when}_id`, cell: (line) => toMatch(line)?.id ?? null },
  ];
}

function dossierColumns(
  when: string,
  toDossier: (line: ChangeLine) => DossierSnapshot | null,
): readonly Column<ChangeLine>[] {
  return [
    { header: `${when}_dossier_status`, cell: (line) => toDossier(line)?.status ?? null },
    { header: `${when}_dossier_type`, cell: (line) => toDossier(line)?.type ?? null },
    { header: `${when}_dossier_name`, cell: (line) => toDossier(line)?.name ?? null },
    { header: `${when}_dossier_reference`, cell: (line) => toDossier(line)?.reference ?? null },
    { header: `${when}_dossier_risk_score`, cell: (line) => toDossier(line)?.riskScore ?? null },
    { header: `${when}_dossier_documents`, cell: (line) => toDossier(line)?.documentsCount ?? null },
    { header: `${when}_dossier_download`, cell: (line) => toDossier(line)?.downloadStatus ?? null },
    { header: `${when}_dossier_completed_at`, cell: (line) => toDossier(line)?.completedAt ?? null },
    { header: `${when}_dossier_updated_at`, cell: (line) => toDossier(line)?.updatedAt ?? null },
  ];
}

const toYesNo = (value: boolean | undefined): Cell => (value === undefined ? null : value ? 'yes' : 'no');

/** All columns of customers that are not screened. */
export const notScreenedColumns: readonly Column<NotScreenedFacts>[] = [
  ...partyColumns<NotScreenedFacts>((line) => line.party),
  { header: 'outcome', cell: (line) => line.outcome },
  { header: 'reason', cell: (line) => line.reason },
  { header: 'why', cell: (line) => `${codeWords.outcome[line.outcome]}: ${describeReason(line.reason)}` },
  { header: 'last_screened_at', cell: (line) => line.lastScreenedAt?.toISOString() ?? null },
];
