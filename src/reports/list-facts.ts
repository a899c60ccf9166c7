import type { Corroboration } from '../changes/corroboration.js';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { Match } from '../matches/match.js';
import type { ListedDiscrepancy } from '../reconciliation/discrepancy.js';
import type {
  Absence,
  AlertState,
  ChangeCause,
  DetailStop,
  DispositionVerdict,
  DossierChangeKind,
  MatchChangeKind,
  MatchField,
  PartyRole,
  PartyType,
  RiskTier,
  RunMode,
  Severity,
  SeverityAdjustment,
} from '../vocabulary.js';

/** The counts of a run, named as in the run summary; they count customers unless the name says otherwise. */
export interface RunCounts {
  rows: number;
  customers: number;
  rejected: number;
  duplicates: number;
  /** The customers that the run has to screen or skip. */
  inScope: number;
  planned: number;
  screened: number;
  reused: number;
  failed: number;
  skipped: number;
  remaining: number;
  /** Distinct requests, control searches not included. */
  searches: number;
  /** Every POST sent, control searches and repeats included. */
  attempts: number;
  matches: number;
  hits: number;
  /** Changes since the last report, first screenings not included. */
  changes: number;
}

/** The party of a line of the report. */
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
  /** The party as it was at the former answer; null where the record is the same or unknown. */
  formerParty: PartyFacts | null;
  kind: MatchChangeKind;
  severity: Severity;
  rule: string;
  adjustments: readonly SeverityAdjustment[];
  /** Whether the customer's facts agree with the match; null for changes of versions that did not compare them. */
  corroboration: Corroboration | null;
  cause: ChangeCause;
  /** Whether the match is, or was, a hit for a sanction: such a change is in no cluster. */
  isSanctionHit: boolean;
  matchId: string;
  fields: readonly MatchField[];
  before: Match | null;
  after: Match | null;
  /** Its alert when the run closed; null where it has none, for first screenings and for runs that have not closed. */
  alert: ChangeAlertFacts | null;
  /** The name of its cluster in the report. */
  cluster?: string | undefined;
}

/** A critical change of a run in progress, for the early warning; `isBaseline` for a first screening. */
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
  /** The first sweep of the account: it is the starting point and has no changes. */
  isStart: boolean;
  pages: number;
  dossiers: number;
  /** False: no dossier is reported as gone, for the reason `unprovenBecause`. */
  proven: boolean;
  unprovenBecause: string | null;
}

/** A party in scope without a valid screening. */
export interface NotScreenedFacts {
  party: PartyFacts;
  outcome: 'failed' | 'skipped' | 'remaining';
  /** The stable code of the error or of the skip. */
  reason: string;
  lastScreenedAt: Date | null;
}

/** A party that is no longer in the roster's source although its last state is not resolved. */
export interface DroppedPartyFacts {
  party: PartyFacts;
  /** Its state when it was dropped. The party stays in scope while its state is an open alert or one of its alerts waits. */
  state: 'open_alert' | 'truncated' | 'true_match';
  droppedAt: Date;
}

/** A control search: a search whose answer is known. */
export interface ControlFacts {
  type: PartyType;
  name: string;
  expect: 'match' | 'none';
  verdict: 'passed' | 'failed';
  /** The actual answer of the first failed round, in words; null when all passed. */
  found: string | null;
  /** A name for it in reports. */
  label: string | null;
  /** A hit must have one of them; empty where any hit is enough. */
  topics: readonly string[];
  /** Each time it was sent, in order; its verdict is the worst of them. */
  rounds: readonly {
    /** The number of the round, from 1. */
    round: number;
    trigger: 'start' | 'resumed' | 'periodic' | 'control' | 'end';
    /** Searches of the plan that had an answer by then. */
    searches: number;
    askedAt: Date;
    verdict: 'passed' | 'failed';
  }[];
}

/** A control search with the field names of `report.json` and `runs show --json`. */
export const toPublishedControl = ({ rounds, ...control }: ControlFacts) => ({
  ...control,
  rounds: rounds.map(({ round, trigger, ...rest }) => ({ round, occasion: trigger, ...rest })),
});

