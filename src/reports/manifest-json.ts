import { z } from 'zod';

/** `manifest.json`: which files belong to a report, each with its size and SHA-256 (hex); written last. */
export const manifestJsonSchema = z.strictObject({
  schema: z.literal('nightscreen/report-manifest/1'),
  runId: z.string(),
  /** Set where names are initials. */
  masked: z.literal(true).optional(),
  /** Of Nightscreen, when the run was made. */
  version: z.string(),
  files: z.array(z.strictObject({ name: z.string(), bytes: z.number().int().nonnegative(), sha256: z.string() })),
});
export type ManifestJson = z.infer<typeof manifestJsonSchema>;
