import type { ColumnDoubts } from '../roster/doubts.js';
import type { DoubtReason, RejectReason } from '../vocabulary.js';
import type { CanaryFacts, NotScreenedFacts, RateFacts, WatchFacts } from './list-facts.js';
import type { SnapshotFacts } from './run-facts.js';
import { countNoun, formatCount, toVisibleText } from './text.js';

/** Why a roster row was rejected, in words. */
export const rejectWords: Readonly<Record<RejectReason, string>> = {
  missing_id: 'no customer id',
  missing_name: 'no name',
  missing_type: 'no type (person or entity)',
  unknown_type: 'type is neither person nor entity',
  invalid_birth_date: 'birth date cannot be read',
  unknown_country: 'unknown country',
  unknown_risk_tier: 'risk tier is not low, medium or high',
  control_character: 'contains a control character',
  id_too_long: 'customer id too long',
  name_too_long: 'name too long',
  name_without_letters: 'name without any letter',
  wrong_column_count: 'more or fewer fields than the header; after correction, empty the cell rejected_reason',
  conflicting_id: 'same customer id as another row with different contents',
  malformed_csv: 'broken CSV, for example an unclosed quote; after correction, empty the cell rejected_reason',
  too_many_parties: 'more than 10,000 names of one customer',
  field_too_long: 'field too long',
  line_break_in_name: 'line break inside a name',
  replacement_character: 'contains U+FFFD, the mark of a letter that was lost in a conversion',
  unknown_standing: 'does not say whether the customer is active',
  invalid_end_date: 'end date cannot be read',
  unknown_role: 'role of a related party is not known',
  unknown_customer: 'related party of a customer that is not on the roster',
};

/** Why a value of an accepted row counts as unknown, in words. */
export const doubtWords: Readonly<Record<DoubtReason, string>> = {
  says_unknown: 'the value itself means unknown',
  invalid_birth_date: 'not a readable date',
  no_such_day: 'not a day of the calendar',
  ambiguous_date: 'can mean two dates, and no format is configured',
  year_too_early: 'a year before 1850',
  year_in_future: 'a date in the future',
  hijri_year: 'a year before 1850: it looks like the Hijri calendar',
  buddhist_year: 'a year in the future: it looks like the Buddhist calendar',
  unknown_country: 'not a known country',
  ambiguous_country: 'can mean two countries',
  stateless: 'means that there is no country',
  unknown_risk_tier: 'risk tier is not low, medium or high',
  unknown_standing: 'does not say whether the customer is active',
  invalid_end_date: 'not a readable day',
  unreadable_alias: 'not a name: without letters, too long, or with a control character',
  control_character: 'contains a control character',
  replacement_character: 'contains U+FFFD, the mark of a letter that was lost in a conversion',
};

/** The outcome of a customer that is not screened, in words. */
export const outcomeWords: Readonly<Record<NotScreenedFacts['outcome'], string>> = {
  failed: 'Failed',
  remaining: 'Not reached',
  skipped: 'Skipped',
};

const knownReasons: ReadonlyMap<string, string> = new Map([
  ['ok', 'answered'],
  ['aborted', 'cancelled by this program'],
  ['account', 'account refused'],
  ['address', 'address of the service refused'],
  ['authentication_error', 'key refused'],
  ['bad_response', 'invalid answer'],
  ['budget', 'search budget reached'],
  ['cadence', 'due again'],
  ['changed', 'name, type, birth date or country changed, or the customer returned'],
  ['canary_failed', 'a control search failed, so the answers after the last control searches that passed do not count'],
  ['conflicting_duplicate', 'its rows contradict each other, and it has no accepted record'],
  ['connect_timeout', 'no connection in time'],
  ['connection', 'connection lost'],
  ['connection_failed', 'no connection'],
  ['connection_refused', 'connection refused'],
  ['connection_reset', 'connection reset'],
  ['forced', 'selected: on a published list, or all customers were selected'],
  ['echo_mismatch', 'answer to another search'],
  ['held', 'answered, but the answers of the run are held'],
  ['invalid_body', 'invalid answer'],
  ['max_searches', 'limit of this start reached'],
  ['name_not_resolved', 'service host not found'],
  ['new', 'never screened'],
  ['not_confirmed', 'answered, but no control search passed after it'],
  ['not_due', 'screened recently, not due yet'],
  ['not_json', 'answer is not JSON'],
  ['not_selected', 'not selected for this run'],
  ['over_budget', 'not searched because the search budget is used up'],
  ['outage', 'service not reachable'],
  ['overdue', 'overdue'],
  ['payment_required', 'payment required for the account'],
  ['previously_failed', 'the last search for it failed'],
  ['rate_limit_exceeded', 'too many calls'],
  ['related_party_unreadable', 'a related party is unreadable and has no accepted record'],
  ['remaining', 'the run stopped before'],
  ['roster_held', 'new in a roster that is held'],
  ['row_rejected', 'its row was rejected, and it has no accepted record'],
  ['signal', 'stopped on request'],
  ['service_unavailable', 'screening temporarily unavailable'],
  ['timeout', 'no answer in time'],
  ['tls_failed', 'no secure connection'],
  ['too_large', 'answer too large'],
  ['unauthorized', 'key refused'],
  ['unknown', 'outcome unknown'],
]);

