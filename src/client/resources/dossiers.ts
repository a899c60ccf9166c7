import { z } from 'zod';
import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';
import {
  type DossierDetail,
  dossierDetailSchema,
  type IdentityDocument,
  identityDocumentSchema,
} from './dossier-detail.js';
import {
  type DossierListQuery,
  type DossierPage,
  type DossierSummary,
  dossierListQuerySchema,
  dossierPageSchema,
  keysetDossierPageSchema,
} from './dossier-page.js';
import { filledTextSchema } from './input-schemas.js';
import { parseInput } from './parse-input.js';
import { recordSchema, type ServiceRecord } from './record-schema.js';
import { toLookUp } from './to-look-up.js';
import { toQuery } from './to-query.js';
import { walkDossierPages } from './walk-dossier-pages.js';

/** What a new dossier is made of (interface: POST /dossiers); fields that the interface does not show are sent as given. */
export const dossierInputSchema = z.looseObject({
  type: z.enum(['kyc', 'kyb']),
  /** The verification level, of the same product family as `type`; sent under the client's setting for the level field. */
  level: filledTextSchema,
  /** The service itself delivers the link to `phone_number`. */
  send_sms: z.boolean().optional(),
  /** The service itself delivers the link to `email_address`. */
  send_email: z.boolean().optional(),
  phone_number: filledTextSchema.optional(),
  email_address: filledTextSchema.optional(),
});
/** What a new dossier is made of, with the wire's names but for `level` (interface: POST /dossiers). */
export type DossierInput = z.input<typeof dossierInputSchema>;

const nameSchema = z.string().min(1).nullish();

/** The answer to a creation (interface: POST /dossiers): as it came, and `token` set from whichever name the token has. */
export const createdDossierSchema = z
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
    context.addIssue({ code: 'custom', message: 'names the dossier in none of token, id and dossier_id' });
    return z.NEVER;
  });
/** A new dossier: its `token`, the `verification_url` for the applicant, and what else the service sent (interface: POST /dossiers). */
export type CreatedDossier = z.output<typeof createdDossierSchema>;

/** The single-record look-ups of the dossier area (interface: Single-record lookups). */
export interface DossierLookUps {
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

/** The look-ups of the dossier area over `callOperation`. */
const createDossierLookUps = (callOperation: CallOperation): DossierLookUps => ({
  entity: async (id, options) =>
    callOperation(toLookUp('dossiers.entity', '/dossiers/entity', id, recordSchema), options),
  identityDocument: async (id, options) =>
    callOperation(
      toLookUp('dossiers.identity_document', '/dossiers/identity_document', id, identityDocumentSchema),
      options,
    ),
  decision: async (id, options) =>
    callOperation(toLookUp('dossiers.decision', '/dossiers/decision', id, recordSchema), options),
  addressProof: async (id, options) =>
    callOperation(toLookUp('dossiers.address_proof', '/dossiers/address_proof', id, recordSchema), options),
  fundsProof: async (id, options) =>
    callOperation(toLookUp('dossiers.funds_proof', '/dossiers/funds_proof', id, recordSchema), options),
});

export type { DossierDetail, DossierListQuery, DossierPage, DossierSummary };

/** The dossier operations of the interface (interface: Dossiers). */
export interface Dossiers extends DossierLookUps {
  /** Creates a dossier with its applicant and hosted session, POST /dossiers; never repeated once it may have arrived. */
  create(input: DossierInput, options?: CallOptions): Promise<Answer<CreatedDossier>>;
  /** Every dossier of the list, most recent first, fetched page by page while it is read (interface: GET /dossiers). */
  list(query?: DossierListQuery, options?: CallOptions): AsyncIterable<DossierSummary>;
  /** The pages of the list, the first by offset and the others after the last dossier seen; a list that does not advance is a ResponseError. */
  pages(query?: DossierListQuery, options?: CallOptions): AsyncIterable<DossierPage>;
  /** One page (interface: GET /dossiers); throws ConfigError for a page or size outside the interface's limits. */
  page(query: DossierListQuery, options?: CallOptions): Promise<Answer<DossierPage>>;
  /** A dossier by `dossier_<token>` or humanized token, GET /dossiers/{id}; another dossier in the answer is a ResponseError. */
  retrieve(id: string, options?: CallOptions): Promise<Answer<DossierDetail>>;
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
  // A numbered page in answer to `starting_after` would be page 1 again, for ever.
  schema: query.starting_after === undefined ? dossierPageSchema : keysetDossierPageSchema,
});

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

const toRetrieval = (id: string): Operation<DossierDetail> => ({
  ...toLookUp('dossiers.retrieve', '/dossiers', id, dossierDetailSchema),
  // A humanized token is not repeated in the answer, a full id is.
  findBreach: (dossier) =>
    id.startsWith('dossier_') && dossier.id !== id
      ? { code: 'echo_mismatch', message: 'id: is not the dossier that was asked for' }
      : undefined,
});

/** The dossier operations over `callOperation`; `levelField` is the name under which a level is sent (interface: POST /dossiers, not shown). */
export const createDossiers = (callOperation: CallOperation, levelField: string): Dossiers => {
  const page: Dossiers['page'] = async (query, options) => callOperation(toListOperation(query), options);
  const pages: Dossiers['pages'] = (query = {}, options) => walkDossierPages((next) => page(next, options), query);
  return {
    create: async (input, options) => callOperation(toCreation(input, levelField), options),
    page,
    pages,
    list: async function* (query, options) {
      for await (const { dossiers } of pages(query, options)) yield* dossiers;
    },
    retrieve: async (id, options) => callOperation(toRetrieval(id), options),
    ...createDossierLookUps(callOperation),
  };
};
