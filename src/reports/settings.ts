import { resolve } from 'node:path';
import { z } from 'zod';

/** The folders of reports: each run has its own folder under `dir`, and a copy under `publishTo` for readers. */
export const reportSettingsSchema = z
  .strictObject({
    dir: z
      .string()
      .min(1)
      .default('./reports')
      .describe('the folder of reports; each reported run has its own folder in it'),
    publishTo: z
      .string()
      .min(1)
      .optional()
      .describe('a folder that readers can open, such as a network share; each report is copied to it'),
  })
  .refine(({ dir, publishTo }) => publishTo === undefined || resolve(publishTo) !== resolve(dir), {
    error: 'is the folder of the reports themselves; name another folder that readers can open',
    path: ['publishTo'],
  });
export type ReportSettings = z.infer<typeof reportSettingsSchema>;
