import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';
import {
  type AmlSearchInput,
  type AmlSearchResult,
  amlSearchInputSchema,
  amlSearchResultSchema,
} from './aml-search.js';
import { foldEcho } from './fold-echo.js';
import { parseInput } from './parse-input.js';
import { recordSchema, type ServiceRecord } from './record-schema.js';
import { type SearchEachOptions, type SearchOutcome, searchEach } from './search-each.js';
import { toLookUp } from './to-look-up.js';

/** The AML operations of the interface (interface: AML search, Single-record lookups). */
export interface Aml {
  /** One screening, POST /aml/search (interface: AML search); an answer that does not echo the input is a ResponseError. */
  search(input: AmlSearchInput, options?: CallOptions): Promise<Answer<AmlSearchResult>>;
  /**
   * One screening for each input, given in the order in which they finish. Inputs are pulled only as fast as outcomes are read: at most
   * `concurrency` (8 by default, 1 to 1000) are pulled and not yet read. A search that fails gives its error; a 401 or 402 is given and then thrown, with no further input pulled. Stopping early aborts what is under way.
   */
  searchEach<Input extends AmlSearchInput>(
    inputs: Iterable<Input> | AsyncIterable<Input>,
    options?: SearchEachOptions,
  ): AsyncIterable<SearchOutcome<Input>>;
  /** A screened person or organisation by `aml_<token>`, GET /aml/entity/{id}. */
  entity(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** One match by `amla_<token>`, GET /aml/activity/{id}. */
  activity(id: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
}

const toSearch = ({ type, name }: AmlSearchInput, nameField: string): Operation<AmlSearchResult> => ({
  name: 'aml.search',
  method: 'POST',
  path: '/aml/search',
  body: { type, [nameField]: name },
  successStatus: 201,
  authentication: 'private_key',
  // A search changes nothing in the service; at worst it is billed twice, which the ledger shows.
  retry: 'repeatable',
  isBillable: true,
  schema: amlSearchResultSchema,
  findBreach: (result) => {
    if (result.type !== type) return { code: 'echo_mismatch', message: 'type: does not echo what was sent' };
    if (foldEcho(result.query) !== foldEcho(name)) {
      return { code: 'echo_mismatch', message: 'query: does not echo the name that was sent' };
    }
    return undefined;
  },
});

/** The AML operations over `callOperation`; `nameField` is the search's name parameter. */
export const createAml = (callOperation: CallOperation, nameField: string): Aml => {
  const search: Aml['search'] = async (input, options) =>
    callOperation(toSearch(parseInput('aml.search', amlSearchInputSchema, input), nameField), options);
  return {
    search,
    searchEach: (inputs, options) => searchEach(search, inputs, options),
    entity: async (id, options) => callOperation(toLookUp('aml.entity', '/aml/entity', id, recordSchema), options),
    activity: async (id, options) =>
      callOperation(toLookUp('aml.activity', '/aml/activity', id, recordSchema), options),
  };
};
