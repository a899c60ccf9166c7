import { createHmac } from 'node:crypto';
import { z } from 'zod';
import { compareBirthDates } from '../../changes/corroboration.js';
import { StoreError } from '../../errors.js';
import { markFormula, restoreFormula } from '../../formulas.js';
import { gatherBy } from '../../gather-by.js';
import { foldName } from '../../matches/match.js';
import { renderCsv } from '../../reports/csv.js';
import type { Column } from '../../reports/section.js';
import type { ListPlace } from '../../reports/text.js';
import { parseIsoDate } from '../../roster/read-date.js';
import { type Queryable, tryOut } from '../../store/database/database.js';
import { holdAlerts } from '../../store/review/decisions.js';
import { type LegacyCustomer, readLegacyCustomers, saveLegacyDecisions } from '../../store/review/legacy.js';
import { codeWords } from '../../vocabulary/words.js';
import type { DispositionVerdict } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import { toAlertSeenVersion } from './alerts.js';
import { decideAlerts } from './decide.js';
import { type DecisionImport, foldHeader, openListTable, parseVerdict, refuseTraces } from './list-table.js';
import { type DecisionContext, openDecisionContext } from './people.js';

type LegacyCandidate = LegacyCustomer['alerts'][number];

/** The result of a row of an older system, on one account if its match is on several. */
export type AssessedRow = {
  row: LegacyRow;
  /** Of the account; null for a row without an alert. */
  mode: LegacyCandidate['mode'] | null;
} & (
  | { kind: 'decided' | 'sample'; alertId: number; facts: LegacyFacts }
  /** Imported before, or the same as an earlier row. */
  | { kind: 'same' }
  | { kind: 'unmatched'; reason: Unmatched }
  /** Not readable, or not imported although its alert is known. */
  | {
      kind: 'refused';
      reason: keyof typeof refusalWords;
      problem: string | null;
    }
);

/**
 * Assesses the rows of an older system in their order, each once for each account that has its match. Of rows that agree about one alert the
 * first counts. Rows that contradict each other are all refused, also if one of them cannot be imported for another reason. Decisions made
 * here are never changed, and an imported decision is not imported again.
 */
export function assessLegacyRows(
  rows: readonly LegacyRow[],
  customers: readonly LegacyCustomer[],
  isSampled: (alertId: number) => boolean,
): readonly AssessedRow[] {
  const byReference = gatherBy(customers, ({ reference }) => reference);
  const find = (named: NamedMatch) => findLegacyAlerts(named, byReference.get(named.reference) ?? []);
  const found = rows.map((row) => {
    const { facts } = row;
    if ('problem' in facts) return { row, problem: facts.problem };
    return { row, facts, ...find(facts) };
  });
  const contradicted = findContradicted(
    rows.flatMap((row): readonly LegacyStatement[] => {
      const said = toStatement(row);
      if (said === null) return [];
      const about = find(said.named);
      const statement = { ...said, row };
      if ('unmatched' in about) return [{ ...statement, about }];
      return about.alerts.map((alert) => ({ ...statement, about: { alert } }));
    }),
  );
  const seen = new Set<number>();
  return found.flatMap((one): readonly AssessedRow[] => {
    const { row } = one;
    const nowhere = { row, mode: null };
    if ('problem' in one) return [{ ...nowhere, kind: 'refused', reason: 'unreadable', problem: one.problem }];
    if ('unmatched' in one) return [{ ...nowhere, kind: 'unmatched', reason: one.unmatched }];
    const { alerts, facts } = one;
    if (contradicted.has(row)) return [{ ...nowhere, kind: 'refused', reason: 'contradicted', problem: null }];
    return alerts.map((alert): AssessedRow => {
      const { alertId, mode, taken } = alert;
      const about = { row, mode };
      if (taken === facts.verdict) return { ...about, kind: 'same' };
      if (taken !== null) return { ...about, kind: 'refused', reason: 'taken_otherwise', problem: null };
      if (alert.isDecidedHere) return { ...about, kind: 'refused', reason: 'decided_here', problem: null };
      if (seen.has(alertId)) return { ...about, kind: 'same' };
      seen.add(alertId);
      const isSample = facts.verdict === 'false_positive' && isSampled(alertId);
      return { ...about, kind: isSample ? 'sample' : 'decided', alertId, facts };
    });
  });
}

