import { severityWords } from '../reports/change-words.js';
import { detailWords } from '../reports/detail-words.js';
import { countNoun } from '../reports/format-count.js';
import type { ImportedDecisions } from '../runs/reviewing/import-decisions.js';
import type { ItemHistory } from '../store/item-history.js';
import { exitCodes } from './exit-code.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';

const refusalWords = {
  unknown_item: 'no such item here: the list is of another database',
  no_longer_listed: 'the match is no longer listed',
  changed_since: 'what was to be seen has changed since the list was written: export again',
  decided_since: 'somebody has decided about it since the list was written: export again',
} as const;

/** What became, or would become, of a working list. */
export function presentImportedDecisions(imported: ImportedDecisions, file: string, wasApplied: boolean): Outcome {
  const { isApplied, decided, sameAlready, refused, faulty, undecided } = imported;
  const bad = [
    ...refused.map(({ row, reason }): [number, string] => [row.line, refusalWords[reason]]),
    ...faulty.map(({ line, problem }): [number, string] => [line, problem]),
  ].sort(([left], [right]) => left - right);
  const counts = [
    [isApplied ? 'decided' : 'would be decided', String(decided.length)],
    ['decided so already', String(sameAlready.length)],
    ['not decided in the list', String(undecided)],
    ['cannot be taken', String(bad.length)],
  ];
  const lines = bad.map(([line, words]) => [`line ${line}`, words]);
  return {
    exitCode: wasApplied && !isApplied ? exitCodes.refused : bad.length > 0 ? exitCodes.incomplete : exitCodes.complete,
    document: {
      schema: 'nightscreen/review-import/1',
      isApplied,
      decided: decided.length,
      sameAlready: sameAlready.length,
      undecided,
      refused: refused.map(({ row, reason }) => ({ line: row.line, reason })),
      faulty: faulty.map(({ line, problem }) => ({ line, problem })),
    },
    text: [formatTable(counts), lines.length === 0 ? '' : `\n${formatTable(lines)}`, `\n${describeNext()}\n`].join(''),
  };

  function describeNext(): string {
    if (isApplied) return 'stored';
    const partial = bad.length > 0 ? ' --partial' : '';
    if (!wasApplied) return `nothing was stored; to store it: nightscreen review import ${file} --apply${partial}`;
    return `nothing was stored, because ${countNoun(bad.length, 'row')} cannot be taken; mend the list, or take the others: nightscreen review import ${file} --apply --partial`;
  }
}

/** The items of a customer with their histories. */
export function presentItemHistories(reference: string, items: readonly ItemHistory[]): Outcome {
  const document = { schema: 'nightscreen/review-history/1', reference, items } as const;
  if (items.length === 0) {
    const text = `nothing was ever to be decided about ${reference}\n`;
    return { exitCode: exitCodes.complete, document, text };
  }
  return { exitCode: exitCodes.complete, document, text: items.map(formatItem).join('\n') };
}

function formatItem({
  roster,
  mode,
  party,
  listed,
  state,
  severity,
  dueAt,
  assignedTo,
  details,
  history,
}: ItemHistory): string {
  const head: [string, string][] = [
    [
      'customer',
      `${party.reference} in ${roster} (${party.role}), ${party.name}, born ${party.birthDate ?? 'unknown'}`,
    ],
    [
      'listed',
      `${listed.name}, ${listed.topics.join(', ') || 'for nothing named'}, born ${listed.birthDates.join(' or ') || 'unknown'}`,
    ],
    [
      'stands',
      `${state}, ${severityWords[severity].toLowerCase()}${dueAt === null || state !== 'open' ? '' : `, due ${toMinute(dueAt)}`}`,
    ],
    ...(assignedTo === null ? [] : [['assigned to', assignedTo] satisfies [string, string]]),
    ...(mode === 'test' ? [['mode', 'test'] satisfies [string, string]] : []),
    ...details.map(({ kind, id, fetchedAt, digest }): [string, string] => [
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

const toMinute = (at: Date): string => at.toISOString().slice(0, 16).replace('T', ' ');
