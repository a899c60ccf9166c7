import type { ChangeCause, MatchChangeKind, MatchField, Severity } from '../changes/change-event.js';
import type { Corroboration } from '../changes/corroboration.js';
import type { DossierChangeKind } from '../changes/dossier-change.js';
import type { SeverityAdjustment } from '../changes/severity.js';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { CustomerState } from '../matches/customer-state.js';
import type { Match } from '../matches/match.js';
import type { ReconciliationFacts } from '../reconciliation/discrepancy.js';
import type { PartyRole, PartyType, RejectedRow, RiskTier } from '../roster/customer.js';
import type { ColumnDoubts, DoubtedRow } from '../roster/doubts.js';
import type { AcceptedFacts } from './accepted-facts.js';
import type { CutLists } from './cut-list.js';
import type { DetailFacts } from './detail-facts.js';
import type { HistoryFacts } from './history-facts.js';
import type { HeldFacts } from './html-held.js';
import type { ChangeItemFacts, OpenItemsFacts } from './item-facts.js';
import type { SpanFacts } from './span-facts.js';
import type { WatchFacts } from './watch-facts.js';

/** What a run is; the words of the command line. */
export const runKinds = ['import', 'screen', 'rescreen', 'onboard', 'sweep', 'check', 'assure', 'reconcile'] as const;
export type RunKind = (typeof runKinds)[number];

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
export type HaltCode = 'account' | 'address' | 'outage' | 'budget' | 'max_searches' | 'signal';

/** The sums of a run under the names of the run summary; customers unless the name says otherwise. */
export interface RunCounts {
  rows: number;
  customers: number;
  rejected: number;
  duplicates: number;
  /** Customers of the roster that this run answers for. */
  inScope: number;
  planned: number;
  screened: number;
  reused: number;
  failed: number;
  skipped: number;
  remaining: number;
  /** Distinct requests answered or tried, canaries not included. */
  searches: number;
  /** Every POST sent, canaries and repeats included. */
  attempts: number;
  matches: number;
  hits: number;
  /** Changes since the last report, baseline not included. */
  changes: number;
}

/** Who a line of the report is about. */
export interface PartyFacts {
  reference: string;
  role: PartyRole;
  type: PartyType;
  name: string;
  birthDate: string | null;
  countries: readonly string[];
  riskTier: RiskTier | null;
}

/** One stored change event of the run. */
export interface MatchChangeFacts {
  changeId: number;
  /** The run that found it. */
  runId: string;
  party: PartyFacts;
  /** As the record described the party beside which the answer before was given; null where that is the same record, or is not known. */
  formerParty: PartyFacts | null;
  kind: MatchChangeKind;
  severity: Severity;
  rule: string;
  /** What moved the severity away from the rule's. */
  adjustments: readonly SeverityAdjustment[];
  /** Whether the customer's facts bear the match out; null for changes found before anybody looked. */
  corroboration: Corroboration | null;
  cause: ChangeCause;
  /** Whether the match is, or was, a hit for a sanction: such a change always stands by itself. */
  isSanctionHit: boolean;
  matchId: string;
  fields: readonly MatchField[];
  before: Match | null;
  after: Match | null;
  /** How its item stood when the run closed; null where it has none, for first screenings and for runs that have not closed. */
  item: ChangeItemFacts | null;
  /** The name of the flood that it is one of, in a report. */
  flood?: string | undefined;
}

/** A critical change as it is told while its run is still going on; `isBaseline` for a first screening. */
export interface CriticalChange extends MatchChangeFacts {
  isBaseline: boolean;
}

/** One stored dossier change. */
export interface DossierChangeFacts {
  changeId: number;
  kind: DossierChangeKind;
  dossierId: string;
  /** Whether the dossier's reference names a customer of the roster. */
  customerKnown: boolean;
  fields: readonly string[];
  before: DossierSnapshot | null;
  after: DossierSnapshot | null;
}

/** A sweep that the report covers. */
export interface SweepFacts {
  runId: string;
  startedAt: Date;
  finishedAt: Date;
  /** The account's first: what it saw is where later ones start from, so nothing of it is a change. */
  isStart: boolean;
  pages: number;
  dossiers: number;
  /** False: nothing was reported as gone; `unprovenBecause` says why. */
  proven: boolean;
  unprovenBecause: string | null;
}

/** A customer in scope whose screening is missing or out of date. */
export interface NotScreenedFacts {
  party: PartyFacts;
  outcome: 'failed' | 'skipped' | 'remaining';
  /** Stable code of the error or of the reason to skip. */
  reason: string;
  /** When the party was last screened, if ever. */
  lastScreenedAt: Date | null;
}

/** A party that the roster no longer names although what is known of it is not settled. */
export interface DroppedPartyFacts {
  party: PartyFacts;
  /** What it was when the roster dropped it. A party is searched for while it is an open hit or something about it waits. */
  state: 'open_hit' | 'incompletely_seen' | 'confirmed';
  droppedAt: Date;
}

/** A control search whose answer is known beforehand. */
export interface CanaryFacts {
  type: PartyType;
  name: string;
  expect: 'match' | 'none';
  verdict: 'passed' | 'failed';
  /** What came instead, in words, of the first round that failed; null when all passed. */
  found: string | null;
  /** What the reports call it, beside its name. */
  label: string | null;
  /** A hit must carry one of them; empty where any hit will do. */
  topics: readonly string[];
  /** Each time it was asked, in order; its verdict is the worst of them. */
  rounds: readonly CanaryRoundFacts[];
}

