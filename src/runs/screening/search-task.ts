import { setImmediate as turnOfEvents } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import type { AttemptEnd, AttemptObserver, CallOptions } from '../../client/operation.js';
import type { ScreeningRequest } from '../../roster/customer.js';
import { type ScreeningOutcome, screen } from '../../screening/screen.js';
import { firstRow } from '../../store/database/database.js';
import { ensureRequests } from '../../store/night/controls.js';
import { noteInFlight, type SearchAttempts, saveAttempts } from '../../store/night/ledger.js';
import { readSearchTasks, type SearchTask } from '../../store/night/screenings.js';
import { abortLater, RunHalted, stopGraceMs, toAccountHalt, toSignalHalt } from '../halt.js';
import type { RunSession } from '../session.js';
import { commitFailures, digestAnswer, type FinishedSearch } from './commit.js';
import type { WatchedAccount } from './monitoring.js';
import type { OutageWatch } from './outages.js';

/**
 * Notes attempts in the ledger right before they are sent; the result is the row of the attempt, after the commit. What is
 * due at the same time is noted together, one group after another.
 */
export function createAttemptNotes({
  app,
  numbers,
  write,
}: Pick<RunSession, 'app' | 'numbers' | 'write'>): (requestId: number) => Promise<number> {
  let due: { requestId: number; resolve: (call: number) => void; reject: (error: unknown) => void }[] = [];
  let isWriting = false;

  const writeDue = async (): Promise<void> => {
    const group = due;
    due = [];
    const requestIds = group.map(({ requestId }) => requestId);
    try {
      const first = numbers.nextCalls(group.length);
      await write((transaction) => noteInFlight(transaction, numbers, first, requestIds, app.clock.now()));
      for (const [place, { resolve }] of group.entries()) resolve(first + place);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };
  const writeAll = async (): Promise<void> => {
    isWriting = true;
    // Many attempts become due at the same moment.
    await turnOfEvents();
    while (due.length > 0) await writeDue();
    isWriting = false;
  };

  return (requestId) =>
    new Promise((resolve, reject) => {
      due.push({ requestId, resolve, reject });
      if (!isWriting) void writeAll();
    });
}

/**
 * Records the attempts of one search for the ledger. `note` returns the row of the next attempt; `finish` returns the
 * attempts and the unsent note.
 */
function recordAttempts(note: () => Promise<number>): {
  observer: AttemptObserver;
  finish(): Omit<SearchAttempts, 'requestId'>;
} {
  const attempts: SearchAttempts['attempts'][number][] = [];
  let call: number | undefined;
  // An attempt that was held back is made later, under the same row.
  let heldBack: number | undefined;
  return {
    observer: {
      leaving: async () => {
        call = heldBack ?? (await note());
        heldBack = undefined;
      },
      ended: (attempt, end) => {
        if (call === undefined)
          throw new Error(`attempt ${attempt.attempt} of ${attempt.operation} was not noted before it was sent`);
        if (!end.isSent && end.outcome === 'aborted') {
          heldBack = call;
          call = undefined;
          return;
        }
        attempts.push({
          number: call,
          startedAt: attempt.startedAt,
          endedAt: end.endedAt,
          status: end.status,
          outcome: toLedgerOutcome(end),
          serviceRequestId: end.requestId ?? null,
        });
        call = undefined;
      },
    },
    finish: () => ({ attempts, unsent: heldBack === undefined ? [] : [heldBack] }),
  };
}

/** An attempt that never left this machine cannot be billed; whether the service received an aborted one is unknown. */
function toLedgerOutcome({ isSent, outcome }: AttemptEnd): string {
  if (!isSent) return 'not_sent';
  return outcome === 'aborted' ? 'unknown' : outcome;
}

/**
 * Makes a search that belongs to no customer, with its ledger entry; `called` is its name in the message of an outage.
 * Throws RunHalted when the service is out of reach, the account is refused, or the session's signal is aborted.
 */
export async function searchUnplanned(
  session: RunSession,
  client: Client,
  request: ScreeningRequest,
  called = 'a control search',
) {
  const { app, numbers, organisation, signal } = session;
  let requestId = 0;
  const note = async (): Promise<number> => {
    const call = numbers.nextCalls(1);
    await session.write(async (transaction) => {
      const ids = await ensureRequests(transaction, organisation.organisationId, [request]);
      requestId = firstRow(ids, 'screening_request');
      await noteInFlight(transaction, numbers, call, [requestId], app.clock.now());
    });
    return call;
  };
  const { observer, finish } = recordAttempts(note);
  const calls = abortLater(signal, stopGraceMs);
  const options = { signal: calls.signal, waitSignal: signal, observer, isBudgeted: false };
  const outcome = await screen(client.aml, request, options).finally(calls.clear);
  await session.write((transaction) => saveAttempts(transaction, numbers, [{ requestId, ...finish() }]));
  if (outcome.kind === 'aborted') throw toSignalHalt(signal);
  if (outcome.kind === 'halted') throw toAccountHalt(outcome.error);
  if (outcome.kind === 'failed' && outcome.isTransient) {
    throw new RunHalted('outage', `the service is out of reach: ${called} ended with ${outcome.reason}`);
  }
  return outcome;
}

export interface SearchContext {
  session: RunSession;
  client: Client;
  account: WatchedAccount;
  outage: OutageWatch;
  noteAttempt: ReturnType<typeof createAttemptNotes>;
  tally: SearchTally;
  controls: ControlRounds;
  signals: StopSignals;
  badAnswers: BadAnswers;
}

/** Makes one search unless the run is stopping, and emits the progress. */
export async function searchTask(
  { session, client, outage, noteAttempt, tally, signals, badAnswers }: SearchContext,
  task: SearchTask,
  options: Pick<CallOptions, 'isBudgeted'> = {},
): Promise<FinishedSearch> {
  const { app, organisation, runId } = session;
  const { observer, finish } = recordAttempts(() => noteAttempt(task.requestId));
  const request = { type: task.type, name: task.name };
  const { signal, waitSignal } = signals;
  let known: SearchTask['known'] = null;
  const isChecked = (body: Buffer): boolean => {
    if (task.known !== null && digestAnswer(organisation.digestKey, body) === task.known.digest) known = task.known;
    return known !== null;
  };
  const outcome = await screen(client.aml, request, { ...options, signal, waitSignal, observer, isChecked });
  const attempts = { requestId: task.requestId, ...finish() };
  tally.note(outcome, attempts.attempts.filter((attempt) => attempt.outcome !== 'not_sent').length, known);
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

/** The rounds of control searches during and after a run's searches. */
export interface ControlRounds {
  /** The number of searches until the next round. */
  readonly untilNext: number;
  /** Makes the next round when it is due; false after a failed control search: then no customer may be searched. */
  searchIfDue(): Promise<boolean>;
  /** Whether a search was made since the last round. */
  readonly isDueAtEnd: boolean;
  /**
   * Makes the last round when it is due, in its own session: the session of the searches may have used up its budget.
   */
  searchAtEnd(closing: RunSession): Promise<void>;
}

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

  /** Records the end of a search after so many calls; `known` has the counts of an answer that is the one before. */
  note(outcome: ScreeningOutcome, calls: number, known: SearchTask['known']): void {
    this.calls += calls;
    if (outcome.kind !== 'screened') return;
    this.done += 1;
    this.found.matches += known ? known.matches : outcome.answer.data.results.length;
    this.found.hits += known ? known.hits : outcome.answer.data.results.filter((result) => result.match).length;
  }

  /** How many searches this start has made. */
  get handedOut(): number {
    return this.#handedOut;
  }

  handOut(): void {
    this.#handedOut += 1;
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

/** The stop signals of a run's searches: a stop request, the end of an outage's deadline, or an error of a search. */
interface StopSignals {
  /** Ends waiting: no further request is sent. */
  readonly waitSignal: AbortSignal;
  /** Aborts running requests 5 seconds after a stop request or an outage's deadline, never because of a search. */
  readonly signal: AbortSignal;
  /** Stops because of a search; the first reason counts. */
  stop(reason: unknown): void;
  /** Throws the reason of a stop. */
  throwIfStopped(): void;
  clear(): void;
}

/** Combines a run's signal with its outage's. */
export function openStopSignals(run: AbortSignal, outage: AbortSignal): StopSignals {
  const own = new AbortController();
  const waitSignal = AbortSignal.any([own.signal, run, outage]);
  const calls = abortLater(AbortSignal.any([run, outage]), stopGraceMs);
  return {
    waitSignal,
    signal: calls.signal,
    stop: (reason) => own.abort(reason),
    throwIfStopped: () => {
      if (outage.aborted) throw toSignalHalt(outage);
      if (own.signal.aborted) throw own.signal.reason;
      if (run.aborted) throw toSignalHalt(run);
    },
    clear: calls.clear,
  };
}
