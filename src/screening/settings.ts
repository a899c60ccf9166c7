import { z } from 'zod';

/** When a customer is due again: `cadenceHours` after its last valid screening, less an hour of grace for a late or early start. */
export const screeningSettingsSchema = z.strictObject({
  cadenceHours: z.number().positive().default(24),
  /** Days of accepted snapshots without the customer after which it has left the roster. */
  leaveAfterDays: z.number().int().positive().default(7),
});
export type ScreeningSettings = z.infer<typeof screeningSettingsSchema>;
