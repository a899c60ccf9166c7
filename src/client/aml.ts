import { z } from 'zod';
import { AuthenticationError, PaymentRequiredError } from '../errors.js';
import { findFailureSign } from './failure-signs.js';
import type { Answer, CallOperation, CallOptions, Operation } from './operation.js';
import {
  countFromOneSchema,
  filledTextSchema,
  parseInput,
  recordSchema,
  type ServiceRecord,
  toLookUp,
} from './wire.js';

/** The editors of a list leave out unknown facts, or write null or an empty list. */
const listedTextsSchema = z
  .array(z.string())
  .nullish()
  .transform((texts) => texts ?? []);
/** One match of a search, as received. */
const matchSchema = z.object({
  /** `amla_<token>`, for `aml.activity`. The interface does not promise that it is the same in the next search. */
  id: z.string(),
  /** The name of the listed party. */
  name: z.string(),
  /** The kind of the listed party, as the service names it. */
  schema: z.string(),
  /** Whether the service flags the match as a hit. */
  match: z.boolean(),
  /** How well the match fits the search, as the service counts it. */
  score: z.number(),
  /** The risk categories, for example `sanction`; empty when the service has none. */
  topics: listedTextsSchema,
  /** Dates of birth; empty when the service has none. */
  birth_date: listedTextsSchema,
  /** Lower-case country codes; empty when the service has none. */
  country: listedTextsSchema,
});
/** One match of a search, with the wire's names (interface: AML search result). */
export type AmlMatch = z.infer<typeof matchSchema>;

/** The answer to a search, with the wire's names (interface: AML search result). Unknown fields are dropped. */
export interface AmlSearchResult {
  /** The searched name, as the service repeats it. */
  query: string;
  /** What was searched for. */
  type: 'person' | 'entity';
  /** The number of matches; the list is truncated when `results` has fewer. */
  total: number;
  /** The matches, best first. */
  results: AmlMatch[];
  /**
   * The other field by which the answer says that the search failed or that matches are missing, such as `error` or `partial`; absent
   * without one. It stands beside hits only: without a hit such an answer is a ResponseError.
   */
  incompleteBy?: string | undefined;
}

const knownFields: ReadonlySet<string> = new Set(['query', 'type', 'total', 'results']);
/** What a list that is shorter than its total says as well. */
const knownOfShortList: ReadonlySet<string> = new Set([...knownFields, 'truncated', 'hasmore']);

/** The answer to a search (interface: AML search result). Only the lists of a result may be missing. */
const amlSearchResultSchema = z
  .looseObject({
    query: z.string(),
    type: z.literal(['person', 'entity']),
    total: z.number().int().nonnegative(),
    results: z.array(matchSchema),
  })
  .refine((result) => result.total >= result.results.length, {
    path: ['total'],
    message: 'is smaller than the number of results',
  })
  .transform(({ query, type, total, results, ...others }): AmlSearchResult => {
    const incompleteBy = findFailureSign(others, total > results.length ? knownOfShortList : knownFields);
    return { query, type, total, results, ...(incompleteBy === undefined ? {} : { incompleteBy }) };
  });

/** What to search for, as given. */
const amlSearchInputSchema = z.object({
  /** A person, or an `entity`: a company or another organisation. */
  type: z.literal(['person', 'entity']),
  /** The name to search for; not blank. */
  name: filledTextSchema,
});
/** What to search for (interface: AML search). */
export type AmlSearchInput = z.input<typeof amlSearchInputSchema>;

/** Options of each search, and how many inputs may be read ahead. */
export interface SearchEachOptions extends CallOptions {
  /** 1 to 1000, default 8. The client's `rate.concurrency` also limits the searches in flight. */
  concurrency?: number;
}

/** The outcome of one input. */
export type SearchOutcome<Input extends AmlSearchInput = AmlSearchInput> =
  | {
      /** The input, the same object. */
      input: Input;
      /** The valid answer. */
      answer: Answer<AmlSearchResult>;
      /** Absent beside an answer. */
      error?: never;
    }
  | {
      /** The input, the same object. */
      input: Input;
      /** The reason why there is no answer. */
      error: unknown;
      /** Absent beside an error. */
      answer?: never;
    };

const isForAll = (error: unknown): boolean =>
  error instanceof AuthenticationError || error instanceof PaymentRequiredError;

const stopped: unique symbol = Symbol('stopped reading');

