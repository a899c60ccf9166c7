// The closed sets of words that several folders, the database and the reports share: each has its one home here.

/** What a run is; the words of the command line. */
export const runKinds = ['import', 'screen', 'rescreen', 'onboard', 'sweep', 'check', 'assure', 'reconcile'] as const;
export type RunKind = (typeof runKinds)[number];

/** The kinds of runs that screen the customers of a roster. */
export const screeningKinds = ['screen', 'rescreen', 'onboard'] as const satisfies readonly RunKind[];
export type ScreeningKind = (typeof screeningKinds)[number];
/** Whether a run of this kind screens the customers of a roster. */
export const isScreeningKind = (kind: RunKind): kind is ScreeningKind => screeningKinds.some((one) => one === kind);

/** With which kind of key a run searches: without results that count, or billed. */
export const runModes = ['test', 'live'] as const;
export type RunMode = (typeof runModes)[number];

/**
 * How a run stands: `complete` (exit 0), `incomplete` (finished, but something is not as it should be: exit 3),
 * `stopped` (early, resumable: exit 4), `unbalanced` (sums do not hold: exit 1), `refused` (before anything was spent: exit 2),
 * `abandoned` (never resumed, replaced by a later run).
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
 * What stops a run early, resumable: the account or the address is refused, the service is out of reach, the budget is used up, the limit
 * that was given with the command is reached (`max_searches`), or somebody asked to stop.
 */
export const haltCodes = ['account', 'address', 'outage', 'budget', 'max_searches', 'signal'] as const;
export type HaltCode = (typeof haltCodes)[number];

/** How far a run has come; it goes on from here when it is resumed. */
export const runStages = ['started', 'imported', 'planned', 'screened', 'finished'] as const;
export type RunStage = (typeof runStages)[number];

/** Which parties a run asks about: those due, those never screened as they are now, all, only those noted as forced, or these with nobody else in the run. */
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

/** The fields of a match that are compared, under the names the service gives them. */
export const matchFields = ['birth_date', 'country', 'match', 'name', 'schema', 'score', 'topics'] as const;
export type MatchField = (typeof matchFields)[number];

/** How much a change matters, most first. */
export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];

/** Whose doing a change is. */
export const changeCauses = ['service_data', 'customer_record', 'settings'] as const;
export type ChangeCause = (typeof changeCauses)[number];

/** The most serious of what a listed party may be listed for; a topic of no family comes before political exposure. */
export const worstTopics = ['sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none'] as const;
export type WorstTopic = (typeof worstTopics)[number];

/** What moved a severity away from its rule's. */
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

/** What one fact of the customer says of a match: the same, another, or nothing that could be compared. */
export const agreements = ['agree', 'contradict', 'unknown'] as const;
export type Agreement = (typeof agreements)[number];

/** What hits are counted by: the topic families, hits of an unknown topic or of none, and all hits together. */
export const hitFamilies = ['any', 'sanction', 'crime', 'pep', 'associate', 'other', 'unknown'] as const;
export type HitFamily = (typeof hitFamilies)[number];

/** How urgent a discrepancy is. */
export const discrepancySeverities = ['critical', 'high', 'medium', 'low'] as const;
export type DiscrepancySeverity = (typeof discrepancySeverities)[number];

/** What became of a discrepancy in one comparison. */
export const discrepancyEvents = ['opened', 'returned', 'changed', 'acceptance_ended', 'resolved'] as const;

/** The states of a customer, best first; a customer's is the worst of its parties' (DESIGN: The one rule). */
export const customerStates = [
  'clear',
  'below_threshold',
  'settled_false_positive',
  'incompletely_seen',
  'not_screened',
  'open_hit',
  'confirmed',
] as const;
export type CustomerState = (typeof customerStates)[number];

/** What a reviewer may decide about a match: it is the customer, it is somebody else, it cannot be told, or it is absent and nothing remains to be done. */
export const dispositionVerdicts = ['true_match', 'false_positive', 'inconclusive', 'no_longer_matched'] as const;
export type DispositionVerdict = (typeof dispositionVerdicts)[number];

/** The states of an alert; `proposed` waits for a second person, `gone` is closed because its match is absent. */
export const itemStates = ['open', 'proposed', 'settled', 'confirmed', 'gone'] as const;
export type ItemState = (typeof itemStates)[number];

/**
 * Why the match of an alert is absent: a whole answer lacks it, it is no hit any more, or it vanished with the customer's record or with
 * our settings.
 */
export const absences = ['not_returned', 'below_threshold', 'customer_changed', 'settings_changed'] as const;
export type Absence = (typeof absences)[number];

/** What a party is; the service's `type` (interface: AML search). */
export const partyTypes = ['person', 'entity'] as const;
export type PartyType = (typeof partyTypes)[number];

/** How closely a customer is watched; a customer without a tier counts as high. */
export const riskTiers = ['low', 'medium', 'high'] as const;
export type RiskTier = (typeof riskTiers)[number];

/** In which role a party belongs to its customer; `customer` is the customer itself. */
export const partyRoles = [
  'customer',
  'alias',
  'joint_holder',
  'director',
  'beneficial_owner',
  // Related in a way that no word of ours names; screened like any other.
  'other',
  // Of two rows that contradict each other both names are searched for.
  'conflicting_row',
] as const;
export type PartyRole = (typeof partyRoles)[number];

/** Why a round of control searches was asked; a `control` asks one of them beside a search that failed. */
export const canaryTriggers = ['start', 'resumed', 'periodic', 'control', 'end'] as const;
export type CanaryTrigger = (typeof canaryTriggers)[number];

/** Why a run asked for fewer details than there were to fetch. */
export const detailStops = ['limit', 'out_of_reach', 'refused', 'time', 'signal'] as const;
export type DetailStop = (typeof detailStops)[number];

/** Why a row was not accepted; stable codes, used in rejects.csv and in SQL. Some of them only earlier versions gave. */
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
  // Of imports by earlier versions; such a party is `other` now.
  'unknown_role',
  'unknown_customer',
] as const;
export type RejectReason = (typeof rejectReasons)[number];

/** Why a fact of an accepted row counts as unknown; stable codes, used in rejects.csv and in SQL. */
export const doubtReasons = [
  'says_unknown',
  'invalid_birth_date',
  'no_such_day',
  'ambiguous_date',
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
  'unreadable_alias',
  'control_character',
  'replacement_character',
] as const;
export type DoubtReason = (typeof doubtReasons)[number];

/** How much is logged, from little to all. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** The outcomes whose customers `runs show --list` lists. */
export const listableOutcomes = ['remaining', 'failed', 'skipped'] as const;
export type ListableOutcome = (typeof listableOutcomes)[number];
