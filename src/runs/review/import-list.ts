import { gatherBy } from '../../gather-by.js';
import { toDate, toDayNumber, toDayNumberOf } from '../../local-time.js';
import { parseAlertCode, toEventSeenVersion } from '../../matches/alert-code.js';
import { mostAcceptedDays } from '../../reconciliation/discrepancy.js';
import { discrepancyListColumns, workingListColumns } from '../../reports/review-list.js';
import { describePlace, type ListPlace } from '../../reports/text.js';
import { type Queryable, tryOut } from '../../store/database/database.js';
import { readDecidable, saveAcceptance } from '../../store/dossiers/discrepancies.js';
import { type DecidableAlert, readDecidableAlerts, readFourEyes } from '../../store/review/decisions.js';
import { findPlainlyAbsent, readBulk } from '../../store/review/waiting.js';
import { codeWords } from '../../vocabulary/words.js';
import type { DispositionVerdict } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import { toAlertSeenVersion, toBulkSeenVersion } from './alerts.js';
import { decideAlerts } from './decide.js';
import {
  type DecisionImport,
  foldHeader,
  type ListTable,
  openListTable,
  parseVerdict,
  refuseTraces,
  type WantedList,
} from './list-table.js';
import { type DecisionContext, openDecisionContext } from './people.js';

/** The rows of an imported working list by their results. */
export type ImportedDecisions = Awaited<ReturnType<typeof importDecisions>>;

/**
 * Imports the decisions of a working list: all or none, unless `partial`. Without `apply` they are tried in the same way and rolled back, so
 * the preview shows the result of each. Throws RosterError when the file is not a working list.
 */
export async function importDecisions(app: AppContext, request: DecisionImport) {
  const { database } = app;
  const context = await openDecisionContext(app, request.reviewer);
  const { organisationId, reviewKey } = context;
  const expandBulk = openBulkRows(database, context);
  const { decisions: list, acceptances, ...ofFile } = await readReviewList(request.path, reviewKey, expandBulk);
  // Spreadsheets change references, so the reference in the list is used only for an unknown alert.
  const alertIds = [...list.filled.map(({ alertId }) => alertId), ...list.faulty.flatMap(({ id }) => id ?? [])];
  const alerts = await readDecidableAlerts(database, organisationId, alertIds);
  const nameCustomer = (id: number | null, customer: string | null): string | null =>
    (id === null ? undefined : alerts.get(id)?.reference) ?? customer;
  const filled = list.filled.map((row) => ({ ...row, customer: nameCustomer(row.alertId, row.customer) }));
  const faulty = list.faulty.map((row) => ({ ...row, customer: nameCustomer(row.id, row.customer) }));
  const decisions = filled.map((row) => ({ ...row, origin: 'review', expiresAt: null }) as const);
  const { isApplied, result: tried } = await tryOut(
    database,
    async (transaction) => ({
      results: await decideAlerts(transaction, context, decisions),
      acceptances: await acceptDiscrepancies(transaction, context, acceptances?.filled ?? []),
    }),
    (both) => {
      const isWhole =
        faulty.length + (acceptances?.faulty.length ?? 0) === 0 &&
        [...both.results, ...both.acceptances].every(({ kind }) => kind !== 'refused');
      return request.apply && (isWhole || request.partial);
    },
  );
  const rows = pairResults(filled, tried.results);
  const ofKind = (kind: (typeof rows)[number]['result']['kind'], isPending = false) =>
    rows
      .filter(({ result }) => result.kind === kind && ('isPending' in result && result.isPending) === isPending)
      .map(({ row }) => row);
  return {
    isApplied,
    decided: ofKind('decided'),
    /** Decided by one person where two are needed. */
    proposed: ofKind('proposed'),
    /** Proposed by another person and confirmed by this list. */
    approved: ofKind('approved'),
    /** The decided or proposed rows that replace the proposal of another person. */
    instead: rows.flatMap(({ row, result }) =>
      'instead' in result && result.instead ? [{ row, ...result.instead }] : [],
    ),
    /** The same person has decided or proposed the same before: a list that is imported twice changes nothing. */
    sameAlready: ofKind('same_already'),
    proposedAlready: ofKind('same_already', true),
    refused: rows.flatMap(({ row, result }) => (result.kind === 'refused' ? [{ row, reason: result.reason }] : [])),
    faulty,
    undecided: list.undecided,
    ...ofFile,
    /** Null when the file has no list of discrepancies. */
    discrepancies: acceptances && {
      faulty: acceptances.faulty,
      untouched: acceptances.untouched,
      rows: pairResults(acceptances.filled, tried.acceptances),
    },
  };
}

