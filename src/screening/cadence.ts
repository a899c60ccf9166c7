import { toDurationMs } from '../roster/duration.js';
import type { RiskTier } from '../vocabulary.js';
import type { ScreeningSettings } from './settings.js';

const hourMs = 60 * 60 * 1_000;
const dayMs = 24 * hourMs;
/** How late or early a night may start. */
const driftMs = hourMs;
/** With a frequency of a day or more, a night skips the customers of a catch-up that began less than this before it. */
const skippedMs = 2 * hourMs;
/** The minimum age at which a daily screening is due again, so that a second run in the daytime finds no one due. */
const leastDailyAgeMs = 16 * hourMs;

/** The screening frequency of each risk tier, and the reason for less than daily. */
interface Cadence {
  hours: Readonly<Record<RiskTier, number>>;
  reason: string | null;
}

/** The screening frequency in the settings: the base for each tier without its own. */
export function toCadence({ cadenceHours, cadence }: Pick<ScreeningSettings, 'cadenceHours' | 'cadence'>): Cadence {
  const toHours = (duration: string | undefined): number =>
    duration === undefined ? cadenceHours : toDurationMs(duration) / hourMs;
  return {
    hours: { high: toHours(cadence?.high), medium: toHours(cadence?.medium), low: toHours(cadence?.low) },
    reason: cadence?.reason ?? null,
  };
}

/** When the customers of one tier are due at a certain time. */
export interface TierDue {
  tier: RiskTier;
  /** The position in the order of searches, from 0. */
  place: number;
  cadenceMs: number;
  assessedAt: Date;
  /** A customer is due when the run of its last screening began at or before this. */
  dueBefore: Date;
  /**
   * A customer last screened at or before this has no valid screening: the frequency and its grace have passed (SQL: `to_validity`).
   */
  staleBefore: Date;
  /** A customer last validly screened at or before this is overdue: twice the frequency has passed. */
  overdueBefore: Date;
  /** The number of nights over which the customers of the tier are spread. */
  nights: number;
  /** The number of this night, from 0; its customers are due earlier, if screened before `nightBeganAt`. */
  tonight: number;
  /** Midnight (UTC), or earlier, so that a catch-up shortly before midnight counts. */
  nightBeganAt: Date;
}

const tiers: readonly RiskTier[] = ['high', 'medium', 'low'];

/**
 * When each tier is due now. A customer is due when the next run would start later than its frequency and two hours allow (one hour for a
 * frequency below a day). A skipped customer thus keeps an hour of grace for a late next run. Without `nextRunAt` the next run is assumed
 * in 24 hours, but a customer is due at the earliest after 16 hours, or two thirds of a shorter frequency, so that a second run in the
 * daytime does not repeat all searches. With a frequency of two days or more each customer is also due once in its own night, which spreads
 * the load.
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

/** How much longer than its frequency a customer may wait for a next run that starts on time. */
const toSlackMs = (cadenceMs: number): number => (cadenceMs < dayMs ? hourMs : skippedMs);

/** The age at which a screening is due again. */
function toDueAgeMs(cadenceMs: number, untilNextMs: number | null): number {
  const lastChanceMs = cadenceMs + toSlackMs(cadenceMs) - (untilNextMs ?? dayMs);
  // In any case a night that starts a little early finds all customers due.
  return Math.min(
    Math.max(lastChanceMs, untilNextMs === null ? Math.min((cadenceMs * 2) / 3, leastDailyAgeMs) : hourMs),
    Math.max(cadenceMs - driftMs, 0),
  );
}
