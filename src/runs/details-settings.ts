import { z } from 'zod';

/** What is kept as evidence beside the answers to searches. */
export const evidenceSettingsSchema = z.strictObject({
  details: z
    .strictObject({
      activity: z.boolean().default(true).describe('fetch and keep the record of each new hit: GET /aml/activity/{id}'),
      entity: z
        .boolean()
        .default(true)
        .describe('the same for the AML entities that a match or its record names: GET /aml/entity/{id}'),
      maxPerRun: z
        .int()
        .min(0)
        .max(100_000)
        .default(200)
        .describe('look-ups of one run, resumed or not; 0 for none; they count against no budget'),
    })
    .prefault({})
    .describe('what is fetched about new hits when a run has made its searches'),
});
/** The `evidence` settings with their defaults filled in. */
export type EvidenceSettings = z.output<typeof evidenceSettingsSchema>;