/** The facts of the service watch with the field names of `report.json` and `runs show --json`. */
export function toPublishedWatch({ listCap, ...watch }: WatchFacts) {
  const { rates, ...rest } = watch;
  if (listCap === null) return { rates, listCap, ...rest };
  const { length, status, customers } = listCap;
  return { rates, listCap: { length, standing: status, customers }, ...rest };
}

/** The screening frequency by risk tier, in hours, and its reason where it is less than daily. */
export interface CadenceFacts {
  hours: Readonly<Record<RiskTier, number>>;
  reason: string | null;
}

/** The last decision about a similar match that disappeared when the alert's match appeared: it may be the same party with another id. */
export interface ReplacedFacts {
  verdict: DispositionVerdict;
  reviewer: string;
  reason: string;
  decidedAt: Date;
  /** Of the former match. */
  name: string;
  matchId: string;
}

/** The alert of a change when the run closed. */
export interface ChangeAlertFacts {
  state: AlertState;
  openedAt: Date;
  dueAt: Date | null;
  assignedTo: string | null;
  /** Why it was last re-opened; empty for an alert that never was. */
  reopenedBecause: readonly string[];
  /** Its last decisions and their confirmations, newest first. */
  said: readonly {
    kind: 'decided' | 'proposed' | 'approved' | 'undone';
    /** Null for `undone`. */
    verdict: DispositionVerdict | null;
    reviewer: string;
    isAttested: boolean;
    reason: string;
    saidAt: Date;
  }[];
  replaced: ReplacedFacts | null;
}

/** The alerts that waited for a decision when the run closed, in figures. */
export interface OpenAlertsFacts {
  /** All, pending approvals included. */
  waiting: number;
  /** Null where they were not counted. */
  customers: number | null;
  /** Alerts without a current match, to be confirmed as no longer matched; null where they were not counted. */
  absent: number | null;
  overdue: number;
  unassigned: number;
  proposed: number;
  /** When the oldest was opened; null where none waits. */
  oldestAt: Date | null;
  /** Only severities that occur, most severe first. */
  bySeverity: readonly { severity: Severity; waiting: number; overdue: number }[];
  /** By assignee, those with most first; unassigned alerts are not included. */
  byAssignee: readonly { name: string; waiting: number; overdue: number }[];
  byAge: { upToOneDay: number; upToOneWeek: number; upToThirtyDays: number; older: number };
}

/** One record that a run requested. */
export interface DetailLookup {
  /** One match, or the screened record that matches belong to (interface: Single-record lookups). */
  kind: 'activity' | 'entity';
  id: string;
  askedAt: Date;
  status: number | null;
  /** The stable code of the failure; null where the record is kept. */
  reason: string | null;
  /** SHA-256 (hex) of the body as received; null where the record is not kept. */
  digest: string | null;
  /** The number of links removed from the kept record because they give access by themselves. */
  withheldLinks: number;
  entityIds: readonly string[];
}

/** The records about new hits that a run had to fetch, in counts. */
export interface DetailCounts {
  /** Distinct matches that became hits in the run. */
  hits: number;
  /** Hits whose id has no form that can be looked up. */
  withoutRecord: number;
  asked: number;
  kept: number;
  notAvailable: number;
  /** Records of these hits that were not requested, for the reason `stoppedBecause`. */
  leftOver: number;
  /** Requested records that earlier runs had left over. */
  backlogAsked: number;
  /** Records that earlier runs had left over and that are still missing. */
  backlogLeft: number;
  stoppedBecause: DetailStop | null;
}

/** Whether a run had records to fetch. */
export const hasDetails = ({ hits, backlogAsked, backlogLeft }: DetailCounts): boolean =>
  hits + backlogAsked + backlogLeft > 0;

/** A rate per 1,000 and the median of former runs; `unknown` with too few runs to compare. */
export interface RateFacts {
  perThousand: number;
  usual: number | null;
  formerRuns: number;
  verdict: 'usual' | 'low' | 'high' | 'unknown';
}

