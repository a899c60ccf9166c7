import { ConfigError, type ConfigProblem } from '../../errors.js';
import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';
import {
  type DossierListQuery,
  type DossierPage,
  type DossierSummary,
  dossierPageSchema,
  keysetDossierPageSchema,
} from './dossier-page.js';
import { walkDossierPages } from './walk-dossier-pages.js';

export type { DossierListQuery, DossierPage, DossierSummary };

/** The dossier operations of the interface. */
export interface Dossiers {
  /** Every dossier of the list, most recent first, fetched page by page while it is read (interface: GET /dossiers). */
  list(query?: DossierListQuery, options?: CallOptions): AsyncIterable<DossierSummary>;
  /** The pages of the list, the first by offset and the others after the last dossier seen; a list that does not advance is a ResponseError. */
  pages(query?: DossierListQuery, options?: CallOptions): AsyncIterable<DossierPage>;
  /** One page (interface: GET /dossiers); throws ConfigError for a page or size outside the interface's limits. */
  page(query: DossierListQuery, options?: CallOptions): Promise<Answer<DossierPage>>;
}

const findRangeProblem = (path: string, value: number | undefined, max: number): ConfigProblem[] =>
  value === undefined || (Number.isInteger(value) && value >= 1 && value <= max)
    ? []
    : [{ where: 'dossiers.list', path, message: `must be a whole number from 1 to ${max}` }];

const toListOperation = (query: DossierListQuery): Operation<DossierPage> => {
  const problems = [
    ...findRangeProblem('page', query.page, 1_000),
    ...findRangeProblem('per_page', query.per_page, 100),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) parameters.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return {
    name: 'dossiers.list',
    method: 'GET',
    path: '/dossiers',
    query: parameters,
    successStatus: 200,
    authentication: 'private_key',
    retry: 'repeatable',
    isBillable: false,
    // A numbered page in answer to `starting_after` would be page 1 again, for ever.
    schema: query.starting_after === undefined ? dossierPageSchema : keysetDossierPageSchema,
  };
};

/** The dossier operations over `callOperation`. */
export const createDossiers = (callOperation: CallOperation): Dossiers => {
  const page: Dossiers['page'] = async (query, options) => callOperation(toListOperation(query), options);
  const pages: Dossiers['pages'] = (query = {}, options) => walkDossierPages((next) => page(next, options), query);
  return {
    page,
    pages,
    list: async function* (query, options) {
      for await (const { dossiers } of pages(query, options)) yield* dossiers;
    },
  };
};
