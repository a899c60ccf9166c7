import { z } from 'zod';
import { findFailureSign } from './failure-signs.js';
import type { Answer, CallOperation, CallOptions, Operation } from './operation.js';
import {
  countFromOneSchema,
  filledTextSchema,
  isoDateTimeSchema,
  listStuckError,
  parseInput,
  recordSchema,
  type ServiceRecord,
  sentDateTimeSchema,
  toLookUp,
  toQuery,
} from './wire.js';

/** One row of the dossier list, as received (interface: Dossier summary). */
export const dossierSummarySchema = z.object({
  /** `dossier_<token>`. */
  id: z.string().min(1),
  /** The humanized token: letters and digits, for people. */
  token: z.string().nullish(),
  /** `not_specified`, `kyc`, `kyb` or `doc`. */
  type: z.string(),
  /** The business status: `draft`, `open`, `completed`, `archived`, `closed`, `needs_attention`, `approved` or `rejected`. */
  status: z.string().min(1),
  /** The name of the dossier. */
  name: z.string().nullish(),
  /** The reference of the customer, as it was given. */
  reference: z.string().nullish(),
  /** A whole number; the interface does not show its range. */
  risk_score: z.number().int().nullish(),
  /** Whether it was made with test credentials. */
  is_test: z.boolean().nullish(),
  /** Whether it was downloaded; `not_downloaded` occurs. */
  download_status: z.string().nullish(),
  /** The number of documents. */
  documents_count: z.number().int().nullish(),
  /** When it was created: ISO 8601. */
  created_at: isoDateTimeSchema,
  /** When it was last changed: ISO 8601. */
  updated_at: isoDateTimeSchema,
  /** When it was completed: ISO 8601; missing or null before. */
  completed_at: isoDateTimeSchema.nullish(),
});
/** One row of the dossier list, with the wire's names (interface: Dossier summary). Unknown fields are dropped, unknown states and types kept. */
export type DossierSummary = z.infer<typeof dossierSummarySchema>;

const count = z.number().int().nonnegative();
/** The page that answers `page`. */
const offsetPageSchema = z.object({
  /** The rows of this page, most recent first. */
  dossiers: z.array(dossierSummarySchema),
  /** The number of this page, from 1. */
  page: count,
  /** The most rows of a page. */
  per_page: count,
  /** The number of dossiers in the whole list. */
  total: count,
  /** The number of pages. */
  total_pages: count,
});
/** The page that answers `starting_after` (interface: list envelope, keyset mode). */
const keysetDossierPageSchema = z.object({
  /** The rows after `starting_after`, most recent first. */
  dossiers: z.array(dossierSummarySchema),
  /** Whether there are more rows after these. */
  has_more: z.boolean(),
  /** The `starting_after` of the next page; missing or null on the last one. */
  next_cursor: z.string().nullish(),
});
/** A page of the dossier list, as received. */
const dossierPageSchema = z.union([offsetPageSchema, keysetDossierPageSchema]);
/** A page of the dossier list in either form; only the keyset form has `has_more`. */
export type DossierPage = z.infer<typeof dossierPageSchema>;

/** An unknown filter is refused, because the service would ignore it. */
const dossierListQuerySchema = z.strictObject({
  /** A part of the name, the humanized token or the customer's reference; case is ignored. */
  search: z.string().optional(),
  /** Only dossiers of this status. */
  status: z
    .literal(['draft', 'open', 'completed', 'archived', 'closed', 'needs_attention', 'approved', 'rejected'])
    .optional(),
  /** Only dossiers of this type. */
  type: z.literal(['not_specified', 'kyc', 'kyb', 'doc']).optional(),
  /** Created at this time or later. */
  date_from: sentDateTimeSchema.optional(),
  /** Created at this time or earlier. */
  date_to: sentDateTimeSchema.optional(),
  /** 1 to 1000, default 1; the service ignores it when `starting_after` is given. */
  page: countFromOneSchema(1_000).optional(),
  /** 1 to 100, default 50. */
  per_page: countFromOneSchema(100).optional(),
  /** A `dossier_<token>` from a previous page: the list goes on right after it. */
  starting_after: filledTextSchema.optional(),
});
/** Filters and place of the dossier list, with the wire's names and limits (interface: GET /dossiers). */
export type DossierListQuery = z.input<typeof dossierListQuerySchema>;

/** A captured image (interface: Dossier detail); unknown fields are kept. */
const imageSchema = z.looseObject({
  /** The link to the image; it expires after about five minutes. */
  url: z.string().min(1),
});

/** An asset of a dossier or an applicant (interface: Dossier detail); unknown fields are kept. */
const mediaAssetSchema = z.looseObject({
  /** What it is, as the service names it. */
  type: z.string(),
  /** The link to the asset; it expires after about five minutes (interface: Limits, Media URL lifetime). */
  url: z.string().min(1),
  /** Its name. */
  name: z.string().nullish(),
  /** Its page. */
  page: z.union([z.number(), z.string()]).nullish(),
  /** When it was created: ISO 8601. */
  created_at: isoDateTimeSchema.nullish(),
});

