import { z } from 'zod';
import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';
import { foldEcho } from './fold-echo.js';

const matchSchema = z.object({
  id: z.string(),
  name: z.string(),
  schema: z.string(),
  match: z.boolean(),
  score: z.number(),
  topics: z.array(z.string()),
  birth_date: z.array(z.string()),
  country: z.array(z.string()),
});

/** The answer to a search (interface: AML search result); every field is required, unknown ones are left out. */
const amlSearchResultSchema = z
  .object({
    query: z.string(),
    type: z.enum(['person', 'entity']),
    total: z.number().int().nonnegative(),
    results: z.array(matchSchema),
  })
  .refine((result) => result.total >= result.results.length, {
    path: ['total'],
    message: 'is smaller than the number of results',
  });
/** The answer to a search, with the wire's names (interface: AML search result). */
export type AmlSearchResult = z.output<typeof amlSearchResultSchema>;

/** Whom to search for (interface: AML search). */
export interface AmlSearchInput {
  type: 'person' | 'entity';
  name: string;
}

/** The AML operations of the interface. */
export interface Aml {
  /** One screening, POST /aml/search (interface: AML search); an answer that does not echo the input is a ResponseError. */
  search(input: AmlSearchInput, options?: CallOptions): Promise<Answer<AmlSearchResult>>;
}

const toSearch = (input: AmlSearchInput, nameField: string): Operation<AmlSearchResult> => ({
  name: 'aml.search',
  method: 'POST',
  path: '/aml/search',
  body: { type: input.type, [nameField]: input.name },
  successStatus: 201,
  authentication: 'private_key',
  // A search changes nothing in the service; at worst it is billed twice, which the ledger shows.
  retry: 'repeatable',
  isBillable: true,
  schema: amlSearchResultSchema,
  findBreach: (result) => {
    if (result.type !== input.type) return { code: 'echo_mismatch', message: 'type: does not echo what was sent' };
    if (foldEcho(result.query) !== foldEcho(input.name)) {
      return { code: 'echo_mismatch', message: 'query: does not echo the name that was sent' };
    }
    return undefined;
  },
});

/** The AML operations over `callOperation`; `nameField` is the search's name parameter. */
export const createAml = (callOperation: CallOperation, nameField: string): Aml => ({
  search: (input, options) => callOperation(toSearch(input, nameField), options),
});
