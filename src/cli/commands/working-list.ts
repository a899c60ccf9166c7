import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import { flagError } from '../../errors.js';
import { writePrivately } from '../../files.js';
import { mostAcceptedDays } from '../../reconciliation/discrepancy.js';
import {
  maxListRows,
  renderDiscrepancyList,
  renderWorkingList,
  renderWorkingListWorkbook,
  toDiscrepancySheet,
} from '../../reports/review-list.js';
import { countNoun, describePlace, type ListPlace, quoteArgument, toVisibleText } from '../../reports/text.js';
import { holdsWork, type ImportedDecisions, importDecisions } from '../../runs/review/import-list.js';
import { findUntaken, type ImportedLegacy, importLegacy, renderUntaken } from '../../runs/review/legacy.js';
import { exportAlerts, type WorkingList } from '../../runs/review/lists.js';
import { findReviewer } from '../../runs/review/people.js';
import { findLogin } from '../../store/database/postgres.js';
import { describeDisposition } from '../../vocabulary/words.js';
import type { RunMode } from '../../vocabulary.js';
import { definePreparedCommand, flag, text } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { type Invocation, type Outcome, toOutcome } from '../invocation.js';
import { notifyDecidedStates } from '../notify.js';
import { meanings, shared } from '../options.js';
import { findCurrentUser, findUserName } from '../process.js';
import { formatTable, isForTerminal, type Row } from '../text.js';

/** A person works in a spreadsheet; other programs read CSV. */
const chooseFile = ({ json }: Invocation['options'], ofDiscrepancies: boolean): string =>
  isForTerminal() && json !== true && !ofDiscrepancies ? 'review.xlsx' : 'review.csv';

/** The configuration that was given, for a printed command. */
const repeatConfig = ({ options: { config }, folder }: Invocation): string =>
  config === undefined ? '' : ` --config ${quoteArgument(resolve(folder, config))}`;

const exportList = definePreparedCommand({
  usage: 'export',
  description:
    'write a list of the alerts that wait, to be filled in and imported (default: review.xlsx on a terminal, else review.csv)',
  options: {
    out: text('<file>', meanings.out),
    roster: shared.roster,
    assignee: text('<name>', 'alerts assigned to this reviewer'),
    new: flag(meanings.new),
    proposals: flag('pending approvals, without those that this login has proposed'),
    discrepancies: flag('discrepancies instead (CSV); a workbook has both'),
    allColumns: flag('all facts of each alert, not only the usual columns'),
  },
  examples: ['review export', 'review export --roster retail --out today.xlsx'],
  prepare: ({ invocation, options: { out, discrepancies = false } }) =>
    refuseUnknownKind(resolve(invocation.folder, out ?? chooseFile(invocation.options, discrepancies))),
  run: async (app, { prepared: file, options, invocation }) => {
    const { roster = null, assignee = null, proposals = false, discrepancies: ofDiscrepancies = false } = options;
    const { allColumns = false, new: onlyNew = false } = options;
    const list = await exportAlerts(app, {
      roster,
      assignee,
      exportedBy: findCurrentUser(),
      onlyProposals: proposals,
      onlyNew,
      allDiscrepancies: ofDiscrepancies,
      notProposedBy: proposals ? await findLogin(app.database) : null,
    });
    const kept = await keepFilledList(file, list.exportedAt);
    const config = repeatConfig(invocation);
    const { organisation } = invocation.options;
    const how = { roster, ofDiscrepancies, allColumns, config, organisation };
    const { notice, leftOut } = await writeWorkingList(file, list, how);
    const noun = onlyNew ? 'new alert' : 'open alert';
    return presentExport(list, { file, notice: `${kept}${notice}`, leftOut, ofDiscrepancies, config, noun });
  },
});