/** The rates of a run's answers, compared with former runs. */
export interface WatchFacts {
  /** Null where the run was not assessed: it stopped early, or control searches failed. */
  rates: { matches: RateFacts; hits: RateFacts } | null;
  /** A length at which the service seems to truncate lists silently, or did, and the number of customers with a list of that length. */
  listCap: { length: number; status: 'known' | 'found' | 'gone'; customers: number } | null;
  /** Changes of the service's data per 1,000 searches for customers screened before; null where the run was not assessed. */
  volume: RateFacts | null;
}

/** Who has accepted something, and why. */
export interface AcceptanceFacts {
  acceptedBy: string;
  /** True where the name is only stated, not verified by a login. */
  isAttested: boolean;
  reason: string;
  acceptedAt: Date;
}

/** An accepted change of settings that affect results. */
export interface SettingsChangeFacts extends AcceptanceFacts {
  /** Each setting with its old and new value, in words. */
  differences: readonly string[];
  /** Who accepted them first, where two people were needed. */
  proposedBy: string | null;
}

/** The record of a customer, stored or in a roster. */
export interface CustomerRecordFacts {
  name: string;
  type: string;
  birthDate: string | null;
  countries: readonly string[];
  /** Aliases and related parties, as `role: name`. */
  parties: readonly string[];
}

/** A change of a known customer that triggered a guard. */
export interface RosterChangeFacts {
  reference: string;
  before: CustomerRecordFacts;
  after: CustomerRecordFacts;
}

/** A roster that a person accepted although guards held it. */
export interface RosterAcceptanceFacts extends AcceptanceFacts {
  /** Each guard with its finding, in words with both figures. */
  heldBy: readonly { guard: string; message: string }[];
  /** The first of the changes. */
  changes: readonly RosterChangeFacts[];
}

/** The acceptances that apply to a run. */
export interface AcceptedFacts {
  /** Since the roster's last report; oldest first. */
  settingsChanges: readonly SettingsChangeFacts[];
  rosterAcceptances: readonly RosterAcceptanceFacts[];
}

/** A waiting alert, as a working list shows it. */
export interface WaitingAlert {
  /** The alert code, by which an import identifies the row. */
  mark: string;
  sheetId: number;
  /** Of the account of the alert. */
  mode: RunMode;
  party: PartyFacts;
  listed: Match;
  severity: Severity;
  rule: string;
  priority: number;
  corroboration: Corroboration;
  openedAt: Date;
  dueAt: Date | null;
  /** `pending_approval` waits for a second person. */
  state: 'open' | 'pending_approval';
  /** Why its match is absent: it waits to be confirmed as no longer matched. Null while the match is a hit. */
  absence: Absence | null;
  absentSince: Date | null;
  /** For a row that confirms many absent alerts of one listed party: their number, and a sample of their customers. */
  bulk?: { alerts: number; sample: readonly string[] };
  assignedTo: string | null;
  /** The decision that waits for a second person. */
  proposal: { verdict: DispositionVerdict; reviewer: string; reason: string; decidedAt: Date } | null;
  /** Why it was re-opened; empty for an alert that was never decided. */
  reopenedBecause: readonly string[];
  /** The last decision before that, whether it is still in force or not. */
  lastDecision: { verdict: string; reviewer: string; reason: string; decidedAt: Date } | null;
  replaced: ReplacedFacts | null;
  /** The decision of an older system; `isSample` where it was not imported, so that a reviewer checks it. */
  legacy: { verdict: string; reviewer: string; reason: string; decidedAt: string; isSample: boolean } | null;
}

/** The alerts that waited for a decision when a run closed. */
export interface ToReviewFacts {
  sheetId: number;
  /** The number of all, listed or not. */
  waiting: number;
  /** The most urgent ones. */
  alerts: readonly WaitingAlert[];
}

/** The open and accepted discrepancies, most urgent first; `count` includes those that are not listed. */
export interface DiscrepancyList {
  count: number;
  listed: readonly ListedDiscrepancy[];
}