/** The decision of a row as far as it is readable; null for a row without a decision or a match. */
function toStatement({ facts, cells }: LegacyRow): Pick<LegacyStatement, 'named' | 'verdict'> | null {
  if (!('problem' in facts)) return { named: facts, verdict: facts.verdict };
  const { decision } = cells;
  const named = toNamed(cells);
  if (decision === '' || (named.matchId === null && named.listedName === null)) return null;
  return { named, verdict: parseVerdict(decision) ?? decision };
}

/** The decision of a row about a match, even if the row cannot be imported for another reason. */
interface LegacyStatement {
  row: LegacyRow;
  named: NamedMatch;
  /** A verdict, or unreadable text. */
  verdict: string;
  about: { alert: LegacyCandidate } | { unmatched: Unmatched };
}

/**
 * The lines of the rows that another row contradicts: a row about the same alert, or a row without a clear alert that has the same customer
 * and the same match id or listed name.
 */
function findContradicted(statements: readonly LegacyStatement[]): ReadonlySet<LegacyRow> {
  const byAlert = gatherBy(statements, ({ about }) => ('alert' in about ? about.alert.alertId : null));
  const unplaced = gatherBy(byAlert.get(null) ?? [], ({ named }) => named.reference);
  const contradicted = statements.filter(({ named, verdict, about }) => {
    if (!('alert' in about)) return false;
    const isOther = (other: LegacyStatement): boolean => other.verdict !== verdict;
    if (byAlert.get(about.alert.alertId)?.some(isOther)) return true;
    const others = unplaced.get(named.reference) ?? [];
    return others.some((other) => isOther(other) && couldMean(other, named, about.alert));
  });
  return new Set(contradicted.map(({ row }) => row));
}

function couldMean({ named: other, about }: LegacyStatement, named: NamedMatch, { listed }: LegacyCandidate): boolean {
  // The name of an unknown roster may be a typing error.
  const isElsewhere = other.roster !== null && named.roster !== null && other.roster !== named.roster;
  const isUnknown = 'unmatched' in about && about.unmatched === 'unknown_customer';
  if (isElsewhere && !isUnknown) return false;
  if (other.matchId !== null && [named.matchId, listed.id].includes(other.matchId)) return true;
  if (other.listedName === null) return false;
  const name = foldName(other.listedName);
  return [named.listedName ?? '', listed.name].some((each) => foldName(each) === name);
}

/** The assessed rows, and how many of the decided ones another person must confirm (`proposed`). */
export type ImportedLegacy = Awaited<ReturnType<typeof importLegacy>>;

/** Decisions of an older system expire after 90 days; then they are reviewed here. */
const holdsMs = 90 * 86_400_000;
const referencesAtOnce = 1_000;

/**
 * Imports the decisions of an older system for 90 days: all rows or none, unless `partial`. False positives of the sample stay open. Without
 * `apply` the rows are tried in the same way and rolled back. Throws RosterError when the file is not such a list.
 */
export async function importLegacy(app: AppContext, request: DecisionImport) {
  const context = await openDecisionContext(app, request.reviewer);
  const { rows: read, ...ofFile } = await readLegacyRows(request.path);
  const isWhole = (rows: readonly AssessedRow[]) =>
    rows.every(({ kind }) => kind !== 'refused' && kind !== 'unmatched');
  const { isApplied, result } = await tryOut(
    app.database,
    (transaction) => takeRows(transaction, context, read),
    ({ rows }) => request.apply && (isWhole(rows) || request.partial),
  );
  return { isApplied, ...ofFile, ...result };
}

