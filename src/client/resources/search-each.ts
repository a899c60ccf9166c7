import { AuthenticationError, PaymentRequiredError } from '../../errors.js';
import type { Answer, CallOptions } from '../operation.js';
import type { AmlSearchInput, AmlSearchResult } from './aml-search.js';
import { countFromOneSchema } from './input-schemas.js';
import { parseInput } from './parse-input.js';

/** How each search is called, and how many inputs may be pulled and not yet read. */
export interface SearchEachOptions extends CallOptions {
  /** 1 to 1000, by default 8; the client's own `rate.concurrency` bounds what is under way as well. */
  concurrency?: number;
}

/** What became of one input. */
export type SearchOutcome<Input extends AmlSearchInput = AmlSearchInput> =
  | { input: Input; answer: Answer<AmlSearchResult>; error?: never }
  | { input: Input; error: unknown; answer?: never };

type Search = (input: AmlSearchInput, options: CallOptions) => Promise<Answer<AmlSearchResult>>;

const isForAll = (error: unknown): boolean =>
  error instanceof AuthenticationError || error instanceof PaymentRequiredError;

const stopped: unique symbol = Symbol('stopped reading');

const toIterator = <Input>(inputs: Iterable<Input> | AsyncIterable<Input>): Iterator<Input> | AsyncIterator<Input> =>
  Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]();

/**
 * Searches for each input, at most `concurrency` pulled and not yet read. What the inputs throw, the signal's reason, or the first 401 or 402,
 * which every later search would have as well, is thrown after everything under way has ended and was given.
 */
export async function* searchEach<Input extends AmlSearchInput>(
  search: Search,
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
    // A source that is still being waited for would only answer after its next input.
    const closing = isExhausted ? undefined : Promise.resolve(iterator.return?.()).catch(() => undefined);
    if (!isPulling) await closing;
  }
}
