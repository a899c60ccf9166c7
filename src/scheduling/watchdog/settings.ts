import { z } from 'zod';
import { durationSchema, toDurationMs } from '../../roster/duration.js';

const spanSchema = durationSchema.refine((duration) => toDurationMs(duration) > 0, { error: 'must be longer than 0' });

/** What the watchdog puts up with before it tells. */
export const watchdogSettingsSchema = z.strictObject({
  every: spanSchema
    .refine((duration) => toDurationMs(duration) >= 60_000, { error: 'must be 1m or more' })
    .default('15m')
    .describe('how often the scheduler looks'),
  lateAfter: spanSchema.default('2h').describe('how long after its time a job may begin before it counts as not run'),
  stuckAfter: spanSchema.default('2h').describe('how long a run may save nothing before it counts as stuck'),
  failingFor: spanSchema
    .default('7d')
    .describe(
      'customers who fail every night are told once, and once more when they have had no valid answer for so long',
    ),
  noteFile: z
    .string()
    .min(1)
    .default('./nightscreen-watchdog.json')
    .describe('where it is kept that the database was out of reach and that this was told'),
});
/** The `watchdog` settings with their defaults filled in. */
export type WatchdogSettings = z.output<typeof watchdogSettingsSchema>;
