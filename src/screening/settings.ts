import { z } from 'zod';
import { durationSchema, toDurationMs } from '../roster/duration.js';

const dayMs = 24 * 60 * 60 * 1_000;
const hoursPerDay = 24;

const cadenceDuration = durationSchema.refine((duration) => toDurationMs(duration) > 0, 'must be longer than nothing');

/** How often each risk tier is screened in place of `cadenceHours`; customers without a tier count as high. */
const cadenceSettingsSchema = z.strictObject({
  high: cadenceDuration.optional(),
  medium: cadenceDuration.optional(),
  low: cadenceDuration.optional(),
  /** Why it is enough to screen some tiers less often than daily; recorded with each run. */
  reason: z.string().trim().min(1).optional(),
});

/** Whom a run asks about, and when anew. */
export const screeningSettingsSchema = z
  .strictObject({
    /** A customer is due when the next run would come later than this after its last valid screening, and an hour. */
    cadenceHours: z.number().positive().default(hoursPerDay),
    /** The same by risk tier; a tier longer than a day needs the written reason. */
    cadence: cadenceSettingsSchema.optional(),
    /** Days of accepted snapshots without the customer after which it has left the roster. */
    leaveAfterDays: z.number().int().positive().default(7),
    /** Searches after which the canaries are asked again; they are also asked first and last. */
    canariesEvery: z.number().int().positive().default(10_000),
    /** How old an answer may be that is used again for the same request in place of a search; 0 for never. */
    reuseMaxAge: z.union([durationSchema, z.literal(0)]).default(0),
  })
  .superRefine(({ cadenceHours, cadence }, context) => {
    if (cadence?.reason !== undefined) return;
    const message = 'is missing: a tier that is screened less often than daily needs the reason why that is enough';
    const tiers = (['high', 'medium', 'low'] as const).filter((tier) => toDurationMs(cadence?.[tier] ?? '0h') > dayMs);
    for (const tier of tiers) {
      context.addIssue({ code: 'custom', path: ['cadence', tier], message: `${message}, as screening.cadence.reason` });
    }
    if (cadenceHours > hoursPerDay && tiers.length === 0) {
      context.addIssue({
        code: 'custom',
        path: ['cadenceHours'],
        message: `is longer than a day, which needs the reason why that is enough, as screening.cadence.reason`,
      });
    }
  });
export type ScreeningSettings = z.output<typeof screeningSettingsSchema>;