async function takeRows(
  transaction: Queryable,
  { organisation, ...context }: DecisionContext & { organisation: string },
  read: readonly LegacyRow[],
) {
  const { organisationId, reviewKey, reviewer, now } = context;
  const known = await readCustomers(transaction, organisation, read);
  // Locked before the rows are assessed, so that no decision comes in between.
  const held = await holdAlerts(
    transaction,
    organisationId,
    known.flatMap(({ alerts }) => alerts.map(({ alertId }) => alertId)),
  );
  const customers = (await readCustomers(transaction, organisation, read)).map((customer) => ({
    ...customer,
    alerts: customer.alerts.filter(({ alertId }) => held.has(alertId)),
  }));
  const rows = assessLegacyRows(read, customers, (alertId) => isSampled(alertId, reviewKey));
  const taken = rows.flatMap((row) => (row.kind === 'decided' || row.kind === 'sample' ? [row] : []));
  await saveLegacyDecisions(
    transaction,
    taken.map(({ alertId, facts, kind }) => ({ ...facts, alertId, isSample: kind === 'sample' })),
    { reviewer: reviewer.name, isAttested: reviewer.isAttested, now },
  );
  const expiresAt = new Date(now.getTime() + holdsMs);
  const decisions = taken.flatMap(({ alertId, facts: { verdict, reason, comment }, kind }) => {
    const alert = held.get(alertId);
    if (kind === 'sample' || alert === undefined) return [];
    const seenVersion = toAlertSeenVersion(alert, reviewKey);
    return [{ alertId, verdict, reason, comment, seenVersion, origin: 'legacy' as const, sheetId: null, expiresAt }];
  });
  const results = await decideAlerts(transaction, context, decisions);
  const refused = results.find(({ kind }) => kind === 'refused');
  if (refused !== undefined) {
    throw new StoreError('legacy_not_decided', `alert ${refused.alertId} was held and could not get a disposition`);
  }
  return { rows, proposed: results.filter(({ kind }) => kind === 'proposed').length };
}

async function readCustomers(
  transaction: Queryable,
  organisation: string,
  rows: readonly LegacyRow[],
): Promise<readonly LegacyCustomer[]> {
  const references = [...new Set(rows.flatMap(({ facts }) => ('problem' in facts ? [] : facts.reference)))];
  const customers: LegacyCustomer[] = [];
  for (let start = 0; start < references.length; start += referencesAtOnce) {
    const chunk = references.slice(start, start + referencesAtOnce);
    customers.push(...(await readLegacyCustomers(transaction, organisation, chunk)));
  }
  return customers;
}

/** The share of false positives of an older system that is reviewed here. */
const share = 0.05;

/**
 * Whether an alert belongs to the sample. The result is the same in every list and needs the organisation's key, so that the author of a list
 * cannot choose the sample.
 */
export function isSampled(alertId: number, reviewKey: Buffer): boolean {
  const digest = createHmac('sha256', reviewKey).update(`legacy sample ${alertId}`).digest();
  return digest.readUInt32BE(0) < share * 2 ** 32;
}

/** The columns of a list of an older system. */
const legacyColumns = [
  'customer_id',
  'roster',
  'match_id',
  'listed_name',
  'listed_birth_date',
  'decision',
  'reason',
  'decided_by',
  'decided_at',
  'comment',
] as const;

const cellsSchema = z.record(z.enum(legacyColumns), z.string());

/** A decision of an older system. */
export interface LegacyFacts extends NamedMatch {
  verdict: DispositionVerdict;
  reason: string;
  decidedBy: string;
  /** As the older system writes it. */
  decidedAt: string;
  comment: string | null;
}

/** A row of such a list with its cells as read. */
export interface LegacyRow extends ListPlace {
  cells: Readonly<z.infer<typeof cellsSchema>>;
  facts: LegacyFacts | { problem: string };
}

