import { listTierDues, type TierDue, toCadence } from '../../screening/cadence.js';
import type { Workplace } from '../workplace.js';

/** When each tier is due at this moment under the settings, with the next run where it is on a schedule. */
export const listDues = (
  { settings, nextRescreening }: Pick<Workplace, 'settings' | 'nextRescreening'>,
  now: Date,
): readonly TierDue[] => listTierDues(toCadence(settings.screening), now, nextRescreening?.() ?? null);
