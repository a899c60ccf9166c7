import { access } from 'node:fs/promises';
import { basename, dirname, extname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { flagError } from '../../errors.js';
import { writePrivately } from '../../files.js';
import { mostAcceptedDays } from '../../reconciliation/discrepancy.js';
import { countNoun, toVisibleText } from '../../reports/text.js';
import { quoteArgument } from '../../runs/quote-argument.js';
import type { ImportedDecisions } from '../../runs/review/import-list.js';
import type { ImportedLegacy } from '../../runs/review/legacy.js';
import type { WorkingList } from '../../runs/review/lists.js';
import type { RunMode } from '../../vocabulary.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Invocation, Outcome } from '../invocation.js';
import { notifyDecidedStates } from '../notify.js';
import { examples } from '../options.js';
import { findCurrentUser } from '../process.js';
import { loadInvocationConfig, withAppContext } from '../session.js';
import { formatTable, type Row } from '../text.js';

/** Adds `review export` and `review import`: the working list that goes out and comes back. */
export function addWorkingListCommands(review: Command, act: Act): void {
  addExport(review, act);
  addImport(review, act);
}

const defaultFile = 'review.csv';

function addExport(review: Command, act: Act): void {
  review
    .command('export')
    .description('write a working list of what waits for a decision, to be filled in and imported')
    .option('--out <file>', `the file to write, CSV or a workbook (.xlsx) (default: ${defaultFile})`)
    .option('--roster <name>', 'only this roster')
    .option('--assignee <name>', 'only what this person answers for, also while standing in for somebody')
    .option('--proposals', 'only what waits for a second person to confirm')
    .option('--not-mine', 'without what the login has proposed, which others have to confirm')
    .option('--discrepancies', 'as CSV: the discrepancies of reconciliation instead; a workbook has both')
    .addHelpText('after', examples(['review export', 'review export --roster retail --out today.xlsx']))
    .action(
      (options: {
        out?: string;
        roster?: string;
        assignee?: string;
        proposals?: true;
        notMine?: true;
        discrepancies?: true;
      }) =>
        act(async (invocation) => {
          const { exportItems } = await import('../../runs/review/lists.js');
          const { findLogin } = await import('../../store/database/postgres.js');
          const config = loadInvocationConfig(invocation);
          const file = refuseUnknownKind(resolve(invocation.folder, options.out ?? defaultFile));
          return withAppContext(invocation, { config, needsDatabase: true }, async (app) => {
            const login = options.notMine ? await findLogin(app.database) : null;
            const list = await exportItems(app, {
              roster: options.roster ?? null,
              exportedBy: findCurrentUser(),
              assignee: options.assignee ?? null,
              onlyProposals: options.proposals ?? false,
              allDiscrepancies: options.discrepancies ?? false,
              notProposedBy: login,
            });
            const { roster = null, discrepancies: ofDiscrepancies = false } = options;
            const { notice, leftOut } = await writeWorkingList(file, list, { roster, ofDiscrepancies });
            return presentExport(list, { file, notice, leftOut, ofDiscrepancies });
          });
        }),
    );
}

function addImport(review: Command, act: Act): void {
  review
    .command('import <file>')
    .description('say what the decisions of a working list would do, and with --apply store them')
    .option('--apply', 'store them, all or none')
    .option('--partial', 'with --apply: store those that can be stored although others cannot')
    .option('--reviewer <name>', 'who has decided; on Postgres the login says so')
    .option('--legacy', 'the list is that of an older system, whose decisions are to be taken over')
    .option(
      '--unmatched <file>',
      'with --legacy: where to write what cannot be taken (default: unmatched.csv beside it)',
    )
    .addHelpText(
      'after',
      examples([
        'review import review.csv',
        'review import review.xlsx --apply --reviewer "A. Meyer"',
        'review import --legacy old-decisions.csv',
      ]),
    )
    .action((file: string, options: LegacyImportOptions & { legacy?: true }) =>
      act(async (invocation) => {
        if (options.legacy) return importLegacyList(invocation, file, options);
        refuseLegacyOptions(options);
        const { importDecisions } = await import('../../runs/review/import-list.js');
        const { findReviewer } = await import('../../runs/review/people.js');
        const path = resolve(invocation.folder, file);
        return withAppContext(invocation, { needsDatabase: true }, async (app) => {
          const { apply = false, partial = false } = options;
          const reviewer = await findReviewer(app.database, options.reviewer, !apply);
          const imported = await importDecisions(app, { path, reviewer, apply, partial });
          if (imported.isApplied) await notifyDecidedStates(app, invocation);
          const isAttested = app.database.dialect === 'embedded';
          const by = isAttested ? ` --reviewer ${quoteArgument(options.reviewer ?? 'NAME')}` : '';
          const storing = `nightscreen review import ${quoteArgument(file)} --apply${by}`;
          return presentImportedDecisions(imported, { storing, wasApplied: apply });
        });
      }),
    );
}

/** Why a decision about an item is not taken, in words. */
export const refusalWords = {
  unknown_item: 'no such item here: the list is of another database',
  no_longer_listed: 'the alert is closed: its match is no longer listed',
  still_listed: 'the match is listed: no_longer_matched is said only of a match that is absent',
  changed_since: 'what was to be seen has changed since the list was written: export again',
  decided_since: 'somebody has decided about it since the list was written: export again',
  unknown_discrepancy: 'no such discrepancy here: the list is of another database',
  resolved: 'the discrepancy is resolved',
  discrepancy_changed: 'the discrepancy, or what was said of it, has changed since the list was written: export again',
  critical: 'a critical discrepancy is never accepted: it has to be mended',
  past_day: 'accept_until is over',
  too_long: `accept_until is more than ${mostAcceptedDays} days ahead`,
} as const;

/** Where a working list was written, and what to do with it; `leftOut` items did not fit. */
function presentExport(
  { sheetId, items, discrepancies }: WorkingList,
  said: { file: string; notice: string; leftOut: number; ofDiscrepancies: boolean },
): Outcome {
  const { file, notice, leftOut, ofDiscrepancies } = said;
  const hasItems = isWorkbook(file) || !ofDiscrepancies;
  const hasDiscrepancies = ofDiscrepancies || (isWorkbook(file) && discrepancies.count > 0);
  const shown = hasItems ? items.length - leftOut : 0;
  const counted = countNoun(discrepancies.count, 'discrepancy', 'discrepancies');
  const list = (separator: string, ofItems: string, ofDiscrepancy: string): string =>
    [...(hasItems ? [ofItems] : []), ...(hasDiscrepancies ? [ofDiscrepancy] : [])].join(separator);
  const written = list(' and ', `${countNoun(shown, 'item')} to decide`, counted);
  const howTo = list(
    '; ',
    'decision (true_match, false_positive or inconclusive; no_longer_matched where absence says why the match is absent) and reason',
    'accept_until (yyyy-mm-dd) and reason of a discrepancy that may stand',
  );
  const elsewhere =
    hasDiscrepancies || discrepancies.count === 0
      ? ''
      : `${counted} of reconciliation beside them: nightscreen review export --discrepancies --out discrepancies.csv\n`;
  return {
    exitCode: exitCodes.complete,
    document: {
      schema: 'nightscreen/review-export/1',
      ...{ sheetId, items: shown, leftOut, discrepancies: hasDiscrepancies ? discrepancies.count : 0, file },
    },
    text: `${written}: ${file}\n${notice}fill in ${howTo}, then: nightscreen review import ${quoteArgument(file)}\n${elsewhere}`,
  };
}

/** What became, or would become, of a working list; `storing` is the command that stores it. */
export function presentImportedDecisions(
  imported: ImportedDecisions,
  { storing, wasApplied }: { storing: string; wasApplied: boolean },
): Outcome {
  const { isApplied, decided, proposed, confirmed, instead, sameAlready, proposedAlready, refused, faulty } = imported;
  const { undecided, onlyReasons, discrepancies } = imported;
  const ofDiscrepancies = (kind: string) => (discrepancies?.rows ?? []).filter(({ result }) => result.kind === kind);
  const accepted = [...ofDiscrepancies('accepted'), ...ofDiscrepancies('confirmed')];
  const [acceptanceProposed, acceptedAlready] = [ofDiscrepancies('proposed'), ofDiscrepancies('same_already')];
  const refusedAcceptances = (discrepancies?.rows ?? []).flatMap(({ row: { line, customer }, result }) =>
    result.kind === 'refused' ? [{ line, customer, reason: result.reason }] : [],
  );
  const bad = [
    ...refusedAcceptances.map(({ line, customer, reason }) => ({ line, customer, words: refusalWords[reason] })),
    ...(discrepancies?.faulty ?? []).map(({ line, customer, problem }) => ({ line, customer, words: problem })),
    ...refused.map(({ row: { line, customer }, reason }) => ({ line, customer, words: refusalWords[reason] })),
    ...faulty.map(({ line, customer, problem }) => ({ line, customer, words: problem })),
  ].sort((left, right) => left.line - right.line);
  const would = (what: string): string => (isApplied ? what : `would be ${what}`);
  const counts: Row[] = [
    [would('decided'), String(decided.length)],
    proposed.length > 0 && [would('proposed'), `${proposed.length}, for another person to confirm`],
    confirmed.length > 0 && [would('confirmed'), String(confirmed.length)],
    ['decided so already', String(sameAlready.length)],
    proposedAlready.length > 0 && [
      'proposed so already',
      `${proposedAlready.length}, still for another person to confirm`,
    ],
    [
      'not decided in the list',
      onlyReasons === 0
        ? String(undecided)
        : `${undecided}, of which ${countNoun(onlyReasons, 'row')} with a reason but no decision`,
    ],
    discrepancies !== null && [
      `discrepancies ${isApplied ? '' : 'that '}${would('accepted')}`,
      String(accepted.length),
    ],
    acceptanceProposed.length > 0 && [
      'discrepancies proposed',
      `${acceptanceProposed.length}, for another person to confirm`,
    ],
    acceptedAlready.length > 0 && ['accepted so already', String(acceptedAlready.length)],
    ['cannot be taken', String(bad.length)],
  ];
  const lines = [
    ...bad.map(({ line, customer, words }) => [`line ${line}`, toVisibleText(customer ?? ''), words]),
    ...instead.map(({ row: { line, customer }, verdict, reviewer }) => [
      `line ${line}`,
      toVisibleText(customer ?? ''),
      `in place of the ${toWords(verdict)} that ${reviewer} has proposed`,
    ]),
  ];
  return {
    exitCode: wasApplied && !isApplied ? exitCodes.refused : bad.length > 0 ? exitCodes.incomplete : exitCodes.complete,
    document: {
      schema: 'nightscreen/review-import/1',
      isApplied,
      decided: decided.length,
      proposed: proposed.length,
      confirmed: confirmed.length,
      sameAlready: sameAlready.length,
      proposedAlready: proposedAlready.length,
      undecided,
      onlyReasons,
      instead: instead.map(({ row, verdict, reviewer }) => ({
        line: row.line,
        customer: row.customer,
        verdict,
        reviewer,
      })),
      refused: refused.map(({ row: { line, customer }, reason }) => ({ line, customer, reason })),
      faulty: faulty.map(({ line, customer, problem }) => ({ line, customer, problem })),
      discrepancies: discrepancies && {
        accepted: accepted.length,
        proposed: acceptanceProposed.length,
        sameAlready: acceptedAlready.length,
        refused: refusedAcceptances,
        faulty: discrepancies.faulty,
      },
    },
    text: [formatTable(counts), lines.length === 0 ? '' : `\n${formatTable(lines)}`, `\n${describeNext()}\n`].join(''),
  };

  function describeNext(): string {
    const isNew = [decided, proposed, confirmed, accepted, acceptanceProposed].flat().length > 0;
    const pending = (isApplied ? proposed.length + acceptanceProposed.length : 0) + proposedAlready.length;
    const waiting =
      pending === 0
        ? ''
        : `; ${countNoun(pending, 'proposal')} of yours ${pending === 1 ? 'waits' : 'wait'} for another person, who finds what waits with: nightscreen review export --proposals`;
    if (isApplied && isNew) return `stored${waiting}`;
    if (!isNew && (isApplied || bad.length === 0)) {
      return `nothing was stored, because the list decides nothing new that can be taken${waiting}`;
    }
    if (!wasApplied) return `nothing was stored; to store it: ${storing}${bad.length > 0 ? ' --partial' : ''}`;
    return `nothing was stored, because ${countNoun(bad.length, 'row')} cannot be taken; mend the list, or take the others: ${storing} --partial`;
  }
}

const toWords = (verdict: string): string => verdict.replaceAll('_', ' ');

/** Whether a list is written to this file as a workbook. */
const isWorkbook = (file: string): boolean => extname(file).toLowerCase() === '.xlsx';

/** The file itself, unless its ending promises a kind that nobody here writes; throws ConfigError then. */
function refuseUnknownKind(file: string): string {
  if (!/\.(ods|xls|xlsm|xlsb|pdf)$/i.test(file)) return file;
  const message = `${file}: a working list is written as .csv or .xlsx`;
  throw flagError('--out', message);
}

/**
 * Writes a working list as a workbook or as CSV, by the ending of the file; gives how many items did not fit, and what to say of it. Names of
 * customers are for their owner's eyes only, and nobody finds half a list.
 */
async function writeWorkingList(
  file: string,
  list: WorkingList,
  { roster, ofDiscrepancies }: { roster: string | null; ofDiscrepancies: boolean },
): Promise<{ leftOut: number; notice: string }> {
  const lists = await import('../../reports/review-list.js');
  if (!isWorkbook(file) && ofDiscrepancies) {
    await writePrivately(file, [...lists.renderDiscrepancyList(list.discrepancies.listed)].join(''));
    return { leftOut: 0, notice: '' };
  }
  if (!isWorkbook(file)) {
    await writePrivately(file, [...lists.renderWorkingList(list.items)].join(''));
    return { leftOut: 0, notice: '' };
  }
  const waiting = list.items.length;
  const ofRoster = roster === null ? '' : ` --roster ${quoteArgument(roster)}`;
  const toWhole = (out: string): string => `nightscreen review export${ofRoster} --out ${quoteArgument(out)}`;
  // Whoever fills it in has it somewhere else.
  const importCommand = `nightscreen review import ${quoteArgument(basename(file))}`;
  const discrepancySheet = lists.toDiscrepancySheet(list.discrepancies, { at: list.exportedAt });
  const facts = { ...list, waiting, discrepancySheet, importCommand, wholeListCommand: toWhole('review.csv') };
  await writePrivately(file, lists.renderWorkingListWorkbook(list.items, facts));
  const leftOut = Math.max(0, waiting - lists.maxListRows);
  const notice =
    leftOut === 0
      ? ''
      : `${countNoun(leftOut, 'item')} more did not fit; a list of all: ${toWhole(join(dirname(file), 'review.csv'))}\n`;
  return { leftOut, notice };
}

/** The options of `review import`. */
interface LegacyImportOptions {
  apply?: true;
  partial?: true;
  reviewer?: string;
  unmatched?: string;
}

/** Says what taking over the decisions of an older system would do, and with `apply` does it. */
async function importLegacyList(invocation: Invocation, file: string, options: LegacyImportOptions): Promise<Outcome> {
  const { importLegacy, findUntaken, renderUntaken } = await import('../../runs/review/legacy.js');
  const { findReviewer } = await import('../../runs/review/people.js');
  const config = loadInvocationConfig(invocation);
  const { path, unmatched } = findFiles(invocation.folder, file, options.unmatched);
  return withAppContext(invocation, { config, needsDatabase: true }, async (app) => {
    const { apply = false, partial = false } = options;
    const reviewer = await findReviewer(app.database, options.reviewer, !apply);
    const imported = await importLegacy(app, { path, reviewer, apply, partial });
    const untaken = findUntaken(imported.rows);
    // What an earlier attempt could not take is no longer true.
    const isThere = await access(unmatched).then(
      () => true,
      () => false,
    );
    if (untaken.length > 0 || isThere) await writePrivately(unmatched, renderUntaken(untaken));
    if (imported.isApplied) await notifyDecidedStates(app, invocation);
    return presentLegacy(imported, untaken, { file, unmatched, wasApplied: apply });
  });
}

/** Throws ConfigError for what only the list of an older system can be given. */
function refuseLegacyOptions({ unmatched }: LegacyImportOptions): void {
  if (unmatched === undefined) return;
  throw flagError('--unmatched', 'goes with --legacy only');
}

function findFiles(folder: string, file: string, given: string | undefined): { path: string; unmatched: string } {
  const path = resolve(folder, file);
  const unmatched = given === undefined ? join(dirname(path), 'unmatched.csv') : resolve(folder, given);
  if (unmatched !== path) return { path, unmatched };
  const message = `${file} would be overwritten by what cannot be taken of it: name another file`;
  throw flagError('--unmatched', message);
}

const linesShown = 30;

/** What became, or would become, of the decisions of an older system. */
export function presentLegacy(
  { isApplied, rows, proposed }: ImportedLegacy,
  untaken: readonly { row: ImportedLegacy['rows'][number]['row']; reason: string; problem: string }[],
  { file, unmatched, wasApplied }: { file: string; unmatched: string; wasApplied: boolean },
): Outcome {
  const countOf = (kind: (typeof rows)[number]['kind']): number => rows.filter((row) => row.kind === kind).length;
  const countOn = (mode: RunMode): number =>
    rows.filter((row) => (row.kind === 'decided' || row.kind === 'sample') && row.mode === mode).length;
  const counts = {
    rows: new Set(rows.map(({ row }) => row.line)).size,
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
    [isApplied ? 'taken over for 90 days' : 'would be taken over for 90 days', String(counts.decided)],
    proposed > 0 && ['for another person to confirm', String(proposed)],
    ['left open as a sample', String(counts.sample)],
    counts.onLiveAccounts > 0 && ['of these on a live account', String(counts.onLiveAccounts)],
    counts.onTestAccounts > 0 && ['of these on a test account', String(counts.onTestAccounts)],
    ['taken before', String(counts.same)],
    ['not found here', String(counts.unmatched)],
    ['not taken', String(counts.refused)],
  ];
  const lines = untaken
    .slice(0, linesShown)
    .map(({ row: { line, cells }, problem }) => [`line ${line}`, toVisibleText(cells.customer_id), problem]);
  const more = untaken.length - lines.length;
  return {
    exitCode:
      wasApplied && !isApplied ? exitCodes.refused : untaken.length > 0 ? exitCodes.incomplete : exitCodes.complete,
    document: {
      schema: 'nightscreen/review-import-legacy/1',
      isApplied,
      counts,
      untaken: untaken.map(({ row: { line, cells }, reason, problem }) => ({
        line,
        customer: cells.customer_id || null,
        reason,
        problem,
      })),
      file: untaken.length === 0 ? null : unmatched,
    },
    text: [
      formatTable(table),
      lines.length === 0 ? '' : `\n${formatTable(lines)}`,
      more > 0 ? `and ${countNoun(more, 'row')} more\n` : '',
      untaken.length === 0 ? '' : `all of these, with the reasons: ${unmatched}\n`,
      `\n${describeNext()}\n`,
    ].join(''),
  };

  function describeNext(): string {
    const command = `nightscreen review import --legacy ${quoteArgument(file)} --apply`;
    const isStored = counts.decided + counts.proposed + counts.sample > 0;
    if (isApplied && isStored) return 'stored';
    if (isApplied) return 'nothing was stored, because nothing in the list can be taken that was not taken before';
    if (!wasApplied) return `nothing was stored; to store it: ${command}${untaken.length > 0 ? ' --partial' : ''}`;
    return `nothing was stored, because ${countNoun(untaken.length, 'row')} cannot be taken; mend them, or take the others: ${command} --partial`;
  }
}