const importList = definePreparedCommand({
  usage: 'import <file>',
  description: 'check the dispositions of a list, and with --apply store them',
  options: {
    by: shared.by,
    apply: flag('store them, all or none'),
    partial: flag('with --apply: store the valid ones if others are refused'),
    legacy: flag('import the dispositions of an older system; refused rows go to --out (unmatched.csv)'),
    out: text('<file>', meanings.out),
  },
  examples: ['review import review.xlsx --apply --by "A. Meyer"', 'review import --legacy old-decisions.csv'],
  prepare: ({ invocation, argument: file, options: { legacy, out } }) => {
    if (legacy) return findFiles(invocation.folder, file, out);
    if (out !== undefined) throw flagError('--out', 'needs --legacy');
    return { path: resolve(invocation.folder, file), unmatched: '' };
  },
  run: async (app, { argument: file, prepared: { path, unmatched }, options, invocation }) => {
    const { by, legacy, out, apply = false, partial = false } = options;
    const reviewer = await findReviewer(app.database, by, !apply);
    const request = { path, reviewer, apply, partial };
    const isAttested = app.database.dialect === 'embedded';
    const name = isAttested ? ` --by ${quoteArgument(by ?? findUserName())}` : '';
    const importing = `nightscreen review import${legacy ? ' --legacy' : ''} ${quoteArgument(file)}`;
    const refusedTo = out === undefined ? '' : ` --out ${quoteArgument(out)}`;
    const storing = `${importing} --apply${name}${refusedTo}${repeatConfig(invocation)}`;
    if (legacy) {
      const imported = await importLegacy(app, request);
      const untaken = findUntaken(imported.rows);
      await writeUntaken(unmatched, untaken);
      const isDecided = imported.rows.some(({ kind }) => kind === 'decided');
      if (imported.isApplied && isDecided) await notifyDecidedStates(app, invocation);
      return presentLegacy(imported, untaken, { storing, unmatched, wasApplied: apply });
    }
    const imported = await importDecisions(app, request);
    const { decided, proposed, approved } = imported;
    const isDecided = decided.length + proposed.length + approved.length > 0;
    if (imported.isApplied && isDecided) await notifyDecidedStates(app, invocation);
    return presentImportedDecisions(imported, { storing, wasApplied: apply });
  },
});

export const workingListCommands = [exportList, importList];

const refusalWords = {
  unknown_alert: 'no such alert here: the list belongs to another database',
  no_longer_listed: 'the alert is closed: its match is no longer listed',
  still_listed: 'the match is listed, and "no longer matched" is only for an absent match',
  changed_since: 'the match or the customer has changed since the export: export again',
  decided_since: 'a disposition was made since the export: export again',
  unknown_discrepancy: 'no such discrepancy here: the list belongs to another database',
  resolved: 'the discrepancy is resolved',
  discrepancy_changed: 'the discrepancy or its acceptance has changed since the export: export again',
  critical: 'a critical discrepancy cannot be accepted: correct its cause',
  past_day: 'accept_until is in the past',
  too_long: `accept_until is more than ${mostAcceptedDays} days ahead`,
} as const;

const toDecide =
  'disposition (true match, false positive or inconclusive, and where the match is absent, no longer matched) and reason';
const toAccept = 'accept_until (yyyy-mm-dd) and reason of a discrepancy to accept';

const describeAccounts = (accounts: WorkingList['accounts']): string =>
  accounts.map(({ account, alerts }) => `${countNoun(alerts, 'alert')} of ${account}`).join(', ');

/** The file of a working list and the next step; `leftOut` alerts did not fit. */
function presentExport(
  { sheetId, alerts, discrepancies, accounts }: WorkingList,
  said: { file: string; notice: string; leftOut: number; ofDiscrepancies: boolean; config: string; noun: string },
): Outcome {
  const { file, notice, leftOut, ofDiscrepancies, config, noun } = said;
  const hasAlerts = isWorkbook(file) || !ofDiscrepancies;
  const hasDiscrepancies = ofDiscrepancies || (isWorkbook(file) && discrepancies.count > 0);
  const shown = hasAlerts ? alerts.length - leftOut : 0;
  const counted = countNoun(discrepancies.count, 'discrepancy', 'discrepancies');
  const written = [hasAlerts && countNoun(shown, noun), hasDiscrepancies && counted];
  // A run counts those of its own account only.
  const ofAccounts = hasAlerts && accounts.length > 0 ? `of several accounts: ${describeAccounts(accounts)}\n` : '';
  const howTo = [hasAlerts && toDecide, hasDiscrepancies && toAccept].filter(Boolean).join('; ');
  const elsewhere = `${counted} of reconciliation in a list of their own: nightscreen review export --discrepancies --out discrepancies.csv${config}\n`;
  return toOutcome(
    'nightscreen/review-export/1',
    { sheetId, alerts: shown, leftOut, discrepancies: hasDiscrepancies ? discrepancies.count : 0, file },
    [
      `${written.filter(Boolean).join(' and ')}: ${file}\n${ofAccounts}${notice}`,
      `fill in ${howTo}, then: nightscreen review import ${quoteArgument(file)}${config}\n`,
      hasDiscrepancies || discrepancies.count === 0 ? '' : elsewhere,
    ].join(''),
  );
}