const toIterator = <Input>(inputs: Iterable<Input> | AsyncIterable<Input>): Iterator<Input> | AsyncIterator<Input> =>
  Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();

async function* searchEach<Input extends AmlSearchInput>(
  search: Aml['search'],
  inputs: Iterable<Input> | AsyncIterable<Input>,
  { concurrency: wanted = 8, signal, ...options }: SearchEachOptions = {},
): AsyncGenerator<SearchOutcome<Input>> {
  const concurrency = parseInput('aml.searchEach', countFromOneSchema(1_000), wanted);
  const iterator = toIterator(inputs);
  const finished: SearchOutcome<Input>[] = [];
  const ending = new AbortController();
  let underWay = 0;
  let isPulling = false;
  let isExhausted = false;
  let failure: { error: unknown } | undefined;
  let wake = (): void => undefined;

  const mayPull = (): boolean => !isExhausted && failure === undefined && underWay + finished.length < concurrency;

  const start = async (input: Input): Promise<void> => {
    underWay += 1;
    const outcome = await search(input, { ...options, signal: ending.signal }).then(
      (answer) => ({ input, answer }),
      (error: unknown) => ({ input, error }),
    );
    underWay -= 1;
    finished.push(outcome);
    if ('error' in outcome && isForAll(outcome.error)) failure ??= { error: outcome.error };
    wake();
  };

  const pull = async (): Promise<void> => {
    if (isPulling) return;
    isPulling = true;
    try {
      while (mayPull()) {
        const next = await iterator.next();
        if (next.done) isExhausted = true;
        else if (failure === undefined && !ending.signal.aborted) void start(next.value);
      }
    } catch (error) {
      isExhausted = true;
      failure ??= { error };
    }
    isPulling = false;
    wake();
  };

  const abort = (): void => {
    failure ??= { error: signal?.reason };
    ending.abort(signal?.reason);
    wake();
  };
  const somethingHappens = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });

  signal?.addEventListener('abort', abort, { once: true });
  try {
    if (signal?.aborted) abort();
    for (;;) {
      void pull();
      const outcome = finished.shift();
      if (outcome !== undefined) yield outcome;
      else if (underWay > 0 || mayPull()) await somethingHappens();
      else break;
    }
    if (failure !== undefined) throw failure.error;
  } finally {
    signal?.removeEventListener('abort', abort);
    failure ??= { error: stopped };
    ending.abort(stopped);
    while (underWay > 0) await somethingHappens();
    // While `next` is pending, `return` would resolve only after the next input.
    const closing = isExhausted ? undefined : Promise.resolve(iterator.return?.()).catch(() => undefined);
    if (!isPulling) await closing;
  }
}

/** Folds a text for the comparison with its echo: NFKC, case, white space (DESIGN: Same request, one search). */
export const foldEcho = (text: string): string =>
  // Upper case first: letters with several lower-case forms (sharp s, long s, sigma) become equal.
  text.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC').replace(/\s+/gu, ' ').trim();

/** The AML operations of the interface (interface: AML search, Single-record lookups). */
export interface Aml {
  /** One screening, POST /aml/search (interface: AML search); throws ResponseError when the answer does not echo the input. */
  search(input: AmlSearchInput, options?: CallOptions): Promise<Answer<AmlSearchResult>>;
  /**
   * One screening for each input, in the order of completion. At most `concurrency` inputs (default 8, 1 to 1000) are read ahead. A failed
   * search yields its error. The first 401 or 402, an error of the inputs and the reason of the signal are also thrown, after the searches in
   * flight have ended. A reader that stops early aborts the searches in flight.
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
  // A repeated search changes nothing in the service. At worst it is billed twice, which the ledger shows.
  retry: 'repeatable',
  isBillable: true,
  schema: amlSearchResultSchema,
  findBreach: (result) => {
    if (result.incompleteBy !== undefined && !result.results.some(({ match }) => match)) {
      return { code: 'failed_answer', message: `${result.incompleteBy}: says that the search failed or is incomplete` };
    }
    if (result.type !== type) return { code: 'echo_mismatch', message: 'type: does not echo what was sent' };
    if (result.query !== name && foldEcho(result.query) !== foldEcho(name)) {
      return { code: 'echo_mismatch', message: 'query: does not echo the name that was sent' };
    }
    return undefined;
  },
});

/** The AML operations over `callOperation`; `nameField` is the name parameter of the search. */
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
