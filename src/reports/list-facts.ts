import type { ChangeCause, MatchChangeKind, MatchField, Severity } from '../changes/change-event.js';
import type { Corroboration } from '../changes/corroboration.js';
import type { DossierChangeKind } from '../changes/dossier-change.js';
import type { SeverityAdjustment } from '../changes/severity.js';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import type { Match } from '../matches/match.js';
import type { PartyRole, PartyType, RiskTier } from '../roster/customer.js';
import type { ChangeItemFacts } from './item-facts.js';

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
