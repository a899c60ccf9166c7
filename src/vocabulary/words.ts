// The words that readers see for stored codes, in reports, mail, messages and on the command line; each is here only.

/** A code without words of its own: `birth_date` as `birth date`. */
export const toWords = (code: string): string => code.replaceAll('_', ' ');

/** The words of each code, by the kind of the code. */
export const codeWords = {
  /** The dispositions; lists of reviewers accept the words and the codes. */
  disposition: {
    true_match: 'true match',
    false_positive: 'false positive',
    inconclusive: 'inconclusive',
    no_longer_matched: 'no longer matched',
  },
  /** The states of an alert. */
  alertState: {
    open: 'open',
    pending_approval: 'pending approval',
    false_positive: 'false positive',
    true_match: 'true match',
    no_longer_matched: 'no longer matched',
  },
  /** What a run did with an alert that waits. */
  alertNews: {
    opened: 'new',
    reopened: 're-opened',
    expired: 'disposition expired',
    escalated: 'more severe',
    returned: 'matched again',
  },
  /** The roles of a party. */
  role: {
    customer: 'customer',
    alias: 'alias',
    joint_holder: 'joint holder',
    director: 'director',
    beneficial_owner: 'beneficial owner',
    // Related in a way without a role of its own; screened like any other party.
    other: 'other related party',
    // Both names of two contradicting rows are searched.
    conflicting_row: 'name of a contradicting row',
  },
  /** The compared fields of a match. */
  matchField: {
    birth_date: 'born',
    country: 'countries',
    match: 'flagged as hit',
    name: 'name',
    schema: 'kind',
    score: 'score',
    topics: 'risk category',
  },
  /** What happened to a discrepancy in a comparison. */
  discrepancyEvent: {
    opened: 'new',
    returned: 're-opened',
    changed: 'changed',
    acceptance_ended: 'acceptance ended',
    resolved: 'resolved',
  },
  /** The kinds of runs, as titles. */
  runKind: {
    import: 'Roster import',
    screen: 'Screening',
    rescreen: 'Rescreening',
    onboard: 'Onboarding',
    sweep: 'Dossier sweep',
    check: 'Single check',
    assure: 'Measurement of recall',
    reconcile: 'Reconciliation',
  },
  /** The states of a run. */
  runState: {
    running: 'running',
    complete: 'complete',
    incomplete: 'partial',
    stopped: 'stopped',
    unbalanced: 'unbalanced',
    refused: 'refused',
    abandoned: 'abandoned',
  },
  /** The level of a verdict. */
  level: {
    complete: 'Complete',
    partial: 'Partial',
    red: 'Red: do not rely on this run',
  },
  /** What the last control searches of an account show for a single check. */
  control: {
    hold: 'none in this check; the last ones on this account passed',
    failed: 'NONE in this check; the last ones on this account FAILED',
    one_sided: 'NONE in this check; the last ones on this account did not expect both a match and no match',
    too_old: 'NONE in this check; the last ones on this account are more than a day old',
    never: 'NONE: no control search was ever made on this account',
  },
  /** What happened to a match. */
  matchChange: {
    match_added: 'New match',
    match_changed: 'Details changed',
    match_removed: 'No longer matched',
    match_not_returned: 'No longer returned: the answer was truncated, the party may still be listed',
    match_rekeyed: 'Same party with a new id',
    match_returned: 'Matched again',
    hit_gained: 'Now flagged as hit',
    hit_lost: 'No longer flagged as hit',
  },
  /** What happened to a dossier in words. */
  dossierChange: {
    dossier_appeared: 'New dossier',
    dossier_status_changed: 'Status changed',
    dossier_changed: 'Details changed',
    dossier_touched: 'Updated without a visible change',
    dossier_returned: 'Returned',
    dossier_gone: 'Removed',
  },
  /** The cause of a change, as the end of a sentence. */
  cause: {
    service_data: 'the list data changed',
    customer_record: 'our customer record changed',
    settings: 'our settings changed',
  },
  /** The name of a severity. */
  severity: {
    critical: 'Critical',
    high: 'High',
    medium: 'Medium',
    low: 'Low',
    info: 'For information',
  },
  /** Whether a fact of the customer agrees with a match, in words. */
  agreement: {
    agree: 'agrees',
    contradict: 'contradicts',
    unknown: 'cannot be compared',
  },
  /** What moved a severity. */
  adjustment: {
    birth_date_contradicts: 'lowered, the birth date contradicts',
    risk_tier: 'raised for the customer’s risk tier',
  },
  /** Each state of a customer in words: its name and what it means. */
  state: {
    clear: { name: 'Clear', meaning: 'complete answer without a match' },
    below_threshold: {
      name: 'Below threshold',
      meaning: 'matches, but the service flagged none of them',
    },
    false_positive: { name: 'False positive', meaning: 'flagged, and a reviewer ruled it out' },
    true_match: { name: 'True match', meaning: 'a reviewer confirmed that the customer is the listed party' },
    open_alert: { name: 'Open alert', meaning: 'an alert of the customer waits for a disposition' },
    truncated: { name: 'Truncated', meaning: 'the answer was truncated, and the returned part has no hit' },
    not_screened: { name: 'Not screened', meaning: 'no valid answer' },
  },
  /** Why the match of an alert is absent, in words. */
  absence: {
    not_returned: 'the service no longer returns the match',
    below_threshold: 'the match fell below the threshold',
    customer_changed: 'the match is absent since our customer record changed',
    settings_changed: 'the match is absent since our settings changed',
  },
  /** The kinds of records that are fetched about matches, in words. */
  detail: {
    activity: 'match in detail',
    entity: 'screened record',
  },
  /** Why a run did not fetch all records, in words. */
  stop: {
    limit: 'the limit evidence.details.maxPerRun is reached',
    out_of_reach: 'the service could not be reached',
    refused: 'the service refused the account',
    time: 'it took too long',
    signal: 'stopped on request',
  },
  /** Why a roster row was rejected, in words. */
  reject: {
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
    // It has no customer id.
    not_a_customer: 'a repeated header, a total, a footer or a line between rows',
    unknown_customer: 'related party of a customer that is not on the roster',
  },
  /** Why a value of an accepted row is in doubt, in words. */
  doubt: {
    says_unknown: 'the value itself means unknown',
    invalid_birth_date: 'not a readable date',
    no_such_day: 'not a day of the calendar',
    ambiguous_date: 'can mean two dates, and no format is configured',
    substitute_date: 'a date that systems write for an unknown one',
    frequent_date: 'too many rows have this date',
    year_too_early: 'more than 116 years ago, or before 1850',
    year_in_future: 'a date in the future',
    hijri_year: 'a year before 1850: it looks like the Hijri calendar',
    buddhist_year: 'a year in the future: it looks like the Buddhist calendar',
    unknown_country: 'not a known country',
    ambiguous_country: 'can mean two countries',
    stateless: 'means that there is no country',
    unknown_risk_tier: 'risk tier is not low, medium or high',
    unknown_standing: 'does not say whether the customer is active',
    invalid_end_date: 'not a readable day',
    end_date_too_early: 'before the relationship can have begun',
    unreadable_alias: 'not a name: without any letter, or too long',
    // Of an id: it is kept, and another customer may have the same.
    spreadsheet_id: 'an id that a spreadsheet has changed: export the column as text',
    // Of a name: it is sent as it is, and without a hit the customer is not screened.
    encoded_name: 'text encoded once too often, which cannot be decoded',
    garbled_name: 'letters that were read in another encoding than they were written in',
    lost_letters: 'letters that an export replaced by other signs',
    list_of_names: 'several names in one cell',
    control_character: 'contains a control character',
    replacement_character: 'contains U+FFFD, the mark of a letter that was lost in a conversion',
  },
  /** The outcome of a customer that is not screened, in words. */
  outcome: {
    failed: 'Failed',
    remaining: 'Not reached',
    skipped: 'Skipped',
  },
  /** Why a customer or a party was screened, skipped or not reached, and the outcomes of calls. */
  reason: new Map<string, string>([
    ['ok', 'answered'],
    ['aborted', 'cancelled by this program'],
    ['account', 'account refused'],
    ['address', 'address of the service refused'],
    ['authentication_error', 'key refused'],
    ['bad_response', 'invalid answer'],
    ['budget', 'search budget reached'],
    ['cadence', 'due again'],
    ['changed', 'name, type, birth date or country changed, or the customer returned'],
    [
      'control_failed',
      'a control search failed, so the answers after the last control searches that passed do not count',
    ],
    ['conflicting_duplicate', 'its rows contradict each other, and it has no accepted record'],
    ['connect_timeout', 'no connection in time'],
    ['connection', 'connection lost'],
    ['connection_failed', 'no connection'],
    ['connection_refused', 'connection refused'],
    ['connection_reset', 'connection reset'],
    ['forced', 'selected: on a published list, or all customers were selected'],
    ['doubtful_name', 'its name is garbled, has lost letters or is several names, so only a hit counts'],
    ['echo_mismatch', 'answer to another search'],
    ['failed_answer', 'the answer says that the search failed or is incomplete'],
    ['held', 'answered, but the answers of the run are held'],
    ['invalid_body', 'invalid answer'],
    ['max_searches', 'limit of this start reached'],
    ['name_not_resolved', 'service host not found'],
    ['new', 'never screened'],
    ['not_applied', 'answered, but the run stopped before the answer was proven or applied'],
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
  ]),
  /** The fields of a customer's record whose changes are counted: one, and several. */
  recordField: {
    name: ['name', 'names'],
    type: ['type', 'types'],
    birth_date: ['birth date', 'birth dates'],
    countries: ['list of countries', 'lists of countries'],
    risk_tier: ['risk tier', 'risk tiers'],
    aliases: ['list of aliases', 'lists of aliases'],
    related_parties: ['list of related parties', 'lists of related parties'],
  },
  /** Why an alert was re-opened; other reasons are the facts that changed. */
  reopening: new Map<string, string>([
    ['expired', 'the disposition expired'],
    ['erased', 'what the reviewer saw is erased'],
    ['undone', 'the disposition was undone'],
    ['returned', 'matched again'],
  ]),
  /** When a round of control searches was made. */
  controlTrigger: {
    start: 'before the first search',
    resumed: 'before resuming',
    periodic: 'between searches',
    control: 'after a problem',
    end: 'after the last search',
  },
  /** The families of hits, behind their name. */
  hitFamily: {
    any: 'of all risk categories',
    sanction: 'for sanctions',
    crime: 'for crime',
    pep: 'for political exposure',
    associate: 'for closeness to exposed persons',
    other: 'of other known risk categories',
    unknown: 'of unknown risk categories',
  },
  /** What becomes of a party that is no longer in the roster, by its state. */
  droppedState: {
    open_alert: 'it stays in scope, and the customer in this state, until its alerts have a disposition',
    truncated: 'it is screened only while one of its alerts is open; the part that was not returned may have a hit',
    true_match: 'it is screened only while one of its alerts is open',
  },
  /** A rate beside that of former runs. */
  rate: {
    low: 'less than half',
    high: 'more than twice as many',
    usual: 'as usual',
    unknown: 'not assessed',
  },
} as const;