interface ImportResult {
  isApplied: boolean;
  wasApplied: boolean;
  hasNew: boolean;
  refused: number;
  storing: string;
}

function toImportExitCode({ isApplied, wasApplied, refused }: ImportResult): number {
  if (wasApplied && !isApplied) return exitCodes.refused;
  return refused > 0 ? exitCodes.incomplete : exitCodes.complete;
}

/** Whether the list was stored, why not, and the command that stores it; `waiting` is the clause about pending approvals. */
function describeImport({ isApplied, wasApplied, hasNew, refused, storing }: ImportResult, waiting = ''): string {
  if (isApplied && hasNew) return `stored${waiting}`;
  if (!hasNew && (isApplied || refused === 0)) {
    return `nothing was stored, because the list has no new valid disposition${waiting}`;
  }
  if (!wasApplied) return `nothing was stored; to store it: ${storing}${refused > 0 ? ' --partial' : ''}`;
  const because = `${countNoun(refused, 'row')} would be refused`;
  return `nothing was stored, because ${because}; correct the list, or store the other rows: ${storing} --partial`;
}

const formatLines = (lines: readonly (ListPlace & { customer: string | null; words: string })[]): string => {
  const rows = lines.map(({ customer, words, ...place }) => {
    return [describePlace(place), toVisibleText(customer ?? ''), words];
  });
  return rows.length === 0 ? '' : `\n${formatTable(rows)}`;
};

/** The guessed encoding of a file, with a text to compare: a wrong guess would store other letters than the reviewer wrote. */
function formatEncoding(
  encoding: string | null,
  rows: readonly (ListPlace & { reason: string; comment?: string | null })[],
): string {
  if (encoding === null) return '';
  const texts = rows.map(({ reason, comment, ...place }) => ({ ...place, text: `${reason} ${comment ?? ''}`.trim() }));
  const shown = texts.find(({ text }) => /[^\p{ASCII}]/u.test(text));
  const example = shown === undefined ? '' : `; ${describePlace(shown)} reads: ${toVisibleText(shown.text)}`;
  return `encoding: ${encoding}, by its letters${example}\nif letters are wrong, save the list as .xlsx or as CSV UTF-8\n`;
}

const formatUnread = (unread: readonly string[]): string =>
  unread.length === 0 ? '' : `not read: ${unread.map(toVisibleText).join(', ')}\n`;

const pending = 'pending the approval of another person';

const toRowPlace = ({ sheet, line, customer }: ListPlace & { customer: string | null }) => ({ sheet, line, customer });

/** The acceptances of a list by their results; null without a list of discrepancies. */
function sumAcceptances(discrepancies: ImportedDecisions['discrepancies']) {
  if (discrepancies === null) return null;
  const { rows } = discrepancies;
  const faulty = discrepancies.faulty.map(({ id: _, ...row }) => row);
  const countOf = (kind: string): number => rows.filter(({ result }) => result.kind === kind).length;
  const refused = rows.flatMap(({ row, result }) =>
    result.kind === 'refused' ? [{ ...toRowPlace(row), reason: result.reason }] : [],
  );
  const accepted = countOf('accepted') + countOf('approved');
  return { accepted, proposed: countOf('proposed'), sameAlready: countOf('same_already'), refused, faulty };
}

