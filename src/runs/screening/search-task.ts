import type { Client } from '../../client/client.js';
import type { CallOptions } from '../../client/operation.js';
import { type ScreeningOutcome, screen } from '../../screening/screen.js';
import type { AnswerCounts } from '../../store/night/ledger.js';
import { readSearchTasks, type SearchTask } from '../../store/night/screenings.js';
import { abortLater, RunHalted, stopGraceMs, toSignalHalt } from '../halt.js';
import type { RunSession } from '../session.js';
import { type createAttemptNotes, recordAttempts } from './attempts.js';
import { commitFailures, digestAnswer, type FinishedSearch } from './commit.js';
import type { ControlRounds } from './controls.js';
import type { WatchedAccount } from './monitoring.js';
import type { OutageWatch } from './outages.js';

export interface SearchContext {
  session: RunSession;
  client: Client;
  account: WatchedAccount;
  outage: OutageWatch;
  notes: ReturnType<typeof createAttemptNotes>;
  tally: SearchTally;
  controls: ControlRounds;
  signals: ReturnType<typeof openStopSignals>;
  badAnswers: BadAnswers;
}

/** What one search needs. */
export type TaskContext = Pick<SearchContext, 'session' | 'client' | 'notes' | 'tally' | 'signals' | 'badAnswers'> & {
  outage: Pick<OutageWatch, 'noteAnswer'>;
};

/** Makes one search unless the run is stopping, and emits the progress. */
export async function searchTask(
  { session, client, outage, notes, tally, signals, badAnswers }: TaskContext,
  task: SearchTask,
  options: Pick<CallOptions, 'isBudgeted'> = {},
): Promise<FinishedSearch> {
  const { app, organisation, runId } = session;
  const { observer, finish } = recordAttempts(() => notes.note(task.requestId), notes.confirm);
  const request = { type: task.type, name: task.name };
  const { signal, waitSignal } = signals;
  const outcome = await screen(client.aml, request, { ...options, signal, waitSignal, observer });
  const digest = outcome.kind === 'screened' ? digestAnswer(organisation.digestKey, outcome.answer.body) : null;
  const known = digest === task.known?.digest ? task.known : null;
  const attempts = { requestId: task.requestId, ...finish() };
  tally.note(outcome, attempts.attempts.filter((attempt) => attempt.outcome !== 'not_sent').length);
  if (isAnswered(outcome)) outage.noteAnswer('aml.search');
  if (outcome.kind !== 'aborted') {
    const { done, total, calls, found } = tally;
    app.emit({ kind: 'progress', runId, stage: 'screen', done, total, calls, found: { ...found } });
  }
  return { task, attempts, outcome, known, isMadeAgain: badAnswers.note(task.requestId, outcome) };
}

/** Whether the service answered, also with an error of the request. */
const isAnswered = (outcome: ScreeningOutcome): boolean =>
  outcome.kind === 'screened' || outcome.kind === 'halted' || (outcome.kind === 'failed' && !outcome.isTransient);

/** The progress of a run's searches, and how many more this start may make. */
export class SearchTally {
  readonly total: number;
  /** The number of answered searches. */
  done: number;
  /** The calls sent and the findings since this start. */
  calls = 0;
  found = { matches: 0, hits: 0 };
  readonly #limit: number;
  #handedOut = 0;
  #isLimitReached = false;

  constructor(counts: { total: number; done: number }, limit: number | undefined) {
    this.total = counts.total;
    this.done = counts.done;
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
  }

  /** How many more searches the limit allows. */
  get affordable(): number {
    return Math.max(0, this.#limit - this.#handedOut);
  }

  /** Takes over what other processes have done. */
  follow(counts: { done: number; calls: number }): void {
    this.done = counts.done;
    this.calls = counts.calls;
  }

  /** Records the end of a search after so many calls. */
  note(outcome: ScreeningOutcome, calls: number): void {
    this.calls += calls;
    if (outcome.kind !== 'screened') return;
    const { results } = outcome.answer.data;
    this.done += 1;
    this.found.matches += results.length;
    this.found.hits += results.filter((result) => result.match).length;
  }

  /** How many searches this start has made. */
  get handedOut(): number {
    return this.#handedOut;
  }

  handOut(searches = 1): void {
    this.#handedOut += searches;
  }

  /** Records that the limit leaves searches undone. */
  reachLimit(): void {
    this.#isLimitReached = true;
  }

  get isLimitReached(): boolean {
    return this.#isLimitReached;
  }

  /** The halt of a run that has reached its limit. */
  toHalt(): RunHalted {
    return new RunHalted('max_searches', `the limit of ${this.#limit} searches for this run is reached`);
  }
}

const mostAttempts = 3;
// Above this share of bad answers, repeats are not worth their price. A few answers prove no share.
const mostShare = 0.25;
const few = 20;
const mostWaiting = 1_000;

/**
 * Counts answers that break the interface's contract. Each is requested again, up to three times in all, unless too
 * many are bad. They say nothing about a customer, and each may have been billed.
 */
export class BadAnswers {
  readonly #waiting = new Map<number, { attempts: number; reason: string }>();
  #answers = 0;
  #bad = 0;
  #again = 0;
  #hasGivenUp = false;

