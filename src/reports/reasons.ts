import type { ColumnDoubts } from '../roster/doubts.js';
import { describeFormats } from '../vocabulary/date-formats.js';
import type { FactsOf, restorationSchema } from '../vocabulary/facts.js';
import { codeWords, toWords } from '../vocabulary/words.js';
import type { DoubtReason } from '../vocabulary.js';
import type { ControlFacts, RateFacts, SnapshotFacts, WatchFacts } from './run-facts.js';
import { countNoun, formatCount, keep, toVisibleText } from './text.js';

/** The code of a reason in words; an unknown code without its underscores. */
export function describeReason(code: string): string {
  const [, status] = /^(?:http_)?(\d{3})$/.exec(code) ?? [];
  if (status !== undefined) return `with status ${status}`;
  return codeWords.reason.get(code) ?? toWords(toVisibleText(code));
}

/** The result of an import in figures: customers that joined, changed, are absent, left or returned, and rows of related parties. */
export function describeSnapshot(snapshot: SnapshotFacts): string {
  const { isDelta, joined, changed, absent, leavers, returned, partyRows } = snapshot;
  const counts = [
    ['joined', joined],
    ['changed', changed],
    ['absent', absent],
    ['offboarded', leavers],
    ['returned', returned],
  ] as const;
  const words = counts.map(([name, count]) => `${formatCount(count)} ${name}`).join(', ');
  const parties = partyRows === 0 ? '' : `; ${countNoun(partyRows, 'row')} of related parties`;
  return `${words}${parties}${isDelta ? '; only a part of the roster' : ''}`;
}

/** What a reader must know about an import besides its counts: overridden guards, contradictions, rejected and dropped related parties. */
export function listSnapshotRemarks(
  snapshot: SnapshotFacts | null,
  droppedParties = snapshot?.droppedParties ?? 0,
): readonly string[] {
  if (snapshot === null) return listDropRemarks(droppedParties);
  const { overriddenGuards, conflicts, partyRejected, otherRoles, unreadableIds, keptRecords, reread } = snapshot;
  return keep(
    ...listDropRemarks(droppedParties),
    overriddenGuards.length > 0 && `The roster was accepted although guards held it: ${overriddenGuards.join(', ')}.`,
    reread.length > 0 && `${describeReread(reread)}.`,
    conflicts > 0 &&
      `${countNoun(conflicts, 'customer id')} ${conflicts === 1 ? 'has' : 'have'} rows that contradict each other: all names in them are searched for.`,
    keptRecords > 0 &&
      `${countNoun(keptRecords, 'customer')} whose row was rejected ${keptRecords === 1 ? 'is' : 'are'} screened with the last accepted record.`,
    ...snapshot.doubts.map(toDoubtRemark),
    unreadableIds > 0 &&
      `${countNoun(unreadableIds, 'rejected row')} ${unreadableIds === 1 ? 'has' : 'have'} no readable customer id: a customer may be missing because of ${unreadableIds === 1 ? 'it' : 'them'}.`,
    otherRoles > 0 &&
      `${countNoun(otherRoles, 'related party', 'related parties')} ${otherRoles === 1 ? 'has' : 'have'} no known role and ${otherRoles === 1 ? 'is' : 'are'} screened as other. A role that you know belongs under role in the mapping.`,
    partyRejected > 0 &&
      `${countNoun(partyRejected, 'row')} of related parties ${partyRejected === 1 ? 'was' : 'were'} rejected: a known customer keeps its former parties.`,
  );
}

/** Which settings have changed, and what it means. */
export const describeReread = (paths: readonly string[]): string =>
  `The mapping of ${paths.join(', ')} has changed: other values that it reads are no change of customers`;

