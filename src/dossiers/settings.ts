import { z } from 'zod';

/** How dossiers are swept (interface: Limits). */
export const sweepSettingsSchema = z.strictObject({
  perPage: z.number().int().min(1).max(100).default(100).describe('dossiers per page'),
});
export type SweepSettings = z.infer<typeof sweepSettingsSchema>;
