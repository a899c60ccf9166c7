// The closed sets of words that folders, the database and the reports share; each is defined here only.

/** The kinds of runs, in the words of the command line. */
export const runKinds = ['import', 'screen', 'rescreen', 'onboard', 'sweep', 'check', 'assure', 'reconcile'] as const;
export type RunKind = (typeof runKinds)[number];

/** The kinds of runs that screen the customers of a roster. */
export const screeningKinds = ['screen', 'rescreen', 'onboard'] as const satisfies readonly RunKind[];
export type ScreeningKind = (typeof screeningKinds)[number];
/** Whether a run of this kind screens the customers of a roster. */
export const isScreeningKind = (kind: RunKind): kind is ScreeningKind => screeningKinds.some((one) => one === kind);

/** The mode of a run's key: `test` results do not count, `live` searches are billed. */
export const runModes = ['test', 'live'] as const;
export type RunMode = (typeof runModes)[number];

/**
 * The states of a run: `complete` (exit 0), `incomplete` (finished with a problem: exit 3), `stopped` (early, resumable: exit 4),
 * `unbalanced` (sums do not hold: exit 1), `refused` (before anything was spent: exit 2), `abandoned` (replaced by a later run).
 */
export const runStates = [
  'running',
  'complete',
  'incomplete',
  'stopped',
  'unbalanced',
  'refused',
  'abandoned',
] as const;
export type RunState = (typeof runStates)[number];

/**
 * Why a run stops early, resumable: the account or the address is refused, the service is out of reach, the budget is used up, the limit of
 * the command is reached (`max_searches`), or a stop was requested.
 */
export const haltCodes = ['account', 'address', 'outage', 'budget', 'max_searches', 'signal'] as const;
export type HaltCode = (typeof haltCodes)[number];

/** The stages of a run, from which a resume continues. */
export const runStages = ['started', 'imported', 'planned', 'screened', 'finished'] as const;
export type RunStage = (typeof runStages)[number];

/** The parties that a run screens: due ones, ones never screened as they are now, all, forced ones, or only marked customers (`dirty`). */
export const planSelections = ['due', 'new', 'all', 'forced', 'dirty'] as const;
export type PlanSelection = (typeof planSelections)[number];

/** What happened to a match between two screenings of a party. */
export const matchChangeKinds = [
  'match_added',
  'match_changed',
  'match_removed',
  'match_not_returned',
  'match_rekeyed',
  'match_returned',
  'hit_gained',
  'hit_lost',
] as const;
export type MatchChangeKind = (typeof matchChangeKinds)[number];

/** The compared fields of a match, under the service's names. */
export const matchFields = ['birth_date', 'country', 'match', 'name', 'schema', 'score', 'topics'] as const;
export type MatchField = (typeof matchFields)[number];

/** The severities of a change, highest first. */
export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];

/** The cause of a change. */
export const changeCauses = ['service_data', 'customer_record', 'settings'] as const;
export type ChangeCause = (typeof changeCauses)[number];

/** The topic families of a listed party, most serious first; an unknown topic comes before political exposure. */
export const worstTopics = ['sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none'] as const;
export type WorstTopic = (typeof worstTopics)[number];

/** What moved a severity from that of its rule. */
export const severityAdjustments = ['birth_date_contradicts', 'risk_tier'] as const;
export type SeverityAdjustment = (typeof severityAdjustments)[number];

/** What happened to a dossier between two sweeps (DESIGN: Dossier changes). */
export const dossierChangeKinds = [
  'dossier_appeared',
  'dossier_status_changed',
  'dossier_changed',
  'dossier_touched',
  'dossier_returned',
  'dossier_gone',
] as const;
export type DossierChangeKind = (typeof dossierChangeKinds)[number];

/** How a fact of the customer compares with a match; `unknown` when it cannot be compared. */
export const agreements = ['agree', 'contradict', 'unknown'] as const;
export type Agreement = (typeof agreements)[number];

/** The families of hits: the topic families, unknown or no topic, and all hits together (`any`). */
export const hitFamilies = ['any', 'sanction', 'crime', 'pep', 'associate', 'other', 'unknown'] as const;
export type HitFamily = (typeof hitFamilies)[number];

export const discrepancySeverities = ['critical', 'high', 'medium', 'low'] as const;
export type DiscrepancySeverity = (typeof discrepancySeverities)[number];

/** The kinds of discrepancy between roster, screenings and dossiers, most urgent first. */
export const discrepancyKinds = [
  'approved_with_true_match',
  'approved_with_sanctions_alert',
  'unscreened_dossier_party',
  'test_dossier',
  'name_conflict',
  'rejected_dossier',
  'roster_incomplete',
  'verified_name_not_searched',
  'birth_date_conflict',
  'country_conflict',
  'type_conflict',
  'approved_with_open_alert',
  'approved_with_truncated_answer',
  'approved_before_name_change',
  'never_screened',
  'dossier_needs_attention',
  'closed_dossier',
  'archived_dossier',
  'stale_dossier',
  'customer_without_dossier',
  'dossier_without_customer',
  'shared_dossier',
  'duplicate_reference',
  'several_dossiers',
  'left_with_open_dossier',
] as const;
export type DiscrepancyKind = (typeof discrepancyKinds)[number];

/** What happened to a discrepancy in one comparison. */
export const discrepancyEvents = ['opened', 'returned', 'changed', 'acceptance_ended', 'resolved'] as const;

/** The states of a customer, best first; the worst one of its parties counts (DESIGN: The one rule). */
export const customerStates = [
  'clear',
  'below_threshold',
  'false_positive',
  'truncated',
  'not_screened',
  'open_alert',
  'true_match',
] as const;
export type CustomerState = (typeof customerStates)[number];

