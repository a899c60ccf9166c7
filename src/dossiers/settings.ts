import { z } from 'zod';

/** How dossiers are swept: `perPage` is 1 to 100 (interface: Limits). */
export const sweepSettingsSchema = z.strictObject({
  perPage: z.number().int().min(1).max(100).default(100),
});
export type SweepSettings = z.infer<typeof sweepSettingsSchema>;
