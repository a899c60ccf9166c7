import type { Corroboration } from '../changes/corroboration.js';
import { ReportError } from '../errors.js';
import type { ListedDiscrepancy, ReconciliationFacts } from '../reconciliation/discrepancy.js';
import type { RejectedRow } from '../roster/customer.js';
import type { RosterChanges } from '../roster/field-changes.js';
import type { partyFilePrefix } from '../roster/rejects.js';
import type * as facts from '../vocabulary/facts.js';
import type * as sourceFacts from '../vocabulary/source-facts.js';
import type { AlertNews, CustomerState, RunKind, RunMode, RunState, Severity } from '../vocabulary.js';

// The shapes in `vocabulary` say what each is.
export type RunCounts = facts.FactsOf<typeof facts.runCountsSchema>;
export type PartyFacts = facts.FactsOf<typeof facts.partySchema>;
export type DossierChangeFacts = facts.FactsOf<typeof sourceFacts.dossierChangeSchema>;
export type SweepFacts = facts.FactsOf<typeof sourceFacts.sweepSchema>;
export type NotScreenedFacts = facts.FactsOf<typeof facts.notScreenedSchema>;
export type DroppedPartyFacts = facts.FactsOf<typeof sourceFacts.droppedPartySchema>;
export type ControlFacts = facts.FactsOf<typeof facts.controlResultSchema>;
export type CadenceFacts = facts.FactsOf<typeof facts.cadenceSchema>;
export type ReplacedFacts = facts.FactsOf<typeof facts.replacedSchema>;
export type ChangeAlertFacts = facts.FactsOf<typeof facts.changeAlertSchema>;
export type OpenAlertsFacts = facts.FactsOf<typeof facts.openAlertsSchema>;
export type DetailLookup = facts.FactsOf<typeof facts.detailLookupSchema>;
export type DetailCounts = facts.FactsOf<typeof facts.detailCountsSchema>;
export type RateFacts = facts.FactsOf<typeof facts.rateSchema>;
export type WatchFacts = facts.FactsOf<typeof facts.watchSchema>;
export type TrendPoint = facts.FactsOf<typeof facts.trendPointSchema>;
export type AcceptanceFacts = facts.FactsOf<typeof facts.acceptanceSchema>;
export type RosterChangeFacts = facts.FactsOf<typeof sourceFacts.rosterChangeSchema>;
export type RosterAcceptanceFacts = facts.FactsOf<typeof sourceFacts.rosterAcceptanceSchema>;
export type CustomerRecordFacts = RosterChangeFacts['before'];

/** One stored change event of the run. */
export interface MatchChangeFacts extends facts.FactsOf<typeof facts.matchChangeSchema> {
  /** The name of its cluster in the report. */
  cluster?: string | undefined;
}

/** A waiting alert, as a working list shows it. */
export interface WaitingAlert extends facts.FactsOf<typeof facts.waitingAlertSchema> {
  /** The alert code, by which an import identifies the row. */
  mark: string;
  sheetId: number;
  /** What the runs of the report did with it, or in a list the last ones; null for an alert that was open before. */
  news: AlertNews | null;
  corroboration: Corroboration;
  /** For a row that confirms many absent alerts of one listed party: their number, and a sample of their customers. */
  bulk?: { alerts: number; sample: readonly string[] };
}

/** Whether an answer opened the alert or made it more severe, as against what was open before and expired dispositions. */
export const isNew = ({ news }: Pick<WaitingAlert, 'news'>): boolean => news !== null && news !== 'expired';

/** The alerts that waited for a decision when a run closed. */
export interface ToReviewFacts {
  sheetId: number;
  /** The number of all, listed or not. */
  waiting: number;
  /** The first ones: the new ones, then the others, each the most urgent first. */
  alerts: readonly WaitingAlert[];
}

/** The open and accepted discrepancies, most urgent first; `count` includes those that are not listed. */
export interface DiscrepancyList {
  count: number;
  listed: readonly ListedDiscrepancy[];
}

/** The result of a roster import. */
export type SnapshotFacts = facts.FactsOf<typeof sourceFacts.snapshotSchema>;

