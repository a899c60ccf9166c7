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
}
