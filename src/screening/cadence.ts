import type { RiskTier } from '../roster/customer.js';
import { toDurationMs } from '../roster/duration.js';
import type { ScreeningSettings } from './settings.js';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
/** What a night may start earlier or later than the last one. */
const graceMs = hourMs;
/** The least age at which a daily screening is due again: a second run in the daytime finds nobody due. */
const leastDailyAgeMs = 16 * hourMs;
/** A run that is to start at once is this one. */
const soonestNextMs = 60 * 1_000;

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
  /** Whose last screening is at or before this has no valid one: the cadence has passed, and an hour for a night that starts late. */
  staleBefore: Date;
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
 * When each tier is due now: a customer is due when the next run would come later than its cadence and an hour allow. Where nobody says when
 * that is (`nextRunAt`), it is taken to come in 24 hours, but nobody is due before 16 hours, or two thirds of a shorter cadence, have passed,
 * so that a second run in the daytime does not ask about everybody again. Within a cadence of two days or more each customer is also due once in a
 * night of its own, so that no night has them all.
 */
export function listTierDues({ hours }: Cadence, now: Date, nextRunAt: Date | null = null): readonly TierDue[] {
  const nowMs = now.getTime();
  const night = Math.floor(nowMs / dayMs);
  const untilNextMs = nextRunAt === null ? 0 : nextRunAt.getTime() - nowMs;
  return tiers.map((tier, place) => {
    const cadenceMs = hours[tier] * hourMs;
    const nights = Math.max(1, Math.floor((cadenceMs + graceMs) / dayMs));
    return {
      tier,
      place,
      cadenceMs,
      judgedAt: now,
      dueBefore: new Date(nowMs - toDueAgeMs(cadenceMs, untilNextMs)),
      staleBefore: new Date(nowMs - cadenceMs - graceMs),
      overdueBefore: new Date(nowMs - 2 * cadenceMs),
      nights,
      tonight: night % nights,
      nightBeganAt: new Date(night * dayMs),
    };
  });
}

/** The age at which a screening is due again. */
function toDueAgeMs(cadenceMs: number, untilNextMs: number): number {
  const isKnown = untilNextMs > soonestNextMs;
  const lastChanceMs = cadenceMs + graceMs - (isKnown ? untilNextMs : dayMs);
  // Whatever comes next, a night that starts a little early finds everybody due.
  return Math.min(
    Math.max(lastChanceMs, isKnown ? graceMs : Math.min((cadenceMs * 2) / 3, leastDailyAgeMs)),
    Math.max(cadenceMs - graceMs, 0),
  );
}
