import type { ColumnDoubts } from '../roster/doubts.js';
import { countNoun, formatCount } from './format-count.js';
import { doubtWords } from './reason-words.js';
import type { SnapshotFacts } from './run-facts.js';
import { toVisibleText } from './visible-text.js';

/** Who joined, changed, is absent, left or returned by an import, and how many related parties it read. */
export function describeSnapshot(snapshot: SnapshotFacts): string {
  const { isDelta, joined, changed, absent, leavers, returned, partyRows } = snapshot;
  const counts = [
    ['joined', joined],
    ['changed', changed],
    ['absent', absent],
    ['left', leavers],
    ['returned', returned],
  ] as const;
  const words = counts.map(([name, count]) => `${formatCount(count)} ${name}`).join(', ');
  const parties = partyRows === 0 ? '' : `; ${countNoun(partyRows, 'row')} of related parties`;
  return `${words}${parties}${isDelta ? '; a part of the roster only' : ''}`;
}

/** What a reader must know of an import beside its counts: overridden guards, contradictions, rejected related parties, dropped ones that
 * nobody has cleared. */
export function listSnapshotRemarks(snapshot: SnapshotFacts): readonly string[] {
  const { overriddenGuards, conflicts, partyRejected, otherRoles, unreadableIds, droppedParties, keptRecords } =
    snapshot;
  return [
    ...listDropRemarks(droppedParties),
    ...(overriddenGuards.length > 0
      ? [`The roster was taken although guards would have held it: ${overriddenGuards.join(', ')}.`]
      : []),
    ...(conflicts > 0
      ? [
          `${countNoun(conflicts, 'customer id')} ${conflicts === 1 ? 'has' : 'have'} rows that contradict each other: all names in them are searched for.`,
        ]
      : []),
    ...(keptRecords > 0
      ? [
          `${countNoun(keptRecords, 'customer')} whose row was rejected ${keptRecords === 1 ? 'is' : 'are'} screened by the last accepted record.`,
        ]
      : []),
    ...snapshot.doubts.map(toDoubtRemark),
    ...(unreadableIds > 0
      ? [
          `${countNoun(unreadableIds, 'rejected row')} ${unreadableIds === 1 ? 'has' : 'have'} no readable customer id: a customer may be missing because of ${unreadableIds === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...(otherRoles > 0
      ? [
          `${countNoun(otherRoles, 'related party', 'related parties')} ${otherRoles === 1 ? 'has' : 'have'} a role that is not known: screened as other. Add their words to the values of columns.role.`,
        ]
      : []),
    ...(partyRejected > 0
      ? [
          `${countNoun(partyRejected, 'row')} of related parties ${partyRejected === 1 ? 'was' : 'were'} rejected: a known customer keeps the parties that it had.`,
        ]
      : []),
  ];
}

/** Without the values: remarks are mailed. */
const toDoubtRemark = (column: ColumnDoubts): string =>
  `${describeDoubts(column)} ${column.doubts === 1 ? 'is' : 'are'} in doubt and ${column.doubts === 1 ? 'counts' : 'count'} as unknown: the customers are searched for all the same.`;

/** How many values of a column are in doubt. */
const describeDoubts = ({ column, doubts, read }: ColumnDoubts): string =>
  `${formatCount(doubts)} of ${countNoun(doubts + read, 'value')} of column ${toVisibleText(column)}`;

/** The values in doubt as lines for people, column by column. */
export const listDoubtLines = (columns: readonly ColumnDoubts[]): readonly [string, string][] =>
  columns.map((column, index) => [
    index === 0 ? 'in doubt' : '',
    `${describeDoubts(column)}${column.values.length === 0 ? '' : `: ${describeDoubtedValues(column)}`}`,
  ]);

/** The most frequent values of a column that are in doubt, each with the reason. */
export const describeDoubtedValues = ({ values, doubts }: ColumnDoubts): string => {
  const rest = doubts - values.reduce((sum, { rows }) => sum + rows, 0);
  const shown = values.map(
    ({ value, why, rows }) =>
      `${JSON.stringify(toVisibleText(value))}${rows === 1 ? '' : ` (${formatCount(rows)} times)`}: ${doubtWords[why]}`,
  );
  return [...shown, ...(rest > 0 ? [`and ${formatCount(rest)} more`] : [])].join('; ');
};

/** What a reader must know of parties with an open hit, a true match or a cut list that their source dropped; nothing where there are none. */
export function listDropRemarks(parties: number): readonly string[] {
  if (parties === 0) return [];
  const who = `${countNoun(parties, 'related party', 'related parties')} with an open hit, a true match or a cut list`;
  return [
    `${who} ${parties === 1 ? 'is' : 'are'} no longer in the source: what waits for a decision stays in scope until it is decided, and the report lists them.`,
  ];
}