/** An identity document, as received. */
const identityDocumentSchema = z.looseObject({
  /** Images of the front, the back and the cropped document. */
  images: z.array(imageSchema),
});
/** An identity document (interface: Dossier detail); unknown fields are kept. */
export type IdentityDocument = z.infer<typeof identityDocumentSchema>;

/** A dossier with all its parts, as received. */
const dossierDetailSchema = z.looseObject({
  /** `dossier_<token>`. */
  id: z.string().min(1),
  /** `kyc`, `kyb` or `doc`. */
  type: z.string(),
  /** The business status, as in `DossierSummary`. */
  status: z.string().min(1),
  /** Every asset of the dossier itself. */
  media: z.array(mediaAssetSchema),
  /** The applicants, with personal information and other fields as they came. */
  entities: z.array(
    z.looseObject({
      /** Their identity documents. */
      identity_documents: z.array(identityDocumentSchema),
      /** Their other assets. */
      media: z.array(mediaAssetSchema),
      /** Every frame of the liveness capture. */
      liveness_images: z.array(imageSchema),
    }),
  ),
});
/** A dossier with applicants and media (interface: Dossier detail); unknown fields are kept. */
export type DossierDetail = z.infer<typeof dossierDetailSchema>;

const hasMore = (page: DossierPage): boolean => {
  if ('has_more' in page) return page.has_more;
  const shown = (page.page - 1) * page.per_page + page.dossiers.length;
  return page.page < page.total_pages || shown < page.total;
};

const findCursor = (page: DossierPage): string | undefined =>
  ('has_more' in page ? page.next_cursor : undefined) || page.dossiers.at(-1)?.id;

/** Walks the list from `query` to its end (`has_more: false`); throws ResponseError with the page when the list does not advance. */
export async function* walkDossierPages(
  fetchPage: (query: DossierListQuery) => Promise<Answer<DossierPage>>,
  query: DossierListQuery,
): AsyncGenerator<DossierPage> {
  const { page: firstPage, starting_after: start, ...filters } = query;
  const cursors = new Set<string>(start === undefined ? [] : [start]);
  let next: DossierListQuery =
    start === undefined ? { ...filters, page: firstPage ?? 1 } : { ...filters, starting_after: start };
  for (let pageNumber = 1; ; pageNumber += 1) {
    const answer = await fetchPage(next);
    const fail = (code: string, complaint: string) =>
      listStuckError(code, complaint, { path: '/dossiers', pageNumber, answer });
    const page = answer.data;
    const goesOn = hasMore(page);
    // The page before announced more: the dossier of the cursor was removed meanwhile.
    if (!goesOn && page.dossiers.length === 0 && pageNumber > 1) {
      throw fail('list_cursor_gone', 'is empty although the page before it announced more');
    }
    if (goesOn && page.dossiers.length === 0) {
      throw fail('list_page_empty', 'is empty although more is announced');
    }
    const cursor = findCursor(page);
    if (goesOn && (cursor === undefined || cursors.has(cursor))) {
      throw fail('list_cursor_repeated', 'points to a place that was walked before');
    }
    yield page;
    if (!goesOn || cursor === undefined) return;
    cursors.add(cursor);
    next = { ...filters, starting_after: cursor };
  }
}

/** A new dossier, as given. */
const dossierInputSchema = z.looseObject({
  /** A person (`kyc`) or a business (`kyb`). */
  type: z.literal(['kyc', 'kyb']),
  /** The verification level, of the same product family as `type`; the setting `dossiers.levelField` names its field. */
  level: filledTextSchema,
  /** Whether the service sends the link to `phone_number`. */
  send_sms: z.boolean().optional(),
  /** Whether the service sends the link to `email_address`. */
  send_email: z.boolean().optional(),
  /** The phone of the applicant. */
  phone_number: filledTextSchema.optional(),
  /** The e-mail address of the applicant. */
  email_address: filledTextSchema.optional(),
});
/** A new dossier, with the wire's names except `level`; unknown fields are sent as given (interface: POST /dossiers). */
export type DossierInput = z.input<typeof dossierInputSchema>;

const nameSchema = z.string().min(1).nullish();

const createdDossierSchema = z
  .looseObject({
    token: nameSchema,
    id: nameSchema,
    dossier_id: nameSchema,
    verification_url: z.string().min(1),
    qr_base64_png: z.string().nullish(),
  })
  .transform((created, context) => {
    const token = created.token ?? created.dossier_id ?? created.id;
    if (token) return { ...created, token };
    context.addIssue({ code: 'custom', message: 'has none of token, id and dossier_id' });
    return z.NEVER;
  });
/** A created dossier (interface: POST /dossiers); unknown fields are kept. */
export interface CreatedDossier {
  /** The dossier's token, under whichever of its known names the service sent it. */
  token: string;
  /** The link for the applicant. */
  verification_url: string;
  /** The link as a QR code: a PNG image in base64. */
  qr_base64_png?: string | null | undefined;
  /** The other fields, as they came. */
  [field: string]: unknown;
}

