import { z } from 'zod';

/** What counts as a change: a score has to move by at least `scoreStep` from the value last reported. */
export const changeSettingsSchema = z.strictObject({
  scoreStep: z.number().positive().max(1).default(0.02),
});
export type ChangeSettings = z.infer<typeof changeSettingsSchema>;