/** The stored facts of a run's report; they do not depend on the time of reading. */
export interface RunFacts extends HistoryFacts {
  runId: string;
  kind: RunKind;
  state: RunState;
  /** Why the state is not `complete`, in words. */
  stateReasons: readonly string[];
  organisation: string;
  roster: string | null;
  mode: RunMode;
  /** The version of Nightscreen that made the run. */
  version: string;
  startedAt: Date;
  finishedAt: Date;
  /** The IANA time zone of the reviewers, in which the report shows its times. */
  timezone: string;
  settingsDigest: string;
  /** Null for a run without a plan. */
  cadence: CadenceFacts | null;
  /** The fingerprint of the service key. */
  keyFingerprint: string;
  packs: facts.FactsOf<typeof facts.packsSchema>;
  /** The earlier run that this one is compared with. */
  comparedWith: { runId: string; finishedAt: Date } | null;
  rosterSource: facts.FactsOf<typeof sourceFacts.rosterSourceSchema> | null;
  /** The acceptances that apply to the run, since the roster's last report; oldest first. */
  settingsChanges: readonly facts.FactsOf<typeof facts.settingsChangeSchema>[];
  rosterAcceptances: readonly RosterAcceptanceFacts[];
  /** By each import since the run that this one is compared with. */
  rosterChanges: readonly RosterChanges[];
  /** Null for a sweep. */
  counts: RunCounts | null;
  /** Customers in scope by state, `counts.inScope` in all; null for a sweep or an import. */
  states: facts.FactsOf<typeof facts.stateCountsSchema> | null;
  /** Customers by reason of failure or skip. */
  failedBecause: Readonly<Record<string, number>>;
  skippedBecause: Readonly<Record<string, number>>;
  /** The matches of this run's first screenings by severity, not counted among the changes. */
  baseline: Readonly<Record<Severity, number>>;
  /** Earlier runs of the roster whose findings are in no earlier report; `baseline` counts matches of first screenings. */
  carriedFrom: readonly { runId: string; changes: number; baseline: number }[];
  /** Of this run and of the runs in `carriedFrom`; only the first ones where `cut.changes` is set. */
  changes: readonly MatchChangeFacts[];
  /** The matches of first screenings, in the same way. */
  baselineChanges: readonly MatchChangeFacts[];
  sweeps: readonly SweepFacts[];
  dossierChanges: readonly DossierChangeFacts[];
  reconciliations: readonly ReconciliationFacts[];
  /** Only the first ones where `cut.notScreened` is set. */
  notScreened: readonly NotScreenedFacts[];
  /** The lists that are too long to hold; null where the facts hold the whole list. */
  cut: {
    /** `customers`: each counts once, under the worst outcome of its parties. */
    notScreened:
      | (TruncatedList<NotScreenedFacts> & {
          customers: Readonly<Record<NotScreenedFacts['outcome'], number>>;
        })
      | null;
    baseline: TruncatedMatches | null;
    changes: TruncatedChanges | null;
  };
  /** The first rows that were accepted with values in doubt. */
  doubted: readonly facts.FactsOf<typeof sourceFacts.doubtedRowSchema>[];
  rejects: readonly RejectedRow[];
  /** By the run's own import, and by imports that are in no earlier report. */
  droppedParties: readonly DroppedPartyFacts[];
  /** Null where alerts were not counted. */
  openAlerts: OpenAlertsFacts | null;
  /** The records fetched about new hits. */
  details: {
    /** Null for a run that fetches none, or stopped before. */
    counts: DetailCounts | null;
    /** Of the run and of the runs in `carriedFrom`. */
    records: readonly DetailLookup[];
  };
  /** Failed ones first; empty when none are configured. */
  controls: readonly ControlFacts[];
  /** Null for a run that does not screen a roster. */
  watch: WatchFacts | null;
  /** The parts of the run that wait for acceptance, or waited; empty for a run that needs none. */
  held: readonly HeldFacts[];
  /** Searches repeated after a crash because their outcome was unknown. */
  possiblyBilledTwice: number;
  /** Attempts by outcome: `ok`, an HTTP status, `timeout`, `connection`, `bad_response`, `unknown`. */
  attemptsByOutcome: Readonly<Record<string, number>>;
  /** For a report over several runs: all of them. States, alerts and coverage are then those of the last one. */
  span: {
    from: Date;
    until: Date;
    /** The time of the request for a span that reaches to the present; null where the request has an end. */
    asOf: Date | null;
    /** All that started in it, in order. */
    runs: readonly SpanRunFacts[];
    /** Restores of the database by which something of the span is missing. */
    restores: readonly facts.FactsOf<typeof facts.restorationSchema>[];
  } | null;
}