/** The states that an answer alone can give. */
export const answerStates = [
  'clear',
  'below_threshold',
  'truncated',
  'open_alert',
] as const satisfies readonly CustomerState[];
export type AnswerState = (typeof answerStates)[number];

/** The dispositions of a match: it is the customer, it is another person, it is undecided, or it is absent and needs nothing more. */
export const dispositionVerdicts = ['true_match', 'false_positive', 'inconclusive', 'no_longer_matched'] as const;
export type DispositionVerdict = (typeof dispositionVerdicts)[number];

/** The states of an alert; `pending_approval` waits for a second person, `no_longer_matched` is closed because its match is absent. */
export const alertStates = ['open', 'pending_approval', 'false_positive', 'true_match', 'no_longer_matched'] as const;
export type AlertState = (typeof alertStates)[number];

/**
 * Why the match of an alert is absent: a complete answer lacks it, it is no longer a hit, or the customer's record or the settings changed.
 */
export const absences = ['not_returned', 'below_threshold', 'customer_changed', 'settings_changed'] as const;
export type Absence = (typeof absences)[number];

/** The type of a party; the service's `type` (interface: AML search). */
export const partyTypes = ['person', 'entity'] as const;
export type PartyType = (typeof partyTypes)[number];

/** The risk tier of a customer; one without a tier counts as high. */
export const riskTiers = ['low', 'medium', 'high'] as const;
export type RiskTier = (typeof riskTiers)[number];

/** The role of a party; `customer` is the customer itself. */
export const partyRoles = [
  'customer',
  'alias',
  'joint_holder',
  'director',
  'beneficial_owner',
  // Related in a way without a role of its own; screened like any other party.
  'other',
  // Both names of two contradicting rows are searched.
  'conflicting_row',
] as const;
export type PartyRole = (typeof partyRoles)[number];

/** Why a round of control searches was made; `control` is a single one after a failed search. */
export const controlTriggers = ['start', 'resumed', 'periodic', 'control', 'end'] as const;
export type ControlTrigger = (typeof controlTriggers)[number];

/** Why a run fetched fewer details than it could. */
export const detailStops = ['limit', 'out_of_reach', 'refused', 'time', 'signal'] as const;
export type DetailStop = (typeof detailStops)[number];

/** Why a row was not accepted; stable codes in rejects.csv and SQL. */
export const rejectReasons = [
  'missing_id',
  'missing_name',
  'missing_type',
  'id_too_long',
  'unknown_type',
  'invalid_birth_date',
  'unknown_country',
  'unknown_risk_tier',
  'control_character',
  'name_too_long',
  'name_without_letters',
  'wrong_column_count',
  'conflicting_id',
  'malformed_csv',
  'too_many_parties',
  'field_too_long',
  'line_break_in_name',
  'replacement_character',
  'unknown_standing',
  'invalid_end_date',
  // A repeated header, a total, a footer or a line between rows; it has no customer id.
  'not_a_customer',
  'unknown_customer',
] as const;
export type RejectReason = (typeof rejectReasons)[number];

/**
 * The facts of an accepted row that may be in doubt, and its `id`. A doubt about one that is not sent stops no search; nor does one about a `name`, and without a
 * hit its customer is not screened. `namePart`: a placeholder that is left out of the name.
 */
export const doubtFields = [
  'birthDate',
  'countries',
  'riskTier',
  'active',
  'endDate',
  'aliases',
  'name',
  'namePart',
  'id',
] as const;
export type DoubtField = (typeof doubtFields)[number];

/** Why a fact of an accepted row is in doubt; stable codes in rejects.csv and SQL. */
export const doubtReasons = [
  'says_unknown',
  'invalid_birth_date',
  'no_such_day',
  'ambiguous_date',
  'substitute_date',
  'frequent_date',
  'year_too_early',
  'year_in_future',
  'hijri_year',
  'buddhist_year',
  'unknown_country',
  'ambiguous_country',
  'stateless',
  'unknown_risk_tier',
  'unknown_standing',
  'invalid_end_date',
  'end_date_too_early',
  'unreadable_alias',
  // Of an id: it is kept, and another customer may have the same.
  'spreadsheet_id',
  // Of a name: it is sent as it is, and without a hit the customer is not screened.
  'encoded_name',
  'garbled_name',
  'lost_letters',
  'list_of_names',
  'control_character',
  'replacement_character',
] as const;
export type DoubtReason = (typeof doubtReasons)[number];

/** The fields of a customer's record whose changes are counted. */
export const recordFields = [
  'name',
  'type',
  'birth_date',
  'countries',
  'risk_tier',
  'aliases',
  'related_parties',
] as const;
export type RecordField = (typeof recordFields)[number];

/** What many changes of a field may have in common. */
export const changeWays = [
  'one_day_later',
  'one_day_earlier',
  'day_and_month_exchanged',
  'other_century',
  'other_case',
  'other_spelling',
  'same_value',
  'lost',
] as const;
export type ChangeWay = (typeof changeWays)[number];

/** The kinds of problems that the watchdog reports. */
export const incidentKinds = [
  'did_not_run',
  'stuck',
  'partial',
  'customers_failing',
  'control_failed',
  'screening_overdue',
  'job_failed',
  'job_stuck',
  'clock_ahead',
] as const;

/** How much is logged, from little to all. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** The outcomes of customers that are not screened, in the order of reports. */
export const listableOutcomes = ['failed', 'remaining', 'skipped'] as const;
export type ListableOutcome = (typeof listableOutcomes)[number];

/** What a run did with an alert that waits. `expired`: its disposition expired, and no answer opened it. */
export const alertNews = ['opened', 'reopened', 'expired', 'escalated', 'returned'] as const;
export type AlertNews = (typeof alertNews)[number];
