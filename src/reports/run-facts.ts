import { ReportError } from '../errors.js';
import type { ReconciliationFacts } from '../reconciliation/discrepancy.js';
import type { RejectedRow } from '../roster/customer.js';
import type { ColumnDoubts, DoubtedRow } from '../roster/doubts.js';
import type { partyFilePrefix } from '../roster/rejects.js';
import type { CustomerState, RunKind, RunMode, RunState, Severity } from '../vocabulary.js';
import type {
  AcceptedFacts,
  CadenceFacts,
  CanaryFacts,
  DetailCounts,
  DetailLookup,
  DossierChangeFacts,
  DroppedPartyFacts,
  MatchChangeFacts,
  NotScreenedFacts,
  OpenItemsFacts,
  PartyFacts,
  RunCounts,
  SweepFacts,
  WatchFacts,
} from './list-facts.js';

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
  mode: RunMode;
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
  /** Earlier runs of the roster whose findings no report had told; `baseline` counts the matches of first screenings. */
  carriedFrom: readonly { runId: string; changes: number; baseline: number }[];
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
  /** What of these lists is cut; null where a list is held whole. */
  cut: {
    /** With the customers on it, each under the worst outcome of its parties. */
    notScreened:
      | (TruncatedList<NotScreenedFacts> & { customers: Readonly<Record<NotScreenedFacts['outcome'], number>> })
      | null;
    baseline: TruncatedMatches | null;
    changes: TruncatedChanges | null;
  };
  /** The first rows that were accepted with values in doubt. */
  doubted: readonly Omit<DoubtedRow, 'ordinal'>[];
  rejects: readonly RejectedRow[];
  /** By the run's own import, and by imports that no report had told of. */
  droppedParties: readonly DroppedPartyFacts[];
  /** Null where nothing is known of it. */
  openItems: OpenItemsFacts | null;
  /** What was fetched about new hits. */
  details: {
    /** Null for a run that fetched none, because it was not to or never came so far. */
    counts: DetailCounts | null;
    /** Of the run and of those whose findings its report carries. */
    lookups: readonly DetailLookup[];
  };
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
  span: {
    from: Date;
    until: Date;
    /** When it was asked for, where it reaches to the present; null where it was given an end. */
    asOf: Date | null;
    /** All that were begun in it, in order. */
    runs: readonly SpanRunFacts[];
  } | null;
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
  alerts: readonly {
    alertId: number;
    party: PartyFacts;
    severity: Severity;
    /** As the list has it. */
    listedName: string;
    topics: readonly string[];
  }[];
  openedAlerts: number;
  /** Null while it is held. */
  accepted: { by: string; isAttested: boolean; reason: string; at: Date } | null;
}

const partyPrefix: typeof partyFilePrefix = 'parties: ';

/** Tells whether a rejected row is of a source of related parties. */
export function isOfParties(row: Pick<RejectedRow, 'file'>): boolean {
  return row.file?.startsWith(partyPrefix) ?? false;
}

/** One of the last runs of a roster, in figures. */
export interface TrendPoint {
  runId: string;
  finishedAt: Date;
  seconds: number;
  searches: number;
  notScreened: number;
  hits: number;
  changes: number;
  /** Null for a run that closed before they were counted. */
  changesBySeverity: Readonly<Record<Severity, number>> | null;
  /** Items that waited for a decision when it closed; null where nothing is known of it. */
  waiting: number | null;
}

/** How a run went, what is settled, and the runs before it. */
export interface HistoryFacts {
  /** How its calls went; null where it was not noted. */
  health: {
    /** Calls per second while calls were being made, breaks left out; null with fewer than two calls. */
    perSecond: number | null;
    limitPerSecond: number;
    /** Calls made again because the one before brought no answer. */
    repeated: number;
    /** Spans of more than a minute without any call: outages, pauses that the service asked for, stops that were gone on from. */
    breaks: { count: number; seconds: number; longestSeconds: number };
    /** Calls that the service may have billed. */
    billable: number;
    /** What those cost; null without a price. */
    cost: { amount: number; currency: string } | null;
  } | null;
  /** Items that were decided, as they stood when the run closed, and what the run did with decisions; null where nothing was settled or made of the run yet. */
  settled: {
    falsePositive: number;
    trueMatch: number;
    /** Decided as inconclusive: they still wait. */
    inconclusive: number;
    /** Final decisions on parties that this run has screened, and that hold. */
    carried: number;
    /** Opened again by this run because something material changed, or the match returned. */
    reopened: number;
    /** Opened again by this run because the decision ran out. */
    expired: number;
    /** Their matches are no longer listed since this run. */
    gone: number;
  } | null;
  /** The last 30 runs of the roster on the same account, oldest first, this one last; empty for a run that makes no searches of a roster. */
  trend: readonly TrendPoint[];
}