/** The result of `review import`; `storing` is the command that stores the decisions. */
export function presentImportedDecisions(
  imported: ImportedDecisions,
  { storing, wasApplied }: { storing: string; wasApplied: boolean },
): Outcome {
  const { isApplied, decided, proposed, approved, sameAlready, proposedAlready, undecided } = imported;
  const { unread, guessedEncoding } = imported;
  const acceptances = sumAcceptances(imported.discrepancies);
  const refused = imported.refused.map(({ row, reason }) => ({ ...toRowPlace(row), reason }));
  const faulty = imported.faulty.map(({ id: _, ...row }) => row);
  const instead = imported.instead.map(({ row, ...former }) => ({ ...toRowPlace(row), ...former }));
  const refusals = [...(acceptances?.refused ?? []), ...refused].map(({ reason, ...row }) => {
    return { ...row, words: refusalWords[reason] };
  });
  const faults = [...(acceptances?.faulty ?? []), ...faulty].map(({ problem, ...row }) => ({ ...row, words: problem }));
  const bad = [...refusals, ...faults].sort(
    (left, right) => (left.sheet ?? '').localeCompare(right.sheet ?? '') || left.line - right.line,
  );
  const replaced = instead.map(({ verdict, reviewer, ...row }) => {
    return { ...row, words: `replaces the ${describeDisposition(verdict)} that ${reviewer} proposed` };
  });
  const would = (what: string): string => (isApplied ? what : `would be ${what}`);
  const { accepted = 0, proposed: acceptanceProposed = 0, sameAlready: acceptedAlready = 0 } = acceptances ?? {};
  const counts: Row[] = [
    [would('decided'), String(decided.length)],
    proposed.length > 0 && [would('proposed'), `${proposed.length}, ${pending}`],
    approved.length > 0 && [would('approved'), String(approved.length)],
    ['decided already', String(sameAlready.length)],
    proposedAlready.length > 0 && ['proposed already', `${proposedAlready.length}, ${pending}`],
    ['without a disposition', String(undecided)],
    acceptances !== null && [`discrepancies ${isApplied ? '' : 'that '}${would('accepted')}`, String(accepted)],
    acceptanceProposed > 0 && ['discrepancies proposed', `${acceptanceProposed}, ${pending}`],
    acceptedAlready > 0 && ['accepted already', String(acceptedAlready)],
    ['refused', String(bad.length)],
  ];
  const stored = decided.length + proposed.length + approved.length + accepted + acceptanceProposed;
  const result = { isApplied, wasApplied, hasNew: stored > 0, refused: bad.length, storing };
  const waiting = (isApplied ? proposed.length + acceptanceProposed : 0) + proposedAlready.length;
  const accepting = imported.discrepancies?.rows.map(({ row }) => row) ?? [];
  return toOutcome(
    'nightscreen/review-import/1',
    {
      isApplied,
      decided: decided.length,
      proposed: proposed.length,
      approved: approved.length,
      sameAlready: sameAlready.length,
      proposedAlready: proposedAlready.length,
      undecided,
      unread,
      guessedEncoding,
      instead,
      refused,
      faulty,
      discrepancies: acceptances,
    },
    [
      formatTable(counts),
      formatLines([...bad, ...replaced]),
      formatUnread(unread),
      formatEncoding(guessedEncoding, [...decided, ...proposed, ...approved, ...sameAlready, ...accepting]),
      `\n${describeImport(result, describePending(waiting))}\n`,
    ].join(''),
    toImportExitCode(result),
  );
}

function describePending(count: number): string {
  if (count === 0) return '';
  const them = count === 1 ? 'it' : 'them';
  return `; ${countNoun(count, 'pending approval')} of yours. Another person lists ${them} with: nightscreen review export --proposals`;
}

const isWorkbook = (file: string): boolean => extname(file).toLowerCase() === '.xlsx';

/** The file itself; throws ConfigError when its ending names an unsupported format. */
function refuseUnknownKind(file: string): string {
  if (!/\.(ods|xls|xlsm|xlsb|pdf)$/i.test(file)) return file;
  throw flagError('--out', `${file}: a working list is written as .csv or .xlsx`);
}

/**
 * Writes a working list as a workbook or as CSV by the ending of the file, whole and readable for its owner only;
 * returns how many alerts did not fit, and the notice about them.
 */
async function writeWorkingList(
  file: string,
  list: WorkingList,
  how: {
    roster: string | null;
    ofDiscrepancies: boolean;
    allColumns: boolean;
    config: string;
    organisation: string | undefined;
  },
): Promise<{ leftOut: number; notice: string }> {
  const { roster, ofDiscrepancies, allColumns, config, organisation } = how;
  if (!isWorkbook(file)) {
    const parts = ofDiscrepancies
      ? renderDiscrepancyList(list.discrepancies.listed)
      : renderWorkingList(list.alerts, { timezone: list.timezone, allColumns });
    await writePrivately(file, [...parts].join(''));
    return { leftOut: 0, notice: '' };
  }
  const waiting = list.alerts.length;
  const ofRoster = roster === null ? '' : ` --roster ${quoteArgument(roster)}`;
  const toWhole = (out: string): string => `nightscreen review export${ofRoster} --out ${quoteArgument(out)}${config}`;
  // Reviewers keep the list in another folder.
  const importCommand = `nightscreen review import ${quoteArgument(basename(file))}${config}`;
  const discrepancySheet = toDiscrepancySheet(list.discrepancies, {
    at: list.exportedAt,
    timezone: list.timezone,
  });
  const wholeListCommand = toWhole('review.csv');
  const facts = { ...list, waiting, discrepancySheet, organisation, importCommand, wholeListCommand, allColumns };
  await writePrivately(file, renderWorkingListWorkbook(list.alerts, facts));
  const leftOut = Math.max(0, waiting - maxListRows);
  const notice =
    leftOut === 0
      ? ''
      : `${countNoun(leftOut, 'alert')} more did not fit; a list of all alerts: ${toWhole(join(dirname(file), 'review.csv'))}\n`;
  return { leftOut, notice };
}