/** A stored disposition, those of older systems included. */
export const describeDisposition = (code: string): string =>
  new Map<string, string>(Object.entries<string>(codeWords.disposition)).get(code) ?? toWords(code);

/** The topics of the FollowTheMoney model that services send most (service facts: AML vocabulary). */
const topicWords: ReadonlyMap<string, string> = new Map([
  ['sanction', 'Sanctioned'],
  ['sanction.linked', 'Linked to a sanctioned party'],
  ['sanction.counter', 'Counter-sanctioned'],
  ['debarment', 'Debarred'],
  ['role.pep', 'Politically exposed'],
  ['role.rca', 'Close to a politically exposed person'],
  ['role.judge', 'Judge'],
  ['role.civil', 'Civil servant'],
  ['crime', 'Crime'],
  ['crime.boss', 'Criminal leadership'],
  ['crime.cyber', 'Cybercrime'],
  ['crime.fin', 'Financial crime'],
  ['crime.fraud', 'Fraud'],
  ['crime.terror', 'Terrorism'],
  ['crime.theft', 'Theft'],
  ['crime.traffick', 'Trafficking'],
  ['crime.traffick.drug', 'Drug trafficking'],
  ['crime.traffick.human', 'Human trafficking'],
  ['crime.war', 'War crimes'],
  ['wanted', 'Wanted'],
  ['poi', 'Person of interest'],
  ['reg.action', 'Regulatory action'],
  ['reg.warn', 'Regulatory warning'],
  ['export.control', 'Export controlled'],
  ['export.risk', 'Trade risk'],
]);

export const knownTopics: readonly string[] = [...topicWords.keys()];

/** A topic in words; an unknown topic as the service sent it. */
export function describeTopic(topic: string): string {
  return topicWords.get(topic) ?? topic;
}

/** The words of a table, each row of which holds several, with commas between them. */
export const listWords = (rows: readonly string[]): readonly string[] => rows.flatMap((row) => row.split(', '));

/** Whether a text is of a script that has no spaces between words. */
export const isWithoutSpaces = (text: string): boolean =>
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u.test(
    text,
  );