/** A run of a span as it is stored. */
export interface SpanRunFacts {
  runId: string;
  kind: RunKind;
  state: RunState;
  /** Whether it was to screen whoever is due, and not some of them alone. */
  wantsAll: boolean;
  startedAt: Date;
  /** Null for one that never came to its end. */
  finishedAt: Date | null;
  counts: RunCounts | null;
  states: RunFacts['states'];
  canaries: readonly CanaryFacts[];
  watch: WatchFacts | null;
  /** Match changes that it found. */
  changes: number;
  /** Matches of first screenings that it found. */
  baseline: number;
}

/** A list too long to hold, of which the facts hold the first lines: how many it has, and all of them in batches, in the report's order. */
export interface TruncatedList<Line> {
  lines: number;
  read: () => AsyncIterable<readonly Line[]>;
}

/** How many changes, or matches of first screenings, there are of a severity. */
export interface SeverityCount {
  count: number;
  /** Of them those that are, or were, hits for a sanction. */
  sanctionHits: number;
  /** Of these those that are hits now. */
  currentHits: number;
}

/** Changes or matches of first screenings, where these are cut, most severe first and then by customer reference. */
export interface TruncatedMatches extends TruncatedList<MatchChangeFacts> {
  bySeverity: Readonly<Record<Severity, SeverityCount>>;
  /** All of one severity, in batches. */
  readOf: (severity: Severity) => AsyncIterable<readonly MatchChangeFacts[]>;
  /** The hits for sanctions of a severity that the facts do not hold, in batches. */
  readSanctionHits: (severity: Severity) => AsyncIterable<readonly MatchChangeFacts[]>;
}

/** A flood whose changes were counted where they are stored. */
export type CountedCluster = {
  severity: Severity;
  customers: number;
  /** How many changes it has. */
  changes: number;
  /** The first of them, `clusterExamples` at most. */
  readExamples: () => Promise<readonly MatchChangeFacts[]>;
} & (
  | { by: 'listed_party'; of: Pick<MatchChangeFacts, 'kind' | 'cause'> & { id: string; name: string } }
  | {
      by: 'kind_of_change';
      /** `wasHit` and `isHit` are null where there was no match. */
      of: Pick<MatchChangeFacts, 'kind' | 'cause' | 'rule' | 'fields'> & {
        wasHit: boolean | null;
        isHit: boolean | null;
      };
    }
);

/** Changes, where these are cut. */
export interface TruncatedChanges extends TruncatedMatches {
  clusters: readonly CountedCluster[];
  /** Until when the first of their items that wait and are not overdue is to be decided. */
  nextDueAt: Date | null;
}

/** What is cut, each line put through `map` as it is read. */
export function mapReads(
  cut: TruncatedMatches,
  map: (change: MatchChangeFacts) => MatchChangeFacts,
): Pick<TruncatedMatches, 'read' | 'readOf' | 'readSanctionHits'> {
  const mapBatches = async function* (batches: AsyncIterable<readonly MatchChangeFacts[]>) {
    for await (const batch of batches) yield batch.map(map);
  };
  return {
    read: () => mapBatches(cut.read()),
    readOf: (severity) => mapBatches(cut.readOf(severity)),
    readSanctionHits: (severity) => mapBatches(cut.readSanctionHits(severity)),
  };
}

/** How many matches of first screenings the facts tell of. */
export const countBaseline = ({ baselineChanges, cut }: Pick<RunFacts, 'baselineChanges' | 'cut'>): number =>
  cut.baseline?.lines ?? baselineChanges.length;

/** How many changes the facts tell of. */
export const countChanges = ({ changes, cut }: Pick<RunFacts, 'changes' | 'cut'>): number =>
  cut.changes?.lines ?? changes.length;

/** All lines in batches: those held, or where they are cut those that are read; throws ReportError `unbalanced` when these are not as many as were counted. */
export async function* readWhole<Line>(
  name: string,
  held: readonly Line[],
  cut: TruncatedList<Line> | null,
): AsyncGenerator<readonly Line[]> {
  if (cut === null) {
    yield held;
    return;
  }
  let lines = 0;
  for await (const batch of cut.read()) {
    lines += batch.length;
    yield batch;
  }
  if (lines === cut.lines) return;
  throw new ReportError(
    'unbalanced',
    `sums do not hold: ${name}: ${lines} lines were written and ${cut.lines} counted`,
  );
}