/** Without the values, because remarks are mailed. */
function toDoubtRemark(column: ColumnDoubts): string {
  const are = column.doubts === 1 ? 'is' : 'are';
  if (column.field === 'namePart') {
    return `${describeDoubts(column)} ${are} ${column.doubts === 1 ? 'a placeholder' : 'placeholders'} and left out of the name that is searched for.`;
  }
  if (column.field === 'id') {
    return `${describeDoubts(column)} ${are} in doubt: a spreadsheet has changed ${column.doubts === 1 ? 'it' : 'them'}, so two customers may have the same id. The customers are screened; export the column as text.`;
  }
  if (column.field === 'name') {
    return `${describeDoubts(column)} ${are} in doubt: searched as written, and without a hit the customer is not screened. Correct the roster, name the \`separator\` of several parties in one cell, or list a name that is right under columns.realNames.`;
  }
  const formats = describeFormats(column.values);
  const remedy = formats === null ? '' : ` Write the format of the dates in the mapping: ${formats}.`;
  return `${describeDoubts(column)} ${are} in doubt and ${column.doubts === 1 ? 'counts' : 'count'} as unknown. The customers are screened.${remedy}`;
}

const describeDoubts = ({ column, doubts, read }: ColumnDoubts): string =>
  `${formatCount(doubts)} of ${countNoun(doubts + read, 'value')} of column ${toVisibleText(column)}`;

/** The values in doubt as table lines, column by column; without `hasValues` they are counted by reason. */
export const listDoubtLines = (
  columns: readonly ColumnDoubts[],
  { hasValues }: { hasValues: boolean },
): readonly [string, string][] =>
  columns.map((column, index) => [
    index === 0 ? 'in doubt' : '',
    `${describeDoubts(column)}${column.values.length === 0 ? '' : `: ${describeDoubtedValues(column, hasValues)}`}`,
  ]);

type DoubtedValues = ColumnDoubts['values'];

/** One entry for each reason, without the values, which are personal data. */
function mergeByReason(values: DoubtedValues): DoubtedValues {
  const rowsByReason = new Map<DoubtReason, number>();
  for (const { why, rows } of values) rowsByReason.set(why, (rowsByReason.get(why) ?? 0) + rows);
  return [...rowsByReason].map(([why, rows]) => ({ value: '', why, rows }));
}

/** The most frequent values in doubt of a column, each with the reason. */
export const describeDoubtedValues = ({ field, values, doubts }: ColumnDoubts, hasValues = true): string => {
  const rest = doubts - values.reduce((sum, { rows }) => sum + rows, 0);
  const noun = field === 'name' || field === 'namePart' ? 'name' : 'value';
  const shown = (hasValues ? values : mergeByReason(values)).map(
    ({ value, why, rows }) =>
      `${value === '' ? countNoun(rows, noun) : describeValue(value, rows)}: ${codeWords.doubt[why]}`,
  );
  const formats = describeFormats(values);
  return keep(
    ...shown,
    rest > 0 && `and ${formatCount(rest)} more`,
    formats !== null && `write the format of the dates: ${formats}`,
  ).join('; ');
};

const describeValue = (value: string, rows: number): string =>
  `${JSON.stringify(toVisibleText(value))}${rows === 1 ? '' : ` (${formatCount(rows)} times)`}`;

function listDropRemarks(parties: number): readonly string[] {
  if (parties === 0) return [];
  const who = `${countNoun(parties, 'related party', 'related parties')} with an open alert, a true match or a truncated list`;
  return [
    `${who} ${parties === 1 ? 'is' : 'are'} no longer in the source. Parties with a waiting alert stay in scope until it is decided; the report lists all.`,
  ];
}

/** The rates that are unusually low, each with both figures. */
export function describeDrops(watch: WatchFacts | null): readonly string[] {
  return describeRates(watch, 'low').map((words) => `${words}, less than half: the service may be broken`);
}

/** The other notices of the service watch: unusually high rates, drift of the data, truncated lists. */
export function describeNotices(watch: WatchFacts | null): readonly string[] {
  const rises = describeRates(watch, 'high').map((words) => `${words}, more than twice as many`);
  return keep(...rises, describeDrift(watch), watch?.listCap && describeListCap(watch.listCap));
}