  /** `before` has the number of earlier bad answers of this run by request. */
  constructor(before: ReadonlyMap<number, number>) {
    for (const [requestId, attempts] of before) this.#waiting.set(requestId, { attempts, reason: 'bad_response' });
  }

  /** Takes over what other processes have got between two counts. Returns how many searches are to be made again because of that. */
  follow(before: AnswerCounts, after: AnswerCounts): number {
    this.#answers += after.answers - before.answers;
    this.#bad += after.bad - before.bad;
    this.#waiting.clear();
    for (const [requestId, attempts] of after.remaining) {
      this.#waiting.set(requestId, { attempts, reason: 'bad_response' });
      if (attempts > (before.remaining.get(requestId) ?? 0)) this.#again += 1;
    }
    return this.#again;
  }

  /** Records an outcome; returns whether the search is to be made again. */
  note(requestId: number, outcome: ScreeningOutcome): boolean {
    const isBad = outcome.kind === 'failed' && outcome.isBadAnswer;
    if (isBad || outcome.kind === 'screened') this.#answers += 1;
    if (!isBad) {
      if (outcome.kind === 'screened') this.#waiting.delete(requestId);
      return false;
    }
    this.#bad += 1;
    const attempts = (this.#waiting.get(requestId)?.attempts ?? 0) + 1;
    const isHopeless = this.#hasGivenUp || (this.#waiting.size > mostWaiting && this.isTooMany);
    if (isHopeless || attempts >= mostAttempts) {
      this.#waiting.delete(requestId);
      return false;
    }
    this.#waiting.set(requestId, { attempts, reason: outcome.reason });
    this.#again += 1;
    return true;
  }

  /** Whether too many answers are bad to repeat them. */
  get isTooMany(): boolean {
    return this.#bad > few && this.#bad > this.#answers * mostShare;
  }

  /** The number of searches to be made again since the last call. */
  takeAgain(): number {
    const again = this.#again;
    this.#again = 0;
    return again;
  }

  /** Ends all repeats; returns the reason of each waiting request by its id. */
  giveUp(): ReadonlyMap<number, string> {
    this.#hasGivenUp = true;
    const reasons = new Map(Array.from(this.#waiting, ([requestId, { reason }]) => [requestId, reason]));
    this.#waiting.clear();
    return reasons;
  }

  get words(): string {
    return `${this.#bad} of ${this.#answers} answers broke the contract`;
  }
}

const chunkSize = 256;

/**
 * Reports how many searches of the last pass are repeated because of bad answers, and returns their number. When too
 * many were bad, their customers fail instead.
 */
export async function searchBadAgain(context: SearchContext): Promise<number> {
  const { session, badAnswers } = context;
  const { runId, app } = session;
  const again = badAnswers.takeAgain();
  if (again === 0) return 0;
  if (await giveUpWhenTooMany(context)) return 0;
  const message = `${badAnswers.words}; ${again} searches are made again`;
  app.emit({ kind: 'warning', runId, code: 'bad_answers', message });
  return again;
}

/** After too many bad answers: fails the waiting searches, each with its last reason, and returns true. */
export async function giveUpWhenTooMany({ session, badAnswers }: SearchContext): Promise<boolean> {
  const { run, runId, app } = session;
  if (!badAnswers.isTooMany) return false;
  const message = `${badAnswers.words}: too many to ask for them again`;
  app.emit({ kind: 'warning', runId, code: 'bad_answers', message });
  const reasons = badAnswers.giveUp();
  for await (const chunk of readSearchTasks(app, run.runId, chunkSize)) {
    const failures = chunk.flatMap((task) => {
      const reason = reasons.get(task.requestId);
      return reason === undefined ? [] : [{ task, reason }];
    });
    await commitFailures(session, failures);
  }
  return true;
}

/** Combines the stop signals of a run's searches: a stop request, the end of an outage's deadline, or an error of a search. */
export function openStopSignals(run: AbortSignal, outage: AbortSignal) {
  const own = new AbortController();
  const calls = abortLater(AbortSignal.any([run, outage]), stopGraceMs);
  return {
    /** Ends waiting: no further request is sent. */
    waitSignal: AbortSignal.any([own.signal, run, outage]),
    /** Aborts running requests 5 seconds after a stop request or an outage's deadline, never because of a search. */
    signal: calls.signal,
    /** Stops because of a search; the first reason counts. */
    stop: (reason: unknown): void => own.abort(reason),
    /** Throws the reason of a stop. */
    throwIfStopped: (): void => {
      if (outage.aborted) throw toSignalHalt(outage);
      if (own.signal.aborted) throw own.signal.reason;
      if (run.aborted) throw toSignalHalt(run);
    },
    clear: calls.clear,
  };
}
