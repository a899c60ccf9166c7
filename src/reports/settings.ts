import { resolve } from 'node:path';
import { z } from 'zod';
import { findTemplateProblem } from './link-template.js';

/** Where reports go: each run gets a folder of its own under `dir`, and a copy of it under `publishTo`, where readers can open it. */
export const reportSettingsSchema = z
  .strictObject({
    dir: z.string().min(1).default('./reports').describe('each reported run gets a folder of its own in it'),
    publishTo: z
      .string()
      .min(1)
      .optional()
      .describe('a folder that readers can open, such as a share: each report is copied there'),
    linkTemplate: z
      .string()
      .superRefine((template, context) => {
        const message = findTemplateProblem(template);
        if (message !== null) context.addIssue({ code: 'custom', message });
      })
      .optional()
      .describe(
        'the address under which readers open the copy, as in https://files.firm.example/screening/{runId}/{file}; {runId}, {file} and {roster} are filled in',
      ),
  })
  .refine(({ dir, publishTo }) => publishTo === undefined || resolve(publishTo) !== resolve(dir), {
    error: 'is where the reports are written; name the folder that readers can open',
    path: ['publishTo'],
  });
export type ReportSettings = z.infer<typeof reportSettingsSchema>;
