import type { Corroboration } from '../changes/corroboration.js';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { Match } from '../matches/match.js';
import type { ListedDiscrepancy } from '../reconciliation/discrepancy.js';
import type {
  Absence,
  ChangeCause,
  DetailStop,
  DispositionVerdict,
  DossierChangeKind,
  ItemState,
  MatchChangeKind,
  MatchField,
  PartyRole,
  PartyType,
  RiskTier,
  RunMode,
  Severity,
  SeverityAdjustment,
} from '../vocabulary.js';

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
  /** The name of the cluster that it is one of, in a report. */
  cluster?: string | undefined;
}

/** A critical change as it is reported while its run is still going on; `isBaseline` for a first screening. */
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
  rounds: readonly {
    /** Which round of the run's control searches, from 1. */
    round: number;
    trigger: 'start' | 'resumed' | 'periodic' | 'control' | 'end';
    /** Searches of the plan answered by then. */
    searches: number;
    askedAt: Date;
    verdict: 'passed' | 'failed';
  }[];
}

/** A control search with the field names of `report.json` and `runs show --json`. */
export const toPublishedCanary = ({ rounds, ...canary }: CanaryFacts) => ({
  ...canary,
  rounds: rounds.map(({ round, trigger, ...rest }) => ({ round, occasion: trigger, ...rest })),
});

/** What watching has shown, with the field names of `report.json` and `runs show --json`. */
export function toPublishedWatch({ listCap, ...watch }: WatchFacts) {
  const { rates, ...rest } = watch;
  if (listCap === null) return { rates, listCap, ...rest };
  const { length, status, customers } = listCap;
  return { rates, listCap: { length, standing: status, customers }, ...rest };
}

/** How often customers are screened by risk tier, in hours, and why it is enough where that is less than daily. */
export interface CadenceFacts {
  hours: Readonly<Record<RiskTier, number>>;
  reason: string | null;
}

/** Who answers for an item. */
export interface ItemOwner {
  name: string;
  /** To whom it is assigned, where that is somebody else who is away. */
  standsInFor: string | null;
}

/** The last decision about a like match that left the list when the item's match came: under another id and with other facts it may be the same party. */
export interface ReplacedFacts {
  verdict: DispositionVerdict;
  reviewer: string;
  reason: string;
  decidedAt: Date;
  /** Of the match that it is about. */
  name: string;
  matchId: string;
}

/** How the item of a change stood when the run closed that reported it. */
export interface ChangeItemFacts {
  state: ItemState;
  openedAt: Date;
  dueAt: Date | null;
  owner: ItemOwner | null;
  /** Why it was opened again last; none for one that never was. */
  reopenedBecause: readonly string[];
  /** The last things that were said about it, the newest first. */
  said: readonly {
    kind: 'decided' | 'proposed' | 'confirmed' | 'undone';
    /** Null where something was undone. */
    verdict: DispositionVerdict | null;
    reviewer: string;
    isAttested: boolean;
    reason: string;
    saidAt: Date;
  }[];
  replaced: ReplacedFacts | null;
}

/** What waited for reviewers when the run closed. */
export interface OpenItemsFacts {
  /** Undecided, proposals that nobody has confirmed yet included. */
  waiting: number;
  /** Whose they are; null where it was not counted. */
  customers: number | null;
  /** Those that wait only to be confirmed as no longer matched; null where it was not counted. */
  absent: number | null;
  overdue: number;
  unassigned: number;
  proposed: number;
  /** Since when the oldest waits; null where nothing does. */
  oldestAt: Date | null;
  /** Only severities that occur, most severe first. */
  bySeverity: readonly { severity: Severity; waiting: number; overdue: number }[];
  /** By who answers for them, those with most first; what is assigned to nobody is not among them. */
  byOwner: readonly (ItemOwner & { waiting: number; overdue: number })[];
  /** By how long they have waited. */
  byAge: { upToOneDay: number; upToOneWeek: number; upToThirtyDays: number; older: number };
}

/** One record that a run asked for. */
export interface DetailLookup {
  /** One match, or the screened record that matches belong to (interface: Single-record lookups). */
  kind: 'activity' | 'entity';
  id: string;
  askedAt: Date;
  status: number | null;
  /** Stable code of why nothing could be kept; null where the record is kept. */
  reason: string | null;
  /** SHA-256 (hex) of the body as received; null where nothing is kept. */
  digest: string | null;
  /** Links that were left out of what is kept, because they open something by themselves. */
  withheldLinks: number;
  /** AML entities that the record names. */
  entityIds: readonly string[];
}

