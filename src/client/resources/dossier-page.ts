import { z } from 'zod';

const isoDateTime = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/, 'is not an ISO 8601 date-time')
  .refine((text) => !Number.isNaN(Date.parse(text)), 'is not a date that exists');

/** One row of the dossier list (interface: Dossier summary); unknown fields are left out, unknown states and types kept. */
const dossierSummarySchema = z.object({
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
  created_at: isoDateTime,
  updated_at: isoDateTime,
  completed_at: isoDateTime.nullish(),
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

/** Filters and place of the dossier list, with the wire's names and limits (interface: GET /dossiers). */
export interface DossierListQuery {
  search?: string;
  status?: 'draft' | 'open' | 'completed' | 'archived' | 'closed' | 'needs_attention' | 'approved' | 'rejected';
  type?: 'not_specified' | 'kyc' | 'kyb' | 'doc';
  date_from?: Date | string;
  date_to?: Date | string;
  /** 1 to 1000; the service ignores it when `starting_after` is given. */
  page?: number;
  /** 1 to 100. */
  per_page?: number;
  /** A `dossier_<token>` from a previous page. */
  starting_after?: string;
}
