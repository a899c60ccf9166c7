import { StoreError } from '../errors.js';

/** Nobody whom the roster names may be left without a search: throws StoreError unless all parties that were expected could be stored. */
export function requireAll(saved: number, expected: number): void {
  if (saved === expected) return;
  throw new StoreError(
    'roster_not_whole',
    `${saved} of ${expected} parties of the roster could be stored, so nothing of it was; please report this`,
  );
}
