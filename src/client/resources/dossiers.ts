import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';
import { type CreatedDossier, createdDossierSchema, type DossierInput, dossierInputSchema } from './created-dossier.js';
import { type DossierDetail, dossierDetailSchema } from './dossier-detail.js';
import { createDossierLookUps, type DossierLookUps } from './dossier-look-ups.js';
import {
  type DossierListQuery,
  type DossierPage,
  type DossierSummary,
  dossierListQuerySchema,
  dossierPageSchema,
  keysetDossierPageSchema,
} from './dossier-page.js';
import { parseInput } from './parse-input.js';
import { toLookUp } from './to-look-up.js';
import { toQuery } from './to-query.js';
import { walkDossierPages } from './walk-dossier-pages.js';

export type { CreatedDossier, DossierDetail, DossierInput, DossierListQuery, DossierPage, DossierSummary };

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
