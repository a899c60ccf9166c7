import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { flagError } from '../../errors.js';
import { writePrivately } from '../../files.js';
import { countNoun, toVisibleText } from '../../reports/text.js';
import { quoteArgument } from '../../runs/quote-argument.js';
import { findUntaken, type ImportedLegacy } from '../../runs/review/legacy.js';
import type { RunMode } from '../../vocabulary.js';
import { exitCodes } from '../exit-code.js';
import type { Invocation, Outcome } from '../invocation.js';
import { withWorkplace } from '../session.js';
import { formatTable, type Row } from '../text.js';

/** The options of `review import`. */
export interface LegacyImportOptions {
  apply?: true;
  partial?: true;
  reviewer?: string;
  unmatched?: string;
}

/** Says what taking over the decisions of an older system would do, and with `apply` does it. */
export async function importLegacyList(
  invocation: Invocation,
  file: string,
  options: LegacyImportOptions,
): Promise<Outcome> {
  const { importLegacy, findUntaken, renderUntaken } = await import('../../runs/review/legacy.js');
  const { findReviewer } = await import('../../runs/review/people.js');
  const { tellDecidedStates } = await import('../notify.js');
  return withWorkplace(invocation, {
    needsDatabase: true,
    prepare: () => findFiles(invocation.folder, file, options.unmatched),
    work: async (workplace, { path, unmatched }) => {
      const { apply = false, partial = false } = options;
      const reviewer = await findReviewer(workplace.database, options.reviewer, !apply);
      const imported = await importLegacy(workplace, { path, reviewer, apply, partial });
      const untaken = findUntaken(imported.rows);
      // What an earlier attempt could not take is no longer true.
      const isThere = await access(unmatched).then(
        () => true,
        () => false,
      );
      if (untaken.length > 0 || isThere) await writePrivately(unmatched, renderUntaken(untaken));
      if (imported.isApplied) await tellDecidedStates(workplace, invocation);
      return presentLegacy(imported, { file, unmatched, wasApplied: apply });
    },
  });
}

/** Throws ConfigError for what only the list of an older system can be given. */
export function refuseLegacyOptions({ unmatched }: LegacyImportOptions): void {
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
  { file, unmatched, wasApplied }: { file: string; unmatched: string; wasApplied: boolean },
): Outcome {
  const untaken = findUntaken(rows);
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