/** The code of a reason in words; an unknown code without its underscores. */
export function describeReason(code: string): string {
  const [, status] = /^(?:http_)?(\d{3})$/.exec(code) ?? [];
  if (status !== undefined) return `with status ${status}`;
  return knownReasons.get(code) ?? toVisibleText(code).replaceAll('_', ' ');
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
  const { overriddenGuards, conflicts, partyRejected, otherRoles, unreadableIds, keptRecords } = snapshot;
  return [
    ...listDropRemarks(droppedParties),
    ...(overriddenGuards.length > 0
      ? [`The roster was accepted although guards held it: ${overriddenGuards.join(', ')}.`]
      : []),
    ...(conflicts > 0
      ? [
          `${countNoun(conflicts, 'customer id')} ${conflicts === 1 ? 'has' : 'have'} rows that contradict each other: all names in them are searched for.`,
        ]
      : []),
    ...(keptRecords > 0
      ? [
          `${countNoun(keptRecords, 'customer')} whose row was rejected ${keptRecords === 1 ? 'is' : 'are'} screened with the last accepted record.`,
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
          `${countNoun(otherRoles, 'related party', 'related parties')} ${otherRoles === 1 ? 'has' : 'have'} an unknown role and ${otherRoles === 1 ? 'is' : 'are'} screened as other. Add the role to the values of columns.role.`,
        ]
      : []),
    ...(partyRejected > 0
      ? [
          `${countNoun(partyRejected, 'row')} of related parties ${partyRejected === 1 ? 'was' : 'were'} rejected: a known customer keeps its former parties.`,
        ]
      : []),
  ];
}

/** Without the values, because remarks are mailed. */
const toDoubtRemark = (column: ColumnDoubts): string =>
  `${describeDoubts(column)} ${column.doubts === 1 ? 'is' : 'are'} in doubt and ${column.doubts === 1 ? 'counts' : 'count'} as unknown. The customers are screened.`;

const describeDoubts = ({ column, doubts, read }: ColumnDoubts): string =>
  `${formatCount(doubts)} of ${countNoun(doubts + read, 'value')} of column ${toVisibleText(column)}`;

/** The values in doubt as table lines, column by column. */
export const listDoubtLines = (columns: readonly ColumnDoubts[]): readonly [string, string][] =>
  columns.map((column, index) => [
    index === 0 ? 'in doubt' : '',
    `${describeDoubts(column)}${column.values.length === 0 ? '' : `: ${describeDoubtedValues(column)}`}`,
  ]);

/** The most frequent values in doubt of a column, each with the reason. */
export const describeDoubtedValues = ({ values, doubts }: ColumnDoubts): string => {
  const rest = doubts - values.reduce((sum, { rows }) => sum + rows, 0);
  const shown = values.map(
    ({ value, why, rows }) =>
      `${JSON.stringify(toVisibleText(value))}${rows === 1 ? '' : ` (${formatCount(rows)} times)`}: ${doubtWords[why]}`,
  );
  return [...shown, ...(rest > 0 ? [`and ${formatCount(rest)} more`] : [])].join('; ');
};

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
  const drift = describeDrift(watch);
  return [...rises, ...(drift === null ? [] : [drift]), ...(watch?.listCap ? [describeListCap(watch.listCap)] : [])];
}

/** A notice that unusually many or few of the service's data changed; null where the volume is usual or unknown. */
export function describeDrift(watch: WatchFacts | null): string | null {
  const volume = watch?.volume ?? null;
  if (volume === null || (volume.verdict !== 'high' && volume.verdict !== 'low')) return null;
  const means =
    volume.verdict === 'high'
      ? 'its lists, ids or scores may have drifted'
      : 'the service may no longer update its lists';
  return `${describeVolume(volume)}: ${means}`;
}

function describeVolume({ perThousand, usual, formerRuns, verdict }: RateFacts): string {
  const found = `${toFigure(perThousand)} changes of the service's data per 1,000 searches`;
  if (usual === null) return `${found}; there is no former run to compare with`;
  return `${found}, usually ${toFigure(usual)} (median of ${countNoun(formerRuns, 'run')}), ${verdictWords[verdict]}`;
}

/** All facts of the service watch, one line each. */
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
  unknown: 'not assessed',
};

function describeRate(name: string, { perThousand, usual, formerRuns, verdict }: RateFacts): string {
  const found = `${toFigure(perThousand)} ${name} per 1,000 customers screened`;
  if (usual === null) return `${found}; there is no former run to compare with`;
  const runs = countNoun(formerRuns, 'run');
  return `${found}, usually ${toFigure(usual)} (median of ${runs}): ${verdictWords[verdict]}`;
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
        `${toFigure(perThousand)} ${name} per 1,000 customers screened, usually ${toFigure(usual ?? 0)} (median of ${formerRuns} runs)`,
    );
}

function describeListCap({ length, status, customers }: NonNullable<WatchFacts['listCap']>): string {
  const lists = `lists of ${formatCount(length)} results`;
  const concerned = countNoun(customers, 'customer');
  const has = customers === 1 ? 'has' : 'have';
  if (status === 'gone') {
    return `${lists} count as complete again, because longer lists were seen or shorter ones seem truncated: ${concerned} ${has} one`;
  }
  const look = status === 'found' ? 'seem to be truncated silently' : 'are known to be truncated silently';
  return `${lists} ${look}: ${concerned} ${has} one and, without a hit, ${customers === 1 ? 'counts' : 'count'} as truncated`;
}

/** The rounds of a control search: `3 passed` or `round 2 failed (after 10,000 searches)`. */
export function describeRounds({ rounds }: Pick<CanaryFacts, 'rounds'>): string {
  const failed = rounds.filter((round) => round.verdict === 'failed');
  if (failed.length === 0) return `${formatCount(rounds.length)} passed`;
  return failed
    .map(({ round, searches }) => `round ${round} failed (after ${countNoun(searches, 'search', 'searches')})`)
    .join(', ');
}

/** A rate with one decimal, or three digits when it is small. */
const toFigure = (rate: number): string => (rate >= 10 ? rate.toFixed(1) : String(Number(rate.toPrecision(3))));