/** How many details a run had to fetch, and what became of them. */
export interface DetailCounts {
  /** Different matches that became hits in the run. */
  hits: number;
  /** Of them those whose id has no form that can be looked up. */
  withoutRecord: number;
  asked: number;
  kept: number;
  notAvailable: number;
  /** Of these hits, to be fetched and not asked for; `stoppedBecause` says why. */
  leftOver: number;
  /** Of those asked for, what earlier runs had left over. */
  backlogAsked: number;
  /** What earlier runs had left over and is still missing. */
  backlogLeft: number;
  stoppedBecause: DetailStop | null;
}

/** Whether there is anything to say of a run's details: new hits, or what earlier runs had left over. */
export const hasDetails = ({ hits, backlogAsked, backlogLeft }: DetailCounts): boolean =>
  hits + backlogAsked + backlogLeft > 0;

/** A rate per 1,000 beside the median of former runs; flagged when `low` or `high`, `unknown` with too few to compare. */
export interface RateFacts {
  perThousand: number;
  usual: number | null;
  formerRuns: number;
  verdict: 'usual' | 'low' | 'high' | 'unknown';
}

/** What watching the service during a run has shown. */
export interface WatchFacts {
  /** Null where the run was not judged: it stopped early, or canaries failed. */
  rates: { matches: RateFacts; hits: RateFacts } | null;
  /** A length at which lists look cut without a word, or did, and how many customers have a list of just that length. */
  listCap: { length: number; status: 'known' | 'found' | 'gone'; customers: number } | null;
  /** Changes of the service's data per 1,000 searches for customers screened before; null where the run was not judged. */
  volume: RateFacts | null;
}

/** Settings that judge, as somebody changed them. */
export interface SettingsChangeFacts {
  /** Each setting with its old and its new value, in words. */
  differences: readonly string[];
  acceptedBy: string;
  /** True where nothing but their word says who they are. */
  isAttested: boolean;
  reason: string;
  acceptedAt: Date;
}

/** What was known of a customer, or what a roster says of them. */
export interface CustomerRecordFacts {
  name: string;
  type: string;
  birthDate: string | null;
  countries: readonly string[];
  /** Aliases and related parties, as `role: name`. */
  parties: readonly string[];
}

/** A change of a known customer that guards found. */
export interface RosterChangeFacts {
  reference: string;
  before: CustomerRecordFacts;
  after: CustomerRecordFacts;
}

/** A roster that somebody took although guards would have held it. */
export interface RosterAcceptanceFacts extends Omit<SettingsChangeFacts, 'differences'> {
  /** Each guard with what it found, in words that give both figures. */
  heldBy: readonly { guard: string; message: string }[];
  /** The first of the changes that they found. */
  changes: readonly RosterChangeFacts[];
}

/** What somebody accepted that a run went by. */
export interface AcceptedFacts {
  /** Since the roster's last report; oldest first. */
  settingsChanges: readonly SettingsChangeFacts[];
  rosterAcceptances: readonly RosterAcceptanceFacts[];
}

/** An item that waits, as a working list shows it. */
export interface WaitingItem {
  /** The cell by which it is known again. */
  mark: string;
  /** The working list that it is on. */
  sheetId: number;
  /** Of the account on which it was found. */
  mode: RunMode;
  party: PartyFacts;
  listed: Match;
  severity: Severity;
  rule: string;
  priority: number;
  corroboration: Corroboration;
  openedAt: Date;
  dueAt: Date | null;
  /** `proposed` waits for a second person. */
  state: 'open' | 'proposed';
  /** Why its match is absent, so that it waits to be confirmed as no longer matched; null while it is listed as a hit. */
  absence: Absence | null;
  absentSince: Date | null;
  /** Of a row that confirms many absent alerts of one listed party at once: how many, and customers to look at as a sample. */
  bulk?: { alerts: number; sample: readonly string[] };
  owner: ItemOwner | null;
  /** What somebody has proposed that nobody has confirmed yet. */
  proposal: { verdict: DispositionVerdict; reviewer: string; reason: string; decidedAt: Date } | null;
  /** Why it is open again; none for one that was never decided. */
  reopenedBecause: readonly string[];
  /** The last decision about it before that, whether it stands or not. */
  lastDecision: { verdict: string; reviewer: string; reason: string; decidedAt: Date } | null;
  replaced: ReplacedFacts | null;
  /** What an older system had decided, as it says so; `isSample` where that was not taken over so that somebody looks again. */
  legacy: { verdict: string; reviewer: string; reason: string; decidedAt: string; isSample: boolean } | null;
}

/** What waited for reviewers when a run closed. */
export interface ToReviewFacts {
  sheetId: number;
  /** How many, also beyond those that are listed. */
  waiting: number;
  /** The most urgent. */
  items: readonly WaitingItem[];
}

/** The discrepancies that stand, most urgent first; `count` of them, also beyond those that are listed. */
export interface DiscrepancyList {
  count: number;
  listed: readonly ListedDiscrepancy[];
}
