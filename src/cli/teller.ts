import type { RunEvent } from '../runs/workplace.js';

/** Tells what runs do, to a person or to a log. */
export interface Teller {
  tell: (event: RunEvent) => void;
  /** Says what is left to say and lets go of its timer. */
  close: () => void;
}
