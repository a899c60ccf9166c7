import { z } from 'zod';

/** Where reports go: each run gets a folder of its own under `dir`. */
export const reportSettingsSchema = z.strictObject({
  dir: z.string().min(1).default('./reports'),
});
export type ReportSettings = z.infer<typeof reportSettingsSchema>;