/** Each row with its result; both lists have the same order. */
const pairResults = <Row, Result>(rows: readonly Row[], results: readonly Result[]) =>
  rows.flatMap((row, index) => {
    const result = results[index];
    return result === undefined ? [] : [{ row, result }];
  });

/** A row of a list and its customer. */
interface ListedRow extends ListPlace {
  customer: string | null;
}

/** A filled row of a working list. */
interface FilledRow extends ListedRow {
  alertId: number;
  seenVersion: string;
  /** The number of the working list; null when the cell is not readable. */
  sheetId: number | null;
  verdict: DispositionVerdict;
  reason: string;
  comment: string | null;
}

/** A row that cannot be imported. */
interface FaultyRow extends ListedRow {
  /** The number of its alert or discrepancy; null when the code is not readable. */
  id: number | null;
  problem: string;
}

/** A filled row for many absent alerts. */
type BulkRow = Omit<FilledRow, 'alertId'> & { bulkId: number };

/** Gives one row for each alert of a bulk row, or the reason why the row cannot be imported. */
type ExpandBulk = (row: BulkRow) => Promise<readonly FilledRow[] | FaultyRow>;

const { alert, disposition, reason, comment } = workingListColumns;
const { discrepancy, acceptUntil } = discrepancyListColumns;
const origin = 'a list of `nightscreen review export`';
const alertList: WantedList = {
  names: Object.values(workingListColumns),
  required: [alert, disposition, reason],
  origin,
  isTrace: (cell) => foldHeader(cell) === disposition || isCode(cell, ['N', 'B']),
};
const discrepancyList: WantedList = {
  names: Object.values(discrepancyListColumns),
  required: Object.values(discrepancyListColumns),
  origin,
  isTrace: (cell) => foldHeader(cell) === acceptUntil || isCode(cell, ['D']),
};

/** Whether a cell is the code of a row of a list, of whatever database. */
const isCode = (cell: string, letters: readonly ('N' | 'B' | 'D')[]): boolean =>
  cell.length >= shortestCode && letters.some((letter) => parseAlertCode(cell, Buffer.alloc(0), letter) !== null);

const shortestCode = 20;

/**
 * Reads a filled working list of alerts, of discrepancies or, in a workbook, of both, on every sheet that has one. It reads only the codes and
 * the filled cells, because spreadsheets change dates and ids. Throws RosterError when the file is not a list, lacks a column, or has a sheet
 * with alerts but without headings.
 */
export async function readReviewList(path: string, key: Buffer, expandBulk: ExpandBulk) {
  const { ofAlerts, ofDiscrepancies, unread } = await openReviewList(path);
  const acceptances = ofDiscrepancies.isFound ? await readAcceptances(ofDiscrepancies.rows, key) : null;
  const decisions = await readDecisions(ofAlerts.rows, key, expandBulk);
  return { decisions, acceptances, unread, guessedEncoding: ofAlerts.guessedEncoding };
}

async function openReviewList(path: string) {
  const ofDiscrepancies = await openListTable(path, { ...discrepancyList, isOptional: true });
  const ofAlerts = await openListTable(path, { ...alertList, isOptional: ofDiscrepancies.isFound });
  const isUnread = ([sheet]: readonly [string, unknown]): boolean =>
    ofAlerts.unread.has(sheet) && ofDiscrepancies.unread.has(sheet);
  refuseTraces(path, [...ofAlerts.unread].filter(isUnread), alertList.required);
  refuseTraces(path, [...ofDiscrepancies.unread].filter(isUnread), discrepancyList.required);
  const unread = [...ofAlerts.unread].filter(isUnread).map(([sheet]) => sheet);
  return { ofAlerts, ofDiscrepancies, unread };
}

/** Whether a file must be kept: false only for a list of `nightscreen review export` in which nobody has filled in a cell or added a sheet. */
export async function holdsWork(path: string): Promise<boolean> {
  const toFill = [disposition, reason, comment, acceptUntil];
  try {
    const { ofAlerts, ofDiscrepancies, unread } = await openReviewList(path);
    for (const { rows } of [ofAlerts, ofDiscrepancies]) {
      for await (const { fault, pick } of rows) {
        if (fault !== null || toFill.some((name) => pick(name) !== '')) return true;
      }
    }
    return unread.length > 0;
  } catch {
    // What cannot be read as a list may be anything, so it is kept.
    return true;
  }
}