/** Renames a file whose content the new list would destroy; gives the notice about it. An unfilled list is replaced. */
async function keepFilledList(file: string, now: Date): Promise<string> {
  if (!existsSync(file) || !(await holdsWork(file))) return '';
  const ending = extname(file);
  const moment = now.toISOString().replaceAll(/[-:]|\..*/g, '');
  const toName = (at: number): string =>
    join(dirname(file), `${basename(file, ending)}.kept-${moment}${at === 1 ? '' : `-${at}`}${ending}`);
  let at = 1;
  while (existsSync(toName(at))) at += 1;
  await rename(file, toName(at));
  return `the earlier ${basename(file)} has filled cells or is no such list, so it is kept: ${toName(at)}\n`;
}

/** Writes the refused rows of an older system's list; without any, the file of an earlier attempt is emptied. */
async function writeUntaken(file: string, untaken: Parameters<typeof renderUntaken>[0]): Promise<void> {
  if (untaken.length === 0 && !existsSync(file)) return;
  await writePrivately(file, renderUntaken(untaken));
}

function findFiles(folder: string, file: string, given: string | undefined): { path: string; unmatched: string } {
  const path = resolve(folder, file);
  const unmatched = given === undefined ? join(dirname(path), 'unmatched.csv') : resolve(folder, given);
  if (unmatched !== path) return { path, unmatched };
  throw flagError('--out', `${file} would be overwritten by its refused rows: name another file`);
}

const linesShown = 30;

export function presentLegacy(
  { isApplied, rows, proposed, unread, guessedEncoding }: ImportedLegacy,
  untaken: readonly { row: ImportedLegacy['rows'][number]['row']; reason: string; problem: string }[],
  { storing, unmatched, wasApplied }: { storing: string; unmatched: string; wasApplied: boolean },
): Outcome {
  const countOf = (kind: (typeof rows)[number]['kind']): number => rows.filter((row) => row.kind === kind).length;
  const countOn = (mode: RunMode): number =>
    rows.filter((row) => (row.kind === 'decided' || row.kind === 'sample') && row.mode === mode).length;
  const counts = {
    rows: new Set(rows.map(({ row }) => row)).size,
    decided: countOf('decided') - proposed,
    proposed,
    sample: countOf('sample'),
    onTestAccounts: countOn('test'),
    onLiveAccounts: countOn('live'),
    same: countOf('same'),
    unmatched: countOf('unmatched'),
    refused: countOf('refused'),
  };
  const table: Row[] = [
    ['rows', String(counts.rows)],
    [isApplied ? 'accepted for 90 days' : 'would be accepted for 90 days', String(counts.decided)],
    proposed > 0 && [pending, String(proposed)],
    ['left open as a sample', String(counts.sample)],
    counts.onLiveAccounts > 0 && ['of these on a live account', String(counts.onLiveAccounts)],
    counts.onTestAccounts > 0 && ['of these on a test account', String(counts.onTestAccounts)],
    ['imported before', String(counts.same)],
    ['not found here', String(counts.unmatched)],
    ['refused', String(counts.refused)],
  ];
  const listed = untaken.map(({ row: { sheet, line, cells }, reason, problem }) => {
    return { sheet, line, customer: cells.customer_id || null, reason, problem };
  });
  const lines = listed.slice(0, linesShown).map(({ problem, ...row }) => ({ ...row, words: problem }));
  const more = untaken.length - lines.length;
  const result = {
    isApplied,
    wasApplied,
    hasNew: counts.decided + counts.proposed + counts.sample > 0,
    refused: untaken.length,
    storing,
  };
  return toOutcome(
    'nightscreen/review-import-legacy/1',
    { isApplied, counts, untaken: listed, unread, guessedEncoding, file: untaken.length === 0 ? null : unmatched },
    [
      formatTable(table),
      formatLines(lines),
      more > 0 ? `and ${countNoun(more, 'row')} more\n` : '',
      untaken.length === 0 ? '' : `all of these, with the reasons: ${unmatched}\n`,
      formatUnread(unread),
      formatEncoding(
        guessedEncoding,
        rows.map(({ row: { sheet, line, cells } }) => ({ sheet, line, ...cells })),
      ),
      `\n${describeImport(result)}\n`,
    ].join(''),
    toImportExitCode(result),
  );
}