/** One time that a control search was made. */
export interface CanaryRoundFacts {
  /** Which round of the run's control searches, from 1. */
  round: number;
  occasion: 'start' | 'resumed' | 'periodic' | 'control' | 'end';
  /** Searches of the plan answered by then. */
  searches: number;
  askedAt: Date;
  verdict: 'passed' | 'failed';
}

/** An earlier run of the roster whose findings no report had told: this one does. */
export interface CarriedRun {
  runId: string;
  changes: number;
  /** First screenings' matches. */
  baseline: number;
}

/** How often customers are screened by risk tier, in hours, and why it is enough where that is less than daily. */
export interface CadenceFacts {
  hours: Readonly<Record<RiskTier, number>>;
  reason: string | null;
}

/** What an import made of a roster. */
export interface SnapshotFacts {
  /** A part of the roster, which marks nobody as absent. */
  isDelta: boolean;
  joined: number;
  changed: number;
  absent: number;
  leavers: number;
  returned: number;
  /** Ids of rows that contradict each other; each of their names is searched for. */
  conflicts: number;
  partyRows: number;
  partyRejected: number;
  /** Related parties with a role that is not known, screened as `other`. */
  otherRoles: number;
  /** Rejected rows, those of related parties included, of which nobody can say whose they are. */
  unreadableIds: number;
  /** Parties with an open hit, a true match or a cut list whom it no longer names. */
  droppedParties: number;
  /** Known customers whose rows were rejected: their last accepted records count. */
  keptRecords: number;
  /** Guards that would have held it, and that somebody has overridden. */
  overriddenGuards: readonly string[];
  /** The columns of which values count as unknown because they cannot be read for certain. */
  doubts: readonly ColumnDoubts[];
}

/** Where a roster came from, with the digest of its bytes, and what became of it. */
export interface RosterSource extends SnapshotFacts {
  source: string;
  digest: string;
  importedAt: Date;
}

/** Everything stored about a run that its report is built from; nothing in it depends on when it is read. */
export interface RunFacts extends AcceptedFacts, HistoryFacts {
  runId: string;
  kind: RunKind;
  state: RunState;
  /** Why the state is not `complete`, in words for the verdict line. */
  stateReasons: readonly string[];
  organisation: string;
  roster: string | null;
  /** Mode of the key the run used. */
  mode: 'test' | 'live';
  /** Version of Nightscreen that made the run. */
  version: string;
  startedAt: Date;
  finishedAt: Date;
  settingsDigest: string;
  /** How often each risk tier is screened, in hours, and why less than daily where it is; null for a run without a plan. */
  cadence: CadenceFacts | null;
  /** Fingerprint of the service key. */
  keyFingerprint: string;
  /** The earlier run whose results this one is compared with. */
  comparedWith: { runId: string; finishedAt: Date } | null;
  /** Where the roster came from, and the digest of its bytes. */
  rosterSource: RosterSource | null;
  /** Null for a sweep. */
  counts: RunCounts | null;
  /** Customers in scope by state; sums to `counts.inScope`. Null for a sweep or an import. */
  states: Readonly<Record<CustomerState, number>> | null;
  /** Failures and skips by reason, customers each. */
  failedBecause: Readonly<Record<string, number>>;
  skippedBecause: Readonly<Record<string, number>>;
  /** First screenings of this run: matches by severity, counted apart from what is new. */
  baseline: Readonly<Record<Severity, number>>;
  carriedFrom: readonly CarriedRun[];
  /** Of this run and of those it carries; the first of them where `cut` says so. */
  changes: readonly MatchChangeFacts[];
  /** The matches of first screenings, of this run and of those it carries; the first of them where `cut` says so. */
  baselineChanges: readonly MatchChangeFacts[];
  sweeps: readonly SweepFacts[];
  dossierChanges: readonly DossierChangeFacts[];
  /** Of rosters with the dossiers, by this run. */
  reconciliations: readonly ReconciliationFacts[];
  /** The first of them where `cut` says so. */
  notScreened: readonly NotScreenedFacts[];
  cut: CutLists;
  /** The first rows that were accepted with values in doubt. */
  doubted: readonly Omit<DoubtedRow, 'ordinal'>[];
  rejects: readonly RejectedRow[];
  /** By the run's own import, and by imports that no report had told of. */
  droppedParties: readonly DroppedPartyFacts[];
  /** Null where nothing is known of it. */
  openItems: OpenItemsFacts | null;
  details: DetailFacts;
  /** Worst first; empty when none are configured, which the report says. */
  canaries: readonly CanaryFacts[];
  /** Null for a run that makes no searches of a roster. */
  watch: WatchFacts | null;
  /** What of the run waits until somebody accepts it, or waited; empty for a run that counts by itself. */
  held: readonly HeldFacts[];
  /** Searches repeated after a crash because their outcome was unknown. */
  possiblyBilledTwice: number;
  /** Attempts by what came of them: `ok`, an HTTP status, `timeout`, `connection`, `bad_response`, `unknown`. */
  attemptsByOutcome: Readonly<Record<string, number>>;
  /** For a report of several runs, all of them; everything that tells how things stand is then of the last one. */
  span: SpanFacts | null;
}
