// The closed sets of codes that folders, the database and the reports share. Codes that readers see stand once, with their words.
import { discrepancyWords } from './vocabulary/discrepancies.js';
import { codeWords } from './vocabulary/words.js';

function listCodes<Words extends object>(words: Words): readonly Extract<keyof Words, string>[] {
  const codes: Extract<keyof Words, string>[] = [];
  for (const code in words) codes.push(code);
  return codes;
}

/** The kinds of runs, in the words of the command line. */
export const runKinds = listCodes(codeWords.runKind);
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
export const runStates = listCodes(codeWords.runState);
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

/**
 * The reasons to screen a party, in the order of searches of equal risk. Failed ones come after overdue ones: a search that fails every
 * night must not use up every budget.
 */
export const planReasons = ['new', 'changed', 'forced', 'overdue', 'previously_failed', 'cadence'] as const;

/** What happened to a match between two screenings of a party. */
export const matchChangeKinds = listCodes(codeWords.matchChange);
export type MatchChangeKind = (typeof matchChangeKinds)[number];

/** The compared fields of a match, under the service's names. */
export const matchFields = listCodes(codeWords.matchField);
export type MatchField = (typeof matchFields)[number];

/** The severities of a change, highest first. */
export const severities = listCodes(codeWords.severity);
export type Severity = (typeof severities)[number];

/** The cause of a change. */
export const changeCauses = listCodes(codeWords.cause);
export type ChangeCause = (typeof changeCauses)[number];

/** The topic families of a listed party, most serious first; an unknown topic comes before political exposure. */
export const worstTopics = ['sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none'] as const;
export type WorstTopic = (typeof worstTopics)[number];

/** What moved a severity from that of its rule. */
export const severityAdjustments = listCodes(codeWords.adjustment);
export type SeverityAdjustment = (typeof severityAdjustments)[number];

/** What happened to a dossier between two sweeps (DESIGN: Dossier changes). */
export const dossierChangeKinds = listCodes(codeWords.dossierChange);
export type DossierChangeKind = (typeof dossierChangeKinds)[number];

/** How a fact of the customer compares with a match; `unknown` when it cannot be compared. */
export const agreements = listCodes(codeWords.agreement);
export type Agreement = (typeof agreements)[number];

/** The families of hits: the topic families, unknown or no topic, and all hits together (`any`). */
export const hitFamilies = listCodes(codeWords.hitFamily);
export type HitFamily = (typeof hitFamilies)[number];

export const discrepancySeverities = ['critical', 'high', 'medium', 'low'] as const;
export type DiscrepancySeverity = (typeof discrepancySeverities)[number];

/** The kinds of discrepancy between roster, screenings and dossiers, most urgent first. */
export const discrepancyKinds = listCodes(discrepancyWords);
export type DiscrepancyKind = (typeof discrepancyKinds)[number];

/** What happened to a discrepancy in one comparison. */
export const discrepancyEvents = listCodes(codeWords.discrepancyEvent);

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
export const dispositionVerdicts = listCodes(codeWords.disposition);
export type DispositionVerdict = (typeof dispositionVerdicts)[number];

/** The states of an alert; `pending_approval` waits for a second person, `no_longer_matched` is closed because its match is absent. */
export const alertStates = listCodes(codeWords.alertState);
export type AlertState = (typeof alertStates)[number];

/**
 * Why the match of an alert is absent: a complete answer lacks it, it is no longer a hit, or the customer's record or the settings changed.
 */
export const absences = listCodes(codeWords.absence);
export type Absence = (typeof absences)[number];

/** The type of a party; the service's `type` (interface: AML search). */
export const partyTypes = ['person', 'entity'] as const;
export type PartyType = (typeof partyTypes)[number];

/** The risk tier of a customer; one without a tier counts as high. */
export const riskTiers = ['low', 'medium', 'high'] as const;
export type RiskTier = (typeof riskTiers)[number];

/** The role of a party; `customer` is the customer itself. */
export const partyRoles = listCodes(codeWords.role);
export type PartyRole = (typeof partyRoles)[number];

/** Why a round of control searches was made; `control` is a single one after a failed search. */
export const controlTriggers = listCodes(codeWords.controlTrigger);
export type ControlTrigger = (typeof controlTriggers)[number];

/** Why a run fetched fewer details than it could. */
export const detailStops = listCodes(codeWords.stop);
export type DetailStop = (typeof detailStops)[number];

/** Why a row was not accepted; stable codes in rejects.csv and SQL. */
export const rejectReasons = listCodes(codeWords.reject);
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
export const doubtReasons = listCodes(codeWords.doubt);
export type DoubtReason = (typeof doubtReasons)[number];

/** The fields of a customer's record whose changes are counted. */
export const recordFields = listCodes(codeWords.recordField);
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

/** The order of the states in reports: decided states first, states that need work last. */
export const stateOrder = listCodes(codeWords.state);

/** How far a reader may rely on a run. */
export const verdictLevels = listCodes(codeWords.level);

/** How much is logged, from little to all. */
export const logLevels = ['silent', 'error', 'warn', 'info', 'debug'] as const;

/** The outcomes of customers that are not screened, in the order of reports. */
export const listableOutcomes = listCodes(codeWords.outcome);
export type ListableOutcome = (typeof listableOutcomes)[number];

/** What a run did with an alert that waits. `expired`: its disposition expired, and no answer opened it. */
export const alertNews = listCodes(codeWords.alertNews);
export type AlertNews = (typeof alertNews)[number];

/** How a run ended, or was applied later, when its pack of evidence was queued. */
export const packEndings = ['ended', 'stopped', 'abandoned', 'accepted'] as const;
/** What is noted as being in a pack. */
export const packedKinds = ['answer', 'disposition', 'acceptance', 'discrepancy', 'report', 'erasure'] as const;
/**
 * Whose keys seal lines of packs: an answer is of all namesakes, and what belongs to no customer is of its run. A reference is that of a row, or of
 * a customer without an accepted record; a record is one behind matches.
 */
export const evidenceKeyKinds = ['customer', 'answer', 'run', 'reference', 'record', 'acceptance'] as const;
export type EvidenceKeyKind = (typeof evidenceKeyKinds)[number];
