import { z } from 'zod';

/** How dossiers are swept (interface: Limits). */
export const sweepSettingsSchema = z.strictObject({
  perPage: z.number().int().min(1).max(100).default(100).describe('dossiers per page'),
  windows: z
    .int()
    .min(1)
    .max(64)
    .default(1)
    .describe('spans of creation time that are walked at once, within `service.rate`; 1 for one walk'),
  details: z
    .strictObject({
      maxPerRun: z
        .int()
        .min(0)
        .max(100_000)
        .default(0)
        .describe('look-ups of one sweep: new and changed dossiers, their applicants and decisions; 0 for none'),
    })
    .prefault({})
    .describe('what is fetched about single dossiers when the list has been read'),
});
export type SweepSettings = z.infer<typeof sweepSettingsSchema>;