async function readDecisions(list: ListTable['rows'], key: Buffer, expandBulk: ExpandBulk) {
  const rows: (FilledRow | BulkRow | FaultyRow)[] = [];
  let undecided = 0;
  for await (const { sheet, line, fault, pick } of list) {
    const id = parseAlertCode(pick(alert), key)?.alertId ?? null;
    const about = { sheet, line, customer: pick('reference') || null, id };
    const filled = [disposition, reason, comment].find((name) => pick(name) !== '');
    if (fault !== null) rows.push({ ...about, problem: fault });
    else if (filled === undefined) undecided += pick(alert) === '' ? 0 : 1;
    else if (filled !== disposition) rows.push({ ...about, problem: `the row has a ${filled}, but no disposition` });
    else rows.push(toRow(about, pick, key));
  }
  const single: (FilledRow | FaultyRow)[] = [];
  for (const row of rows) {
    const named = 'bulkId' in row ? await expandBulk(row) : row;
    single.push(...('line' in named ? [named] : named));
  }
  return { ...refuseRepeated(single, 'alert', ({ alertId }) => alertId), undecided };
}

/** Divides the rows of a list. Rows about the same thing are all refused, because it is unclear which of them is meant. */
function refuseRepeated<Filled extends ListedRow>(
  rows: readonly (Filled | FaultyRow)[],
  what: 'alert' | 'discrepancy',
  toId: (row: Filled) => number,
) {
  const isFaulty = (row: Filled | FaultyRow): row is FaultyRow => 'problem' in row;
  const idOf = (row: Filled | FaultyRow): number | null => (isFaulty(row) ? row.id : toId(row));
  const byId = gatherBy(rows, idOf);
  const filled: Filled[] = [];
  const faulty: FaultyRow[] = [];
  for (const row of rows) {
    const { sheet, line, customer } = row;
    const id = idOf(row);
    const others = id === null ? [] : (byId.get(id) ?? []).filter((other) => other !== row);
    const problems = [
      ...(isFaulty(row) ? [row.problem] : []),
      ...(others.length === 0 ? [] : [`the same ${what} as ${others.map((other) => describePlace(other)).join(', ')}`]),
    ];
    if (problems.length > 0) faulty.push({ sheet, line, customer, id, problem: problems.join('; ') });
    else if (!isFaulty(row)) filled.push(row);
  }
  return { filled, faulty };
}

function toRow(
  about: Omit<FaultyRow, 'problem'>,
  pick: (name: string) => string,
  key: Buffer,
): FilledRow | BulkRow | FaultyRow {
  const bulk = parseAlertCode(pick(alert), key, 'B');
  const mark = bulk ?? parseAlertCode(pick(alert), key);
  if (mark === null)
    return { ...about, problem: `${JSON.stringify(pick(alert))} is not the code of an alert; copy it from the list` };
  const verdict = parseVerdict(pick(disposition));
  if (verdict === null) {
    return { ...about, problem: `the disposition is not one of ${Object.values(codeWords.disposition).join(', ')}` };
  }
  const reason = pick('reason');
  if (reason === '') return { ...about, problem: 'the disposition has no reason' };
  const [, sheet] = /^S-?(\d{1,15})$/i.exec(pick('sheet')) ?? [];
  const said = {
    verdict,
    reason,
    sheetId: sheet === undefined ? null : Number(sheet),
    comment: pick('comment') || null,
  };
  const { sheet: ofFile, line, customer } = about;
  if (bulk === null) return { sheet: ofFile, line, customer, ...mark, ...said };
  return { sheet: ofFile, line, customer, bulkId: mark.alertId, seenVersion: mark.seenVersion, ...said };
}

/** Expands a bulk row to one row for each of its alerts, unless one of them has changed since the list was written. */
const openBulkRows =
  (
    database: Queryable,
    { organisationId, reviewKey, reviewer }: Pick<DecisionContext, 'organisationId' | 'reviewKey' | 'reviewer'>,
  ): ExpandBulk =>
  async ({ bulkId, seenVersion, ...row }) => {
    const { sheet, line, customer } = row;
    const fault = (problem: string) => ({ sheet, line, customer, id: null, problem });
    if (row.verdict !== 'no_longer_matched') return fault('a row of several alerts takes only "no longer matched"');
    const alertIds = await readBulk(database, organisationId, bulkId);
    const alerts = await readDecidableAlerts(database, organisationId, alertIds);
    const toRows = () =>
      alertIds.flatMap((alertId) => {
        const alert = alerts.get(alertId);
        return alert === undefined ? [] : [{ ...row, alertId, seenVersion: toAlertSeenVersion(alert, reviewKey) }];
      });
    // A second import of the same list changes nothing.
    const isOwn = ({ current }: DecidableAlert): boolean =>
      current?.verdict === 'no_longer_matched' && current.reviewer === reviewer.name;
    if (alerts.size > 0 && [...alerts.values()].every(isOwn)) return toRows();
    const eligible = await findPlainlyAbsent(database, alertIds);
    const isAsListed = alertIds.length > 0 && seenVersion === toBulkSeenVersion(alerts, alertIds, reviewKey);
    if (!isAsListed || eligible.size !== alertIds.length) {
      return fault('some of these alerts have changed since the list was written; export it again');
    }
    return toRows();
  };

