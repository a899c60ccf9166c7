import { toDurationMs } from '../roster/duration.js';
import type { RiskTier } from '../vocabulary.js';
import type { ScreeningSettings } from './settings.js';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
/** How late or early a night may start. */
const driftMs = hourMs;
/** From a cadence of a day on, a night skips the customers of a catch-up that began less than this before it. */
const skippedMs = 2 * hourMs;
/** The least age at which a daily screening is due again: a second run in the daytime finds nobody due. */
const leastDailyAgeMs = 16 * hourMs;

/** How often each risk tier is screened, and why less than daily where it is. */
interface Cadence {
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
  assessedAt: Date;
  /** Who was screened in a run that began at or before this is due. */
  dueBefore: Date;
  /** Whose last screening is at or before this has no valid one: the cadence and its grace have passed (SQL: `screening_grace`). */
  staleBefore: Date;
  /** Whose last valid screening is at or before this is overdue: twice the cadence has passed. */
  overdueBefore: Date;
  /** Over how many nights the customers of the tier are spread. */
  nights: number;
  /** Which of these nights this is, from 0; who belongs to it is due even earlier, if screened before `nightBeganAt`. */
  tonight: number;
  /** Midnight (UTC), or earlier, so that a catch-up shortly before midnight counts. */
  nightBeganAt: Date;
}

const tiers: readonly RiskTier[] = ['high', 'medium', 'low'];

/**
 * When each tier is due now: a customer is due when the next run would come later than its cadence and two hours (one hour for a cadence below a
 * day) allow. A skipped customer thus keeps an hour of its grace for a next run that starts late. Where `nextRunAt` is null, the next run is taken
 * to come in 24 hours, but nobody is due before 16 hours, or two thirds of a shorter cadence, have passed, so that a second run in the daytime
 * does not ask about everybody again. Within a cadence of two days or more each customer is also due once in a night of its own, so that no night
 * has them all.
 */
export function listTierDueTimes({ hours }: Cadence, now: Date, nextRunAt: Date | null = null): readonly TierDue[] {
  const nowMs = now.getTime();
  const night = Math.floor(nowMs / dayMs);
  const untilNextMs = nextRunAt && nextRunAt.getTime() - nowMs;
  return tiers.map((tier, place) => {
    const cadenceMs = hours[tier] * hourMs;
    const slackMs = toSlackMs(cadenceMs);
    const graceMs = cadenceMs < dayMs ? slackMs : slackMs + driftMs;
    const nights = Math.max(1, Math.floor((cadenceMs + slackMs) / dayMs));
    return {
      tier,
      place,
      cadenceMs,
      assessedAt: now,
      dueBefore: new Date(nowMs - toDueAgeMs(cadenceMs, untilNextMs)),
      staleBefore: new Date(nowMs - cadenceMs - graceMs),
      overdueBefore: new Date(nowMs - 2 * cadenceMs),
      nights,
      tonight: night % nights,
      nightBeganAt: new Date(Math.min(night * dayMs, nowMs - slackMs)),
    };
  });
}

/** How much longer than the cadence a customer may wait for the next run, if that starts on time. */
const toSlackMs = (cadenceMs: number): number => (cadenceMs < dayMs ? hourMs : skippedMs);

/** The age at which a screening is due again. */
function toDueAgeMs(cadenceMs: number, untilNextMs: number | null): number {
  const lastChanceMs = cadenceMs + toSlackMs(cadenceMs) - (untilNextMs ?? dayMs);
  // Whatever comes next, a night that starts a little early finds everybody due.
  return Math.min(
    Math.max(lastChanceMs, untilNextMs === null ? Math.min((cadenceMs * 2) / 3, leastDailyAgeMs) : hourMs),
    Math.max(cadenceMs - driftMs, 0),
  );
}