const required = ['customer_id', 'decision', 'reason', 'decided_by', 'decided_at'] as const;

/** Reads the list of an older system; throws RosterError when it is neither CSV nor a workbook, or lacks a column. */
async function readLegacyRows(path: string) {
  const isTrace = (cell: string): boolean => foldHeader(cell) === 'decision' || parseVerdict(cell) !== null;
  const list = await openListTable(path, {
    names: legacyColumns,
    required,
    origin: 'a list of an older system',
    isTrace,
  });
  refuseTraces(path, [...list.unread], required);
  const rows: LegacyRow[] = [];
  for await (const { sheet, line, fault, pick } of list.rows) {
    const cells = cellsSchema.parse(
      Object.fromEntries(legacyColumns.map((name) => [name, restoreFormula(pick(name)).trim()])),
    );
    rows.push({ sheet, line, cells, facts: fault === null ? toFacts(cells) : { problem: fault } });
  }
  return { rows, unread: [...list.unread.keys()], guessedEncoding: list.guessedEncoding };
}

function toFacts(cells: LegacyRow['cells']): LegacyRow['facts'] {
  const empty = required.find((name) => cells[name] === '');
  if (empty !== undefined) return { problem: `${empty} is empty` };
  const verdict = parseVerdict(cells.decision);
  if (verdict === null || verdict === 'no_longer_matched')
    return { problem: `the disposition is not one of ${Object.values(codeWords.disposition).join(', ')}` };
  const named = toNamed(cells);
  if (named.matchId === null && named.listedName === null) {
    return { problem: 'match_id and listed_name are both empty' };
  }
  if (named.listedBirthDate === null && cells.listed_birth_date !== '') {
    return { problem: 'listed_birth_date is not written yyyy-mm-dd, yyyy-mm or yyyy' };
  }
  return {
    ...named,
    verdict,
    reason: cells.reason,
    decidedBy: cells.decided_by,
    decidedAt: cells.decided_at,
    comment: cells.comment || null,
  };
}

const toNamed = (cells: LegacyRow['cells']) => ({
  reference: cells.customer_id.normalize('NFC'),
  roster: cells.roster || null,
  matchId: cells.match_id || null,
  listedName: cells.listed_name || null,
  listedBirthDate: cells.listed_birth_date === '' ? null : parseIsoDate(cells.listed_birth_date),
});

type NamedMatch = ReturnType<typeof toNamed>;

/**
 * Finds the alerts of a row, at most one on each account: the listed match of the customer with its match id, else the only one with its listed
 * name and, if given, its birth date. A match id whose listed party has another name or birth date today does not count. If more than one alert
 * fits on any account, the row has no alert on all of them.
 */
export function findLegacyAlerts(
  facts: NamedMatch,
  customers: readonly LegacyCustomer[],
): { alerts: readonly LegacyCandidate[] } | { unmatched: Unmatched } {
  const meant = customers.filter(
    ({ reference, roster }) => reference === facts.reference && (facts.roster ?? roster) === roster,
  );
  const [customer] = meant;
  if (customer === undefined) return { unmatched: 'unknown_customer' };
  if (meant.length > 1) return { unmatched: 'several_rosters' };
  const found = [...gatherBy(customer.alerts, ({ accountId }) => accountId).values()].map((alerts) =>
    findOnAccount(facts, alerts),
  );
  const alerts = found.flatMap((one) => ('alert' in one ? [one.alert] : []));
  const reasons = new Set(found.flatMap((one) => ('unmatched' in one ? [one.unmatched] : [])));
  if (alerts.length > 0 && !reasons.has('ambiguous')) return { alerts };
  return { unmatched: reasonsByWeight.find((reason) => reasons.has(reason)) ?? 'not_listed' };
}

