import { z } from 'zod';
import { countFromOneSchema, filledTextSchema, sentDateTimeSchema } from './input-schemas.js';
import { isoDateTimeSchema } from './iso-date-time.js';

/** One row of the dossier list (interface: Dossier summary); unknown fields are left out, unknown states and types kept. */
export const dossierSummarySchema = z.object({
  id: z.string().min(1),
  token: z.string().nullish(),
  type: z.string(),
  status: z.string().min(1),
  name: z.string().nullish(),
  reference: z.string().nullish(),
  risk_score: z.number().int().nullish(),
  is_test: z.boolean().nullish(),
  download_status: z.string().nullish(),
  documents_count: z.number().int().nullish(),
  created_at: isoDateTimeSchema,
  updated_at: isoDateTimeSchema,
  completed_at: isoDateTimeSchema.nullish(),
});
/** One row of the dossier list, with the wire's names (interface: Dossier summary). */
export type DossierSummary = z.output<typeof dossierSummarySchema>;

const count = z.number().int().nonnegative();
const offsetPageSchema = z.object({
  dossiers: z.array(dossierSummarySchema),
  page: count,
  per_page: count,
  total: count,
  total_pages: count,
});
/** A page as it must come for `starting_after` (interface: list envelope, keyset mode). */
export const keysetDossierPageSchema = z.object({
  dossiers: z.array(dossierSummarySchema),
  has_more: z.boolean(),
  next_cursor: z.string().nullish(),
});
/** A page of the dossier list in either form. */
export const dossierPageSchema = z.union([offsetPageSchema, keysetDossierPageSchema]);

/** A page as it comes for `page` (interface: list envelope, offset mode). */
type OffsetDossierPage = z.output<typeof offsetPageSchema>;
/** A page as it comes for `starting_after` (interface: list envelope, keyset mode). */
type KeysetDossierPage = z.output<typeof keysetDossierPageSchema>;
/** A page of the dossier list in either form; `has_more` is only in the keyset form. */
export type DossierPage = OffsetDossierPage | KeysetDossierPage;

/** Filters and place of the dossier list with their limits (interface: GET /dossiers); an unknown filter is refused, since the service would not filter by it. */
export const dossierListQuerySchema = z.strictObject({
  search: z.string().optional(),
  status: z
    .enum(['draft', 'open', 'completed', 'archived', 'closed', 'needs_attention', 'approved', 'rejected'])
    .optional(),
  type: z.enum(['not_specified', 'kyc', 'kyb', 'doc']).optional(),
  date_from: sentDateTimeSchema.optional(),
  date_to: sentDateTimeSchema.optional(),
  /** 1 to 1000; the service ignores it when `starting_after` is given. */
  page: countFromOneSchema(1_000).optional(),
  /** 1 to 100. */
  per_page: countFromOneSchema(100).optional(),
  /** A `dossier_<token>` from a previous page. */
  starting_after: filledTextSchema.optional(),
});
/** Filters and place of the dossier list, with the wire's names and limits (interface: GET /dossiers). */
export type DossierListQuery = z.input<typeof dossierListQuerySchema>;
