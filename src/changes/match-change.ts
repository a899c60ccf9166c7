import type { ChangeCause, MatchDifference } from './change-event.js';
import type { Corroboration } from './corroboration.js';
import type { SeverityVerdict } from './severity.js';

/** A difference with its judgement; `isBaseline` for a first screening. */
export interface MatchChange extends SeverityVerdict {
  difference: MatchDifference;
  corroboration: Corroboration;
  cause: ChangeCause;
  isBaseline: boolean;
  /** Whether the match is, or was, a hit for a sanction. */
  isSanctionHit: boolean;
}
