import type { Severity } from '../changes/change-event.js';
import type { DispositionVerdict } from '../matches/review/disposition.js';
import type { ItemState } from '../matches/review/project-items.js';

/** Who answers for an item. */
export interface ItemOwner {
  name: string;
  /** To whom it is assigned, where that is somebody else who is away. */
  standsInFor: string | null;
}

/** What was said about an item. */
export interface SaidFacts {
  kind: 'decided' | 'proposed' | 'confirmed' | 'undone';
  /** Null where something was undone. */
  verdict: DispositionVerdict | null;
  reviewer: string;
  isAttested: boolean;
  reason: string;
  saidAt: Date;
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

/** How the item of a change stood when the run closed that told of it. */
export interface ChangeItemFacts {
  state: ItemState;
  openedAt: Date;
  dueAt: Date | null;
  owner: ItemOwner | null;
  /** Why it was opened again last; none for one that never was. */
  reopenedBecause: readonly string[];
  /** The last things that were said about it, the newest first. */
  said: readonly SaidFacts[];
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