/** The reason that is reported if accounts have different ones. */
const reasonsByWeight = ['ambiguous', 'name_differs', 'birth_date_differs'] as const;

type Found = { alert: LegacyCandidate } | { unmatched: Unmatched };

function findOnAccount(facts: NamedMatch, alerts: readonly LegacyCandidate[]): Found {
  const ofId = alerts.filter(({ listed }) => listed.id === facts.matchId);
  const [alert] = ofId;
  if (alert === undefined) return findByName(facts, alerts);
  if (ofId.length > 1) return { unmatched: 'ambiguous' };
  if (facts.listedName !== null && !isNamed(alert, facts.listedName)) return { unmatched: 'name_differs' };
  if (compareBirthDates(facts.listedBirthDate, alert.listed.birthDates) === 'contradict') {
    return { unmatched: 'birth_date_differs' };
  }
  return { alert };
}

function findByName({ listedName, listedBirthDate }: NamedMatch, alerts: readonly LegacyCandidate[]): Found {
  const named = listedName === null ? [] : alerts.filter((alert) => isNamed(alert, listedName));
  if (named.length === 0) return { unmatched: 'not_listed' };
  const fitting =
    listedBirthDate === null
      ? named
      : named.filter(({ listed }) => compareBirthDates(listedBirthDate, listed.birthDates) === 'agree');
  const [alert] = fitting;
  if (alert === undefined) return { unmatched: 'birth_date_differs' };
  return fitting.length > 1 ? { unmatched: 'ambiguous' } : { alert };
}

const isNamed = ({ listed }: LegacyCandidate, name: string): boolean => foldName(listed.name) === foldName(name);

/** Why a row of an older system has no clear alert. */
const unmatchedWords = {
  unknown_customer: 'the customer is unknown, or is not in that roster',
  several_rosters: 'the customer is in several rosters: name one in the column roster',
  not_listed: 'the customer has no match with that match id or name today',
  ambiguous: 'more than one match of the customer fits',
  name_differs: 'the match with that id has another name today',
  birth_date_differs: 'the listed party has another birth date, or none to compare',
} as const;
type Unmatched = keyof typeof unmatchedWords;

/** Why a row is not imported although its alert is clear. */
const refusalWords = {
  unreadable: 'the row cannot be read',
  decided_here: 'a reviewer has already entered a disposition here',
  taken_otherwise: 'another disposition of it was imported before',
  contradicted: 'another row about the same match has another disposition',
} as const;
const words = { ...unmatchedWords, ...refusalWords };

type UntakenRow = ReturnType<typeof findUntaken>[number];

/**
 * The rows that are not imported, or not on every account that has their match, each once and in their order. `problem` names the account
 * unless it is on all.
 */
export function findUntaken(rows: readonly AssessedRow[]) {
  const untaken = rows.flatMap((row) => (row.kind === 'unmatched' || row.kind === 'refused' ? [row] : []));
  return [...gatherBy(untaken, ({ row }) => row).values()].flatMap((assessed) => {
    const [first] = assessed;
    if (first === undefined) return [];
    const problems = assessed.map((one) => {
      const problem = one.kind === 'refused' && one.problem !== null ? one.problem : words[one.reason];
      return one.mode === null ? problem : `${one.mode} account: ${problem}`;
    });
    return { row: first.row, reason: first.reason, problem: problems.join('; ') };
  });
}

const columns: readonly Column<UntakenRow>[] = [
  { key: 'sheet', cell: ({ row }) => row.sheet },
  { key: 'line', cell: ({ row }) => row.line },
  { key: 'problem', cell: ({ problem }) => problem },
  ...legacyColumns.map((key): Column<UntakenRow> => ({ key, cell: ({ row }) => markFormula(row.cells[key]) })),
];

/** The rows that are not imported, as CSV with their problems, to be corrected and imported again. */
export const renderUntaken = (rows: readonly UntakenRow[]): string => [...renderCsv(columns, rows)].join('');
