import type { RunDeadlineSettings } from '../settings.js';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const minuteMs = 60_000;
// A time of day that a daylight-saving gap swallows comes again on the day after.
const mostMinutes = 50 * 60;

/**
 * The instant until which a run waits for a service that has been out of reach since `since`: that much later, or the first time of that
 * name after `startedAt`, when the run began.
 */
export function findDeadline({ deadline, timezone }: RunDeadlineSettings, startedAt: Date, since: Date): Date {
  const [, count, unit] = /^(\d+)(\D+)$/.exec(deadline) ?? [];
  if (count !== undefined && unit !== undefined) {
    return new Date(since.getTime() + Number(count) * (unitMs[unit] ?? 0));
  }
  return findNextTime(deadline, timezone, startedAt);
}

function findNextTime(time: string, timezone: string, after: Date): Date {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: timezone,
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const firstMs = Math.floor(after.getTime() / minuteMs) * minuteMs + minuteMs;
  for (let minutes = 0; minutes < mostMinutes; minutes += 1) {
    const instant = new Date(firstMs + minutes * minuteMs);
    if (format.format(instant) === time) return instant;
  }
  return new Date(firstMs + mostMinutes * minuteMs);
}