/** A notice that unusually many or few of the service's data changed; null where the volume is usual or unknown. */
export function describeDrift(watch: WatchFacts | null): string | null {
  const volume = watch?.volume ?? null;
  if (volume === null || (volume.verdict !== 'high' && volume.verdict !== 'low')) return null;
  const means =
    volume.verdict === 'high'
      ? 'its lists, ids or scores may have drifted'
      : 'the service may no longer update its lists';
  return `${describeRate('volume', volume)}, ${codeWords.rate[volume.verdict]}: ${means}`;
}

/** All facts of the service watch, one line each. */
export function describeWatch({ rates, volume, listCap }: WatchFacts): readonly string[] {
  const describe = (name: keyof typeof rateWords, rate: RateFacts): string =>
    rate.usual === null ? describeRate(name, rate) : `${describeRate(name, rate)}: ${codeWords.rate[rate.verdict]}`;
  return keep(
    rates && describe('matches', rates.matches),
    rates && describe('hits', rates.hits),
    volume && describe('volume', volume),
    listCap && describeListCap(listCap),
  );
}

const rateWords = {
  matches: 'matches per 1,000 customers screened',
  hits: 'hits per 1,000 customers screened',
  volume: "changes of the service's data per 1,000 searches",
} as const;

function describeRate(name: keyof typeof rateWords, { perThousand, usual, formerRuns }: RateFacts): string {
  const found = `${toFigure(perThousand)} ${rateWords[name]}`;
  if (usual === null) return `${found}; there is no former run to compare with`;
  return `${found}, usually ${toFigure(usual)} (median of ${countNoun(formerRuns, 'run')})`;
}

const describeRates = (watch: WatchFacts | null, verdict: 'low' | 'high'): readonly string[] =>
  (['matches', 'hits'] as const).flatMap((name) => {
    const rate = watch?.rates?.[name];
    return rate?.verdict === verdict ? [describeRate(name, rate)] : [];
  });

function describeListCap({ length, standing, customers }: NonNullable<WatchFacts['listCap']>): string {
  const lists = `lists of ${formatCount(length)} results`;
  const concerned = countNoun(customers, 'customer');
  const has = customers === 1 ? 'has' : 'have';
  if (standing === 'gone') {
    return `${lists} count as complete again, because longer lists were seen or shorter ones seem truncated: ${concerned} ${has} one`;
  }
  const look = standing === 'found' ? 'seem to be truncated silently' : 'are known to be truncated silently';
  return `${lists} ${look}: ${concerned} ${has} one and, without a hit, ${customers === 1 ? 'counts' : 'count'} as truncated`;
}

/** The rounds of a control search: `3 passed` or `round 2 failed (after 10,000 searches)`. */
export function describeRounds({ rounds }: Pick<ControlFacts, 'rounds'>): string {
  const failed = rounds.filter((round) => round.verdict === 'failed');
  if (failed.length === 0) return `${formatCount(rounds.length)} passed`;
  return failed
    .map(({ round, searches }) => `round ${round} failed (after ${countNoun(searches, 'search', 'searches')})`)
    .join(', ');
}

/** A rate with one decimal, or three digits when it is small. */
const toFigure = (rate: number): string => (rate >= 10 ? rate.toFixed(1) : String(Number(rate.toPrecision(3))));

/** What a restore of the database means for a reader of results. */
export function describeRestoration({ restoredAt, backupAt, lostRuns }: FactsOf<typeof restorationSchema>): string {
  const runs =
    lostRuns.length === 0
      ? ''
      : `, also ${countNoun(lostRuns.length, 'run')} whose reports exist: ${lostRuns.join(', ')}`;
  return (
    `the database was restored on ${restoredAt.toISOString()} from a backup of ${backupAt.toISOString()}. ` +
    `All runs, dispositions and acceptances in between are missing${runs}. ` +
    'Ask the reviewers to repeat what they decided in between'
  );
}
