import { StoreError } from '../errors.js';

/** Nobody whom the roster names may be left out: throws StoreError unless as many rows were written as were to be; `what` names them. */
export function requireAll(saved: number, expected: number, what = 'parties'): void {
  if (saved === expected) return;
  throw new StoreError(
    'roster_not_whole',
    `${saved} of ${expected} ${what} of the roster could be stored, so nothing of it was; please report this`,
  );
}
