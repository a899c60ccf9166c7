import { resolve } from 'node:path';
import { z } from 'zod';
import { findTemplateProblem } from './link-template.js';

/** Where reports go: each run gets a folder of its own under `dir`, and a copy of it under `publishTo`, where readers can open it. */
export const reportSettingsSchema = z
  .strictObject({
    dir: z.string().min(1).default('./reports'),
    publishTo: z.string().min(1).optional(),
    /** The address under which readers open the copy; `{runId}`, `{file}` and `{roster}` are filled in. */
    linkTemplate: z
      .string()
      .superRefine((template, context) => {
        const message = findTemplateProblem(template);
        if (message !== null) context.addIssue({ code: 'custom', message });
      })
      .optional(),
  })
  .refine(({ dir, publishTo }) => publishTo === undefined || resolve(publishTo) !== resolve(dir), {
    error: 'is where the reports are written; name the folder that readers can open',
    path: ['publishTo'],
  });
export type ReportSettings = z.infer<typeof reportSettingsSchema>;