/** The dossier operations of the interface (interface: Dossiers). */
export interface Dossiers {
  /** Creates a dossier with its applicant and hosted session, POST /dossiers; never repeated once it may have arrived. */
  create(input: DossierInput, options?: CallOptions): Promise<Answer<CreatedDossier>>;
  /** Every dossier, most recent first, fetched page by page (interface: GET /dossiers). */
  list(query?: DossierListQuery, options?: CallOptions): AsyncIterable<DossierSummary>;
  /** The pages of the list, the first by offset and the others by cursor; throws ResponseError when the list does not advance. */
  pages(query?: DossierListQuery, options?: CallOptions): AsyncIterable<DossierPage>;
  /** One page (interface: GET /dossiers); throws ConfigError for a page or size outside the interface's limits. */
  page(query: DossierListQuery, options?: CallOptions): Promise<Answer<DossierPage>>;
  /** A dossier by `dossier_<token>` or humanized token, GET /dossiers/{id}; throws ResponseError when the answer is another dossier. */
  retrieve(id: string, options?: CallOptions): Promise<Answer<DossierDetail>>;
  /** An applicant by `entity_<token>`, GET /dossiers/entity/{id}. */
  entity(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** An identity document with its images by `id_doc_<token>`, GET /dossiers/identity_document/{id}. */
  identityDocument(id: string, options?: CallOptions): Promise<Answer<IdentityDocument>>;
  /** A decision by `decision_<token>`, GET /dossiers/decision/{id}. */
  decision(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** A proof of address by `poa_<token>`, GET /dossiers/address_proof/{id}. */
  addressProof(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** A proof of funds by `pof_<token>`, GET /dossiers/funds_proof/{id}. */
  fundsProof(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
}

const toListOperation = (query: DossierListQuery): Operation<DossierPage> => ({
  name: 'dossiers.list',
  method: 'GET',
  path: '/dossiers',
  query: toQuery(parseInput('dossiers.list', dossierListQuerySchema, query)),
  successStatus: 200,
  authentication: 'private_key',
  retry: 'repeatable',
  isBillable: false,
  // A numbered page in answer to `starting_after` would be page 1 again and again.
  schema: query.starting_after === undefined ? dossierPageSchema : keysetDossierPageSchema,
  // A page that failed would end the list, and the dossiers after it would be gone.
  findBreach: (_page, value) => {
    const field = findFailureSign(value, pageFields);
    return field === undefined
      ? undefined
      : { code: 'failed_answer', message: `${field}: says that the list failed or is incomplete` };
  },
});

const pageFields: ReadonlySet<string> = new Set(['dossiers', 'hasmore']);

const toCreation = (input: DossierInput, levelField: string): Operation<CreatedDossier> => {
  const { level, ...fields } = parseInput('dossiers.create', dossierInputSchema, input);
  return {
    name: 'dossiers.create',
    method: 'POST',
    path: '/dossiers',
    body: { ...fields, [levelField]: level },
    successStatus: 201,
    authentication: 'private_key',
    retry: 'after_refusal',
    isBillable: true,
    schema: createdDossierSchema,
  };
};

/** The dossier operations over `callOperation`; `levelField` names the field of the level (interface: POST /dossiers, not shown). */
export const createDossiers = (callOperation: CallOperation, levelField: string): Dossiers => {
  const page: Dossiers['page'] = async (query, options) => callOperation(toListOperation(query), options);
  const pages: Dossiers['pages'] = (query = {}, options) => walkDossierPages((next) => page(next, options), query);
  const lookUp =
    <Found>(noun: string, schema: z.ZodType<Found>) =>
    async (id: string, options?: CallOptions): Promise<Answer<Found>> =>
      callOperation(toLookUp(`dossiers.${noun}`, `/dossiers/${noun}`, id, schema), options);
  return {
    create: async (input, options) => callOperation(toCreation(input, levelField), options),
    page,
    pages,
    list: async function* (query, options) {
      for await (const { dossiers } of pages(query, options)) yield* dossiers;
    },
    retrieve: async (id, options) => {
      const retrieval = toLookUp('dossiers.retrieve', '/dossiers', id, dossierDetailSchema);
      // The answer repeats a full id, but no humanized token.
      const findBreach = (dossier: DossierDetail) =>
        id.startsWith('dossier_') && dossier.id !== id
          ? { code: 'echo_mismatch', message: 'id: is not the requested dossier' }
          : undefined;
      return callOperation({ ...retrieval, findBreach }, options);
    },
    entity: lookUp('entity', recordSchema),
    identityDocument: lookUp('identity_document', identityDocumentSchema),
    decision: lookUp('decision', recordSchema),
    addressProof: lookUp('address_proof', recordSchema),
    fundsProof: lookUp('funds_proof', recordSchema),
  };
};
