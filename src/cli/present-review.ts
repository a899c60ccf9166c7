import { basename, dirname, extname, join } from 'node:path';
import { flagError } from '../errors.js';
import { writePrivately } from '../files.js';
import { mostAcceptedDays } from '../reconciliation/discrepancy.js';
import { countNoun, toVisibleText } from '../reports/text.js';
import { describeOwner, detailWords, severityWords } from '../reports/words.js';
import { quoteArgument } from '../runs/quote-argument.js';
import type { ImportedDecisions, ShownItem } from '../runs/review/decide.js';
import type { WorkingList } from '../runs/review/lists.js';
import { exitCodes } from './exit-code.js';
import type { Outcome } from './invocation.js';
import { formatTable, type Row } from './text.js';

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
export function presentExport(
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

/** The items of a customer with their histories. */
export function presentItemHistories(reference: string, items: readonly ShownItem[]): Outcome {
  const document = { schema: 'nightscreen/review-history/1', reference, items } as const;
  if (items.length === 0) {
    const text = `nothing was ever to be decided about ${reference}\n`;
    return { exitCode: exitCodes.complete, document, text };
  }
  return { exitCode: exitCodes.complete, document, text: items.map(formatItem).join('\n') };
}

function formatItem({ mark, roster, mode, party, listed, severity, details, history, ...item }: ShownItem): string {
  const { state, absence, openedAt, dueAt, owner } = item;
  const waits = state === 'open' || state === 'proposed';
  const head: Row[] = [
    ['item', mark],
    [
      'customer',
      `${party.reference} in ${roster} (${party.role}), ${party.name}, born ${party.birthDate ?? 'unknown'}`,
    ],
    [
      'listed',
      `${listed.name}, ${listed.topics.join(', ') || 'for nothing named'}, born ${listed.birthDates.join(' or ') || 'unknown'}`,
    ],
    [
      'state',
      `${state}${absence === null ? '' : ` (${toWords(absence)})`}, ${severityWords[severity].toLowerCase()}${waits ? `, since ${toMinute(openedAt)}` : ''}${dueAt === null || !waits ? '' : `, due ${toMinute(dueAt)}`}`,
    ],
    owner !== null && ['assigned to', describeOwner(owner)],
    mode === 'test' && ['mode', 'test'],
    ...details.map(({ kind, id, fetchedAt, digest }) => [
      'kept',
      `${detailWords[kind]} ${id}, ${toMinute(fetchedAt)}, SHA-256 ${digest}`,
    ]),
  ];
  const rows = history.map(({ at, what, who, isAttested, reason, comment }) => [
    toMinute(at),
    what.replaceAll('_', ' '),
    who === null ? '' : `${who}${isAttested ? ' (attested)' : ''}`,
    [reason, ...(comment === null ? [] : [comment])].join(' - '),
  ]);
  return `${formatTable(head)}${formatTable(rows)}`;
}

const toWords = (verdict: string): string => verdict.replaceAll('_', ' ');
const toMinute = (at: Date): string => at.toISOString().slice(0, 16).replace('T', ' ');

/** Whether a list is written to this file as a workbook. */
const isWorkbook = (file: string): boolean => extname(file).toLowerCase() === '.xlsx';

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
  const { maxListRows, renderWorkingListWorkbook } = await import('../reports/review-list.js');
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
