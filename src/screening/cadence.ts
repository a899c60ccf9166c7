import type { RiskTier } from '../roster/customer.js';
import { toDurationMs } from './duration.js';
import type { ScreeningSettings } from './settings.js';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
/** A night that starts a little earlier than the last one must still find everybody due. */
const graceMs = hourMs;

/** How often each risk tier is screened, and why less than daily where it is. */
export interface Cadence {
  hours: Readonly<Record<RiskTier, number>>;
  reason: string | null;
}

/** The cadence that settings ask for: the base for every tier that has none of its own. */
export function toCadence({ cadenceHours, cadence }: Pick<ScreeningSettings, 'cadenceHours' | 'cadence'>): Cadence {
  const toHours = (duration: string | undefined): number =>
    duration === undefined ? cadenceHours : toDurationMs(duration) / hourMs;
  return {
    hours: { high: toHours(cadence?.high), medium: toHours(cadence?.medium), low: toHours(cadence?.low) },
    reason: cadence?.reason ?? null,
  };
}

/** When the customers of one tier are due at a certain instant. */
export interface TierDue {
  tier: RiskTier;
  /** Place in the order of searches, from 0. */
  place: number;
  cadenceMs: number;
  judgedAt: Date;
  /** Who was screened in a run that began at or before this is due. */
  dueBefore: Date;
  /** Whose last valid screening is at or before this is overdue: twice the cadence has passed. */
  overdueBefore: Date;
  /** Over how many nights the customers of the tier are spread. */
  nights: number;
  /** Which of these nights this is, from 0; who belongs to it is due even earlier, if screened before `nightBeganAt`. */
  tonight: number;
  nightBeganAt: Date;
}

const tiers: readonly RiskTier[] = ['high', 'medium', 'low'];

/**
 * When each tier is due now. A cadence of two days or more assumes a run every 24 hours: a customer is due when the next run would come
 * later than its cadence and an hour allow, and each is due once per cadence in a night of its own, so that no night has them all.
 */
export function listTierDues({ hours }: Cadence, now: Date): readonly TierDue[] {
  const nowMs = now.getTime();
  const night = Math.floor(nowMs / dayMs);
  return tiers.map((tier, place) => {
    const cadenceMs = hours[tier] * hourMs;
    const nights = Math.max(1, Math.floor((cadenceMs + graceMs) / dayMs));
    return {
      tier,
      place,
      cadenceMs,
      judgedAt: now,
      dueBefore: new Date(nowMs - toDueAgeMs(cadenceMs)),
      overdueBefore: new Date(nowMs - 2 * cadenceMs),
      nights,
      tonight: night % nights,
      nightBeganAt: new Date(night * dayMs),
    };
  });
}

/** The age at which a screening is due again. */
function toDueAgeMs(cadenceMs: number): number {
  const nightlyMs = Math.max(Math.min(cadenceMs, dayMs) - graceMs, 0);
  return Math.max(nightlyMs, cadenceMs + graceMs - dayMs);
}