interface AcceptedRow extends ListedRow {
  discrepancyId: number;
  seenVersion: string;
  /** The last day, yyyy-mm-dd. */
  until: string;
  reason: string;
}

/** Reads the rows that accept a discrepancy; rows without a day and a reason are counted as untouched. */
async function readAcceptances(list: ListTable['rows'], key: Buffer) {
  const rows: (AcceptedRow | FaultyRow)[] = [];
  let untouched = 0;
  for await (const { sheet, line, fault, pick } of list) {
    const about = { sheet, line, customer: pick('reference') || null };
    const cell = pick(discrepancy);
    const until = pick(acceptUntil);
    const reason = pick(discrepancyListColumns.reason);
    const mark = parseAlertCode(cell, key, 'D');
    const refuse = (problem: string): void => void rows.push({ ...about, id: null, problem });
    if (fault !== null) refuse(fault);
    else if (until === '' && reason === '') untouched += cell === '' ? 0 : 1;
    else if (mark === null) refuse(`${JSON.stringify(cell)} is not the code of a discrepancy; copy it from the list`);
    else if (until === '') refuse('the row has a reason, but accept_until is empty');
    else if (!isDay(until)) refuse(`accept_until is ${JSON.stringify(until)}, not a day written as yyyy-mm-dd`);
    else if (reason === '') refuse('the acceptance has no reason');
    else rows.push({ ...about, discrepancyId: mark.alertId, seenVersion: mark.seenVersion, until, reason });
  }
  return { ...refuseRepeated(rows, 'discrepancy', ({ discrepancyId }) => discrepancyId), untouched };
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(toDayNumberOf(text)) && toDate(toDayNumberOf(text)) === text;

type AcceptanceResult =
  | { kind: 'accepted' | 'proposed' | 'approved' | 'same_already' }
  | {
      kind: 'refused';
      reason: 'unknown_discrepancy' | 'resolved' | 'discrepancy_changed' | 'critical' | 'past_day' | 'too_long';
    };

/**
 * Accepts discrepancies as of `now` inside a transaction, each bound to what the reviewer saw and until a day. Where the severity needs two
 * people, the first acceptance is a proposal. Another person confirms it by the same day. The same acceptance again changes nothing.
 */
async function acceptDiscrepancies(
  transaction: Queryable,
  { organisationId, reviewKey, reviewer, now, review, timezone }: DecisionContext & { timezone: string },
  rows: readonly AcceptedRow[],
): Promise<readonly AcceptanceResult[]> {
  const known = await readDecidable(
    transaction,
    organisationId,
    rows.map(({ discrepancyId }) => discrepancyId),
  );
  const accounts = [...known.values()].map(({ accountId }) => accountId);
  const findFourEyes = await readFourEyes(transaction, accounts, review.fourEyes);
  const today = toDayNumber(now, timezone);
  const results: AcceptanceResult[] = [];
  for (const row of rows) {
    const found = known.get(row.discrepancyId);
    const { until, reason } = row;
    const days = toDayNumberOf(until) - today;
    const refuse = (because: Extract<AcceptanceResult, { kind: 'refused' }>['reason']): void =>
      void results.push({ kind: 'refused', reason: because });
    if (found === undefined) {
      refuse('unknown_discrepancy');
      continue;
    }
    const { last, severity, isResolved } = found;
    const isOwn = last.reviewer === reviewer.name && last.until === until;
    const isSeen = row.seenVersion === toEventSeenVersion(last.eventId, reviewKey);
    const takesTwo = findFourEyes(found.accountId).has(severity);
    const confirms = takesTwo && last.kind === 'proposed' && last.until === until && !isOwn;
    if (isResolved) refuse('resolved');
    else if (isOwn) results.push({ kind: 'same_already' });
    else if (!isSeen) refuse('discrepancy_changed');
    else if (severity === 'critical') refuse('critical');
    else if (days < 0) refuse('past_day');
    else if (days > mostAcceptedDays) refuse('too_long');
    else {
      const kind = takesTwo && !confirms ? 'proposed' : 'accepted';
      const { discrepancyId } = row;
      const said = { discrepancyId, seenEventId: last.eventId, kind, reviewer, reason, until } as const;
      await saveAcceptance(transaction, said, now);
      results.push({ kind: confirms ? 'approved' : kind });
    }
  }
  return results;
}
