import { basename, dirname, extname, join } from 'node:path';
import { flagError } from '../errors.js';
import { countNoun } from '../reports/text.js';
import { quoteArgument } from '../runs/quote-argument.js';
import type { WorkingList } from '../runs/review/lists.js';
import { writePrivately } from './write-privately.js';

/** Whether a list is written to this file as a workbook. */
export const isWorkbook = (file: string): boolean => extname(file).toLowerCase() === '.xlsx';

/** The file itself, unless its ending promises a kind that nobody here writes; throws ConfigError then. */
export function refuseUnknownKind(file: string): string {
  if (!/\.(ods|xls|xlsm|xlsb|pdf)$/i.test(file)) return file;
  const message = `${file}: a working list is written as .csv or .xlsx`;
  throw flagError('--out', message);
}

/**
 * Writes a working list as a workbook or as CSV, by the ending of the file; gives how many items did not fit, and what to say of it. Names of
 * customers are for their owner's eyes only, and nobody finds half a list.
 */
export async function writeWorkingList(
  file: string,
  list: WorkingList,
  { roster, ofDiscrepancies }: { roster: string | null; ofDiscrepancies: boolean },
): Promise<{ leftOut: number; notice: string }> {
  const { renderDiscrepancyList, toDiscrepancySheet } = await import('../reports/discrepancy-list.js');
  if (!isWorkbook(file) && ofDiscrepancies) {
    await writePrivately(file, [...renderDiscrepancyList(list.discrepancies.listed)].join(''));
    return { leftOut: 0, notice: '' };
  }
  if (!isWorkbook(file)) {
    const { renderWorkingList } = await import('../reports/review-list.js');
    await writePrivately(file, [...renderWorkingList(list.items)].join(''));
    return { leftOut: 0, notice: '' };
  }
  const { maxListRows } = await import('../reports/review-list.js');
  const { renderWorkingListWorkbook } = await import('../reports/review-list.js');
  const waiting = list.items.length;
  const ofRoster = roster === null ? '' : ` --roster ${quoteArgument(roster)}`;
  const toWhole = (out: string): string => `nightscreen review export${ofRoster} --out ${quoteArgument(out)}`;
  // Whoever fills it in has it somewhere else.
  const importCommand = `nightscreen review import ${quoteArgument(basename(file))}`;
  const discrepancySheet = toDiscrepancySheet(list.discrepancies, { at: list.exportedAt });
  const facts = { ...list, waiting, discrepancySheet, importCommand, wholeListCommand: toWhole('review.csv') };
  await writePrivately(file, renderWorkingListWorkbook(list.items, facts));
  const leftOut = Math.max(0, waiting - maxListRows);
  const notice =
    leftOut === 0
      ? ''
      : `${countNoun(leftOut, 'item')} more did not fit; a list of all: ${toWhole(join(dirname(file), 'review.csv'))}\n`;
  return { leftOut, notice };
}
