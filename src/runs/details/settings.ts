import { z } from 'zod';

/** What is kept as evidence beside the answers to searches. */
export const evidenceSettingsSchema = z.strictObject({
  /** What is fetched about new hits when a run has made its searches. */
  details: z
    .strictObject({
      /** GET /aml/activity/{id}: the match itself. */
      activity: z.boolean().default(true),
      /** GET /aml/entity/{id}: the screened record that a match or its activity names. */
      entity: z.boolean().default(true),
      /** Look-ups of one run, resumed or not. */
      maxPerRun: z.int().min(0).max(100_000).default(200),
    })
    .prefault({}),
});
/** The `evidence` settings with their defaults filled in. */
export type EvidenceSettings = z.output<typeof evidenceSettingsSchema>;
