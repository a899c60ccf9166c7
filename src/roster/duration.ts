import { z } from 'zod';

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A span of time in settings, such as `30m`, `12h` or `7d`. */
export const durationSchema = z
  .string()
  .regex(/^\d{1,6}(s|m|h|d)$/, 'must be a span such as 30m, 12h or 7d')
  .meta({ title: 'span' });

/** The milliseconds of a span in the form of `durationSchema`, or in `ms`. */
export function toDurationMs(duration: string): number {
  const [, count, unit = ''] = /^(\d+)([a-z]+)$/.exec(duration) ?? [];
  return Number(count) * (unitMs[unit] ?? 0);
}
