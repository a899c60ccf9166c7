import type { ColumnDoubts } from '../roster/doubts.js';
import type { DoubtReason, RejectReason } from '../vocabulary.js';
import type { CanaryFacts, NotScreenedFacts, RateFacts, WatchFacts } from './list-facts.js';
import type { SnapshotFacts } from './run-facts.js';
import { countNoun, formatCount, toVisibleText } from './text.js';

/** Why a roster row was rejected, in words that say what to mend. */
export const rejectWords: Readonly<Record<RejectReason, string>> = {
  missing_id: 'no customer id',
  missing_name: 'no name',
  missing_type: 'no type (person or entity)',
  unknown_type: 'type is neither person nor entity',
  invalid_birth_date: 'birth date cannot be read',
  unknown_country: 'unknown country',
  unknown_risk_tier: 'risk tier is not low, medium or high',
  control_character: 'holds a control character',
  id_too_long: 'customer id too long',
  name_too_long: 'name too long',
  name_without_letters: 'name without any letter',
  wrong_column_count: 'more or fewer fields than the header; once mended, empty the cell rejected_reason',
  conflicting_id: 'same customer id as another row with other contents',
  malformed_csv: 'broken CSV, for example an unclosed quote; once mended, empty the cell rejected_reason',
  too_many_parties: 'more than 10,000 names of one customer',
  field_too_long: 'field too long',
  line_break_in_name: 'line break inside a name',
  replacement_character: 'holds U+FFFD, which stands for a letter that was lost before',
  unknown_standing: 'does not say whether the customer is active',
  invalid_end_date: 'end date cannot be read',
  unknown_role: 'role of a related party is not known',
  unknown_customer: 'related party of a customer that is not on the roster',
};

/** Why a value counts as unknown although its row was accepted. */
export const doubtWords: Readonly<Record<DoubtReason, string>> = {
  says_unknown: 'says itself that it is not known',
  invalid_birth_date: 'no date that can be read',
  no_such_day: 'no day of the calendar',
  ambiguous_date: 'may be two dates, and no format is declared',
  year_too_early: 'a year before 1850',
  year_in_future: 'a date that is yet to come',
  hijri_year: 'a year before 1850: it looks like the Hijri calendar',
  buddhist_year: 'a year that is yet to come: it looks like the Buddhist calendar',
  unknown_country: 'no country that is known',
  ambiguous_country: 'may be two countries',
  stateless: 'says that there is no country',
  unknown_risk_tier: 'risk tier is not low, medium or high',
  unknown_standing: 'does not say whether the customer is active',
  invalid_end_date: 'no day that can be read for certain',
  unreadable_alias: 'no name: without letters, too long, or with a control character',
  control_character: 'holds a control character',
  replacement_character: 'holds U+FFFD, which stands for a letter that was lost before',
};

/** Why a customer is not screened, first part: what became of its plan. */
export const outcomeWords: Readonly<Record<NotScreenedFacts['outcome'], string>> = {
  failed: 'Failed',
  remaining: 'Not reached',
  skipped: 'Skipped',
};

const knownReasons: ReadonlyMap<string, string> = new Map([
  ['ok', 'answered'],
  ['aborted', 'given up by us'],
  ['account', 'account refused'],
  ['address', 'address of the service refused'],
  ['authentication_error', 'key refused'],
  ['bad_response', 'answer broke the contract'],
  ['budget', 'search budget reached'],
  ['cadence', 'due again'],
  ['changed', 'name, type, birth date or country changed, or back after having left'],
  ['canary_failed', 'a control search failed, so that nothing after the last ones that passed counts'],
  ['conflicting_duplicate', 'its rows contradict each other, and no record of it was ever accepted'],
  ['connect_timeout', 'no connection in time'],
  ['connection', 'connection broke'],
  ['connection_failed', 'no connection'],
  ['connection_refused', 'connection refused'],
  ['connection_reset', 'connection broke off'],
  ['forced', 'asked for: on a published list, or everybody was'],
  ['echo_mismatch', 'answer is to another question'],
  ['held', 'answered, but the answers of the run are held'],
  ['invalid_body', 'answer broke the contract'],
  ['max_searches', 'limit of this start reached'],
  ['name_not_resolved', 'service host not found'],
  ['new', 'never screened'],
  ['not_confirmed', 'answered, but no control search passed after it'],
  ['not_due', 'screened recently: the next run is soon enough'],
  ['not_json', 'answer is not JSON'],
  ['not_selected', 'not selected for this run'],
  ['over_budget', 'left out because the search budget is used up'],
  ['outage', 'service out of reach'],
  ['overdue', 'overdue'],
  ['payment_required', 'account could not pay'],
  ['previously_failed', 'the last search for it failed'],
  ['rate_limit_exceeded', 'too many calls'],
  ['related_party_unreadable', 'a related party of it cannot be read and was never known'],
  ['remaining', 'the run stopped before'],
  ['roster_held', 'new in a roster that guards hold'],
  ['row_rejected', 'its row was rejected, and no record of it was ever accepted'],
  ['signal', 'stopped on request'],
  ['service_unavailable', 'screening temporarily unavailable'],
  ['timeout', 'no answer in time'],
  ['tls_failed', 'no secure connection'],
  ['too_large', 'answer too large'],
  ['unauthorized', 'key refused'],
  ['unknown', 'outcome unknown'],
]);

