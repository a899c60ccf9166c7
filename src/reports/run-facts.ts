import type { Severity } from '../changes/change-event.js';
import type { CustomerState } from '../matches/customer-state.js';
import type { ReconciliationFacts } from '../reconciliation/discrepancy.js';
import type { RejectedRow } from '../roster/customer.js';
import type { ColumnDoubts, DoubtedRow } from '../roster/doubts.js';
import type { partyFilePrefix } from '../roster/rejects-columns.js';
import type { AcceptedFacts } from './accepted-facts.js';
import type { CutLists } from './cut-list.js';
import type { DetailFacts } from './detail-facts.js';
import type { HistoryFacts } from './history-facts.js';
import type { OpenItemsFacts } from './item-facts.js';
import type {
  CadenceFacts,
  CanaryFacts,
  CarriedRun,
  DossierChangeFacts,
  DroppedPartyFacts,
  MatchChangeFacts,
  NotScreenedFacts,
  PartyFacts,
  RunCounts,
  SweepFacts,
} from './list-facts.js';
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

/** An alert that a held run opened or made worse. */
export interface HeldAlertFacts {
  alertId: number;
  party: PartyFacts;
  severity: Severity;
  /** As the list has it. */
  listedName: string;
  topics: readonly string[];
}

/** What of a run waits until somebody accepts it, or waited. */
export interface HeldFacts {
  /** `answers`: all of its answers; `webhooks`: only what webhooks would be sent of it. */
  kind: 'answers' | 'webhooks';
  reasons: readonly string[];
  customers: number;
  /** How many customers of the roster were in which state when it was held. */
  states: Readonly<Partial<Record<CustomerState, number>>>;
  /** The most severe of the alerts that its answers opened all the same, and how many there are. */
  alerts: readonly HeldAlertFacts[];
  openedAlerts: number;
  /** Null while it is held. */
  accepted: { by: string; isAttested: boolean; reason: string; at: Date } | null;
}

const partyPrefix: typeof partyFilePrefix = 'parties: ';

/** Tells whether a rejected row is of a source of related parties. */
export function isOfParties(row: Pick<RejectedRow, 'file'>): boolean {
  return row.file?.startsWith(partyPrefix) ?? false;
}