/** A part of a run that waits for acceptance, or waited. */
export interface HeldFacts {
  /** `answers`: all answers of the run; `webhooks`: only its webhook messages. */
  kind: 'answers' | 'webhooks';
  reasons: readonly string[];
  customers: number;
  /** The customers of the roster by state when the part was held. */
  states: Readonly<Partial<Record<CustomerState, number>>>;
  /** Who proposed and who accepted it, in order; empty while it is held. */
  accepted: readonly (AcceptanceFacts & { isProposal: boolean })[];
}

const partyPrefix: typeof partyFilePrefix = 'parties: ';

/** Whether a rejected row comes from a source of related parties. */
export function isOfParties(row: Pick<RejectedRow, 'file'>): boolean {
  return row.file?.startsWith(partyPrefix) ?? false;
}

/** The health of a run, the decisions, and the runs before it. */
export interface HistoryFacts {
  /** Null where it was not recorded. */
  health: facts.FactsOf<typeof facts.healthSchema> | null;
  /** The decided alerts when the run closed, and what the run did with decisions; null before the run closes and without decisions. */
  settled: facts.FactsOf<typeof facts.settledSchema> | null;
  /** The last 30 runs of the roster on the same account, oldest first, this one last; empty for a run that does not screen a roster. */
  trend: readonly TrendPoint[];
}

/** The stored facts of one run of a span. */
export interface SpanRunFacts
  extends Pick<RunFacts, 'runId' | 'kind' | 'state' | 'startedAt' | 'counts' | 'states' | 'controls' | 'watch'> {
  /** Why it is not complete. */
  reasons: readonly string[];
  /** Its parts that wait for acceptance, or waited. */
  held: readonly Pick<HeldFacts, 'kind' | 'accepted'>[];
  /** Whether it screens all customers that are due, and not a selection. */
  wantsAll: boolean;
  /** Null for a run that has not ended. */
  finishedAt: Date | null;
  changes: number;
  /** Matches of first screenings. */
  baseline: number;
}

/** A list that is too long to hold: the number of its lines, and all of them in batches, in the report's order. */
export interface TruncatedList<Line> {
  lines: number;
  read: () => AsyncIterable<readonly Line[]>;
}

/** The number of changes, or of matches of first screenings, of a severity. */
export interface SeverityCount {
  count: number;
  /** Those that are, or were, hits for a sanction. */
  sanctionHits: number;
  /** Sanction hits that are hits now. */
  currentHits: number;
}

/** A truncated list of changes or of matches of first screenings, most severe first, then by customer reference. */
export interface TruncatedMatches extends TruncatedList<MatchChangeFacts> {
  bySeverity: Readonly<Record<Severity, SeverityCount>>;
  /** All of one severity, in batches. */
  readOf: (severity: Severity) => AsyncIterable<readonly MatchChangeFacts[]>;
}

/** A cluster of changes, counted in the database. */
export type CountedCluster = {
  severity: Severity;
  customers: number;
  changes: number;
  /** The first of them, `clusterSize.examples` at most. */
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

/** A truncated list of changes. */
export interface TruncatedChanges extends TruncatedMatches {
  clusters: readonly CountedCluster[];
  /** The earliest due time of their waiting alerts that are not overdue. */
  nextDueAt: Date | null;
}

/** The reads of a truncated list, each line passed through `map`. */
export function mapReads(
  cut: TruncatedMatches,
  map: (change: MatchChangeFacts) => MatchChangeFacts,
): Pick<TruncatedMatches, 'read' | 'readOf'> {
  return {
    read: () => mapBatches(cut.read(), map),
    readOf: (severity) => mapBatches(cut.readOf(severity), map),
  };
}

/** Batches of lines, each line passed through `map`. */
export async function* mapBatches<Line, Mapped>(
  batches: AsyncIterable<readonly Line[]>,
  map: (line: Line) => Mapped,
): AsyncGenerator<readonly Mapped[]> {
  for await (const batch of batches) yield batch.map(map);
}

/** The number of matches of first screenings. */
export const countBaseline = ({ baselineChanges, cut }: Pick<RunFacts, 'baselineChanges' | 'cut'>): number =>
  cut.baseline?.lines ?? baselineChanges.length;

/** The number of changes. */
export const countChanges = ({ changes, cut }: Pick<RunFacts, 'changes' | 'cut'>): number =>
  cut.changes?.lines ?? changes.length;

/** All lines of a list in batches. Throws ReportError `unbalanced` when a truncated list has another number of lines than counted. */
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