/** A reason's code in words; an unknown code is shown as it is, without its underscores. */
export function describeReason(code: string): string {
  const [, status] = /^(?:http_)?(\d{3})$/.exec(code) ?? [];
  if (status !== undefined) return `with status ${status}`;
  return knownReasons.get(code) ?? toVisibleText(code).replaceAll('_', ' ');
}

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
export function listSnapshotRemarks(
  snapshot: SnapshotFacts | null,
  droppedParties = snapshot?.droppedParties ?? 0,
): readonly string[] {
  if (snapshot === null) return listDropRemarks(droppedParties);
  const { overriddenGuards, conflicts, partyRejected, otherRoles, unreadableIds, keptRecords } = snapshot;
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
function listDropRemarks(parties: number): readonly string[] {
  if (parties === 0) return [];
  const who = `${countNoun(parties, 'related party', 'related parties')} with an open hit, a true match or a cut list`;
  return [
    `${who} ${parties === 1 ? 'is' : 'are'} no longer in the source: what waits for a decision stays in scope until it is decided, and the report lists them.`,
  ];
}

/** What was found unusually seldom, each with both figures: such a service may be broken. */
export function describeDrops(watch: WatchFacts | null): readonly string[] {
  return describeRates(watch, 'low').map((words) => `${words}, less than half: the service may be broken`);
}

/** What else watching the service has shown: findings more than twice as usual, drift of its data, lists that look cut. */
export function describeNotices(watch: WatchFacts | null): readonly string[] {
  const rises = describeRates(watch, 'high').map((words) => `${words}, more than twice as many`);
  const drift = describeDrift(watch);
  return [...rises, ...(drift === null ? [] : [drift]), ...(watch?.listCap ? [describeListCap(watch.listCap)] : [])];
}

/** That far more or fewer of the service's data changed than usual; null where it is as usual or cannot be told. */
export function describeDrift(watch: WatchFacts | null): string | null {
  const volume = watch?.volume ?? null;
  if (volume === null || (volume.verdict !== 'high' && volume.verdict !== 'low')) return null;
  const means =
    volume.verdict === 'high'
      ? 'its lists, ids or scores may have drifted'
      : 'its lists may not be brought up to date any more';
  return `${describeVolume(volume)}: ${means}`;
}

function describeVolume({ perThousand, usual, formerRuns, verdict }: RateFacts): string {
  const found = `${toFigure(perThousand)} changes of the service's data per 1,000 searches`;
  if (usual === null) return `${found}; there is no former run to compare with`;
  return `${found} against ${toFigure(usual)} usually (median of ${countNoun(formerRuns, 'run')}), ${verdictWords[verdict]}`;
}

/** Everything that watching the service has shown, one line each: both rates beside what is usual, and lists that look cut. */
export function describeWatch(watch: WatchFacts): readonly string[] {
  const { rates, listCap, volume } = watch;
  const found = rates === null ? [] : [describeRate('matches', rates.matches), describeRate('hits', rates.hits)];
  const lines = volume === null ? found : [...found, describeVolume(volume)];
  return listCap === null ? lines : [...lines, describeListCap(listCap)];
}

const verdictWords = {
  low: 'less than half',
  high: 'more than twice as many',
  usual: 'as usual',
  unknown: 'not judged',
};

function describeRate(name: string, { perThousand, usual, formerRuns, verdict }: RateFacts): string {
  const found = `${toFigure(perThousand)} ${name} per 1,000 customers screened`;
  if (usual === null) return `${found}; there is no former run to compare with`;
  const runs = countNoun(formerRuns, 'run');
  return `${found} against ${toFigure(usual)} usually (median of ${runs}): ${verdictWords[verdict]}`;
}

function describeRates(watch: WatchFacts | null, verdict: 'low' | 'high'): readonly string[] {
  if (watch?.rates == null) return [];
  const { matches, hits } = watch.rates;
  return [
    { name: 'matches', ...matches },
    { name: 'hits', ...hits },
  ]
    .filter((rate) => rate.verdict === verdict)
    .map(
      ({ name, perThousand, usual, formerRuns }) =>
        `${toFigure(perThousand)} ${name} per 1,000 customers screened against ${toFigure(usual ?? 0)} usually (median of ${formerRuns} runs)`,
    );
}

function describeListCap({ length, status, customers }: NonNullable<WatchFacts['listCap']>): string {
  const lists = `lists of ${formatCount(length)} results`;
  const concerned = countNoun(customers, 'customer');
  const has = customers === 1 ? 'has' : 'have';
  if (status === 'gone') {
    return `${lists} are taken for whole again, because longer ones were seen or shorter ones look cut: ${concerned} ${has} one`;
  }
  const look = status === 'found' ? 'look cut without a word' : 'are known to be cut without a word';
  return `${lists} ${look}: ${concerned} ${has} one and, without a hit, ${customers === 1 ? 'counts' : 'count'} as incompletely seen`;
}

/** A canary's rounds in words, failed ones with their number: `3 passed` or `round 2 of 3 failed (after 10,000 searches)`. */
export function describeRounds({ rounds }: Pick<CanaryFacts, 'rounds'>): string {
  const failed = rounds.filter((round) => round.verdict === 'failed');
  if (failed.length === 0) return `${formatCount(rounds.length)} passed`;
  return failed
    .map(({ round, searches }) => `round ${round} failed (after ${countNoun(searches, 'search', 'searches')})`)
    .join(', ');
}

/** A rate with one decimal, or three digits when it is small. */
const toFigure = (rate: number): string => (rate >= 10 ? rate.toFixed(1) : String(Number(rate.toPrecision(3))));
