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

/** Regulation (EU) 2024/1624, Article 77: five years, then deletion. 31 CFR 501.601: ten years. */
const yearsByLaw = { 'eu-amlr': 5, 'us-ofac': 10 } as const;

/** The years after which customers who left are erased, or the law that says so. */
export const retentionSchema = z.union([z.enum(['eu-amlr', 'us-ofac']), z.int().min(1).max(100)], {
  error: 'must be eu-amlr, us-ofac, or a number of years from 1 to 100',
});

/** The years of a retention; null without one. */
export function toRetentionYears(retention: z.infer<typeof retentionSchema> | undefined): number | null {
  if (retention === undefined) return null;
  return typeof retention === 'string' ? yearsByLaw[retention] : retention;
}
