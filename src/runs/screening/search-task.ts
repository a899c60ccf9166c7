import { setImmediate as turnOfEvents } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import type { AttemptEnd, AttemptObserver, CallOptions } from '../../client/operation.js';
import { followSignals } from '../../client/signals.js';
import type { ScreeningRequest } from '../../roster/customer.js';
import { type ScreeningOutcome, screen } from '../../screening/screen.js';
import { ensureRequests } from '../../store/canaries.js';
import { firstRow, requireFound } from '../../store/database/database.js';
import { noteInFlight, type SearchAttempts, saveAttempts } from '../../store/ledger.js';
import { readSearchTasks, type SearchTask } from '../../store/screenings.js';
import { abortLater, RunHalted, stopGraceMs, toAccountHalt, toSignalHalt } from '../halt.js';
import type { RunSession } from '../session.js';
import { commitFailures, type FinishedSearch } from './commit.js';
import type { WatchedAccount } from './monitoring.js';
import type { OutageWatch } from './outages.js';

/** The note of an attempt that is to be made. */
interface AttemptNote {
  /** The attempt is about to be made: gives its row once that is committed. */
  take(): Promise<number>;
  /** The attempt is not made: gives its row where it has one. */
  drop(): Promise<number | undefined>;
}

/**
 * How far ahead of its turn an attempt is noted: what is noted and not sent when the process dies counts as spent. With none noted ahead,
 * the notes of an unpaced night on the embedded database took a fifth of its time (groups of 16, 2.1 ms each).
 */
const aheadMs = 40;
const mostTogether = 256;

interface Waiting {
  requestId: number;
  resolve: (attemptId: number) => void;
  reject: (error: unknown) => void;
}

/** Notes attempts whose turns have come, and together with them as many of the next as the last group's pace brings within `aheadMs`. */
export function createAttemptNotes({ app, run, write }: RunSession): (requestId: number) => AttemptNote {
  const mostAhead = (app.settings.service.rate.perSecond * aheadMs) / 1_000;
  const announced = new Set<Waiting>();
  const ahead = new Set<Waiting>();
  const due: Waiting[] = [];
  let isWriting = false;
  let last = { size: 1, begunMs: 0 };

  const takeGroup = (): readonly Waiting[] => {
    const begunMs = performance.now();
    const size = Math.min(mostTogether, 2 * last.size, (last.size * aheadMs) / (begunMs - last.begunMs));
    const group = due.splice(0, mostTogether);
    // A burst at the start says nothing about the pace behind it, and repeats come before those that are noted already.
    const most = Math.min(size, group.length + mostAhead - ahead.size);
    for (const next of announced) {
      if (group.length + 1 > most) break;
      announced.delete(next);
      ahead.add(next);
      group.push(next);
    }
    last = { size: group.length, begunMs };
    return group;
  };
  const writeGroup = async (group: readonly Waiting[]): Promise<void> => {
    const requestIds = group.map(({ requestId }) => requestId);
    try {
      const noted = await write((transaction) => noteInFlight(transaction, run.runId, requestIds, app.clock.now()));
      for (const { requestId, resolve } of group) resolve(requireFound(noted, requestId, 'search_attempt'));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };
  const writeAll = async (): Promise<void> => {
    isWriting = true;
    // Many turns come at the same moment.
    await turnOfEvents();
    while (due.length > 0) await writeGroup(takeGroup());
    isWriting = false;
  };

  return (requestId) => {
    let leave = (): boolean => false;
    let begin = (): void => undefined;
    const row = new Promise<number>((resolve, reject) => {
      const waiting = { requestId, resolve, reject };
      announced.add(waiting);
      leave = () => {
        ahead.delete(waiting);
        return announced.delete(waiting);
      };
      begin = () => void due.push(waiting);
    });
    // Whoever takes it learns of a failure; until then it must not end the process.
    row.catch(() => undefined);
    return {
      take: () => {
        if (leave()) begin();
        if (due.length > 0 && !isWriting) void writeAll();
        return row;
      },
      drop: async () => (leave() ? undefined : row),
    };
  };
}

/** Keeps the attempts of one search for the ledger; `announce` announces those after the first, `finish` gives what they came to, and what was noted and never made. */
function recordAttempts(
  first: AttemptNote,
  announce: () => AttemptNote,
): { observer: AttemptObserver; finish(): Promise<SearchAttempts> } {
  const attempts: SearchAttempts['attempts'][number][] = [];
  let note: AttemptNote | undefined = first;
  let attemptId: number | undefined;
  // Of an attempt that was held back: it is made in a later turn, and stays one row until then.
  let heldBackId: number | undefined;
  return {
    observer: {
      leaving: async () => {
        if (heldBackId === undefined) {
          note ??= announce();
          attemptId = await note.take();
          note = undefined;
        } else {
          attemptId = heldBackId;
          heldBackId = undefined;
        }
      },
      ended: (attempt, end) => {
        if (attemptId === undefined)
          throw new Error(`attempt ${attempt.attempt} of ${attempt.operation} was not noted before it was sent`);
        if (!end.isSent && end.outcome === 'aborted') {
          heldBackId = attemptId;
          attemptId = undefined;
          return;
        }
        attempts.push({
          attemptId,
          startedAt: attempt.startedAt,
          endedAt: end.endedAt,
          status: end.status,
          outcome: toLedgerOutcome(end),
          serviceRequestId: end.requestId ?? null,
        });
        attemptId = undefined;
      },
    },
    finish: async () => {
      const unsentId = await note?.drop();
      return { attempts, unsentIds: [unsentId, heldBackId].filter((id) => id !== undefined) };
    },
  };
}

/** What never left this machine, nobody can have counted or billed; of what was given up on its way nobody here knows. */
function toLedgerOutcome({ isSent, outcome }: AttemptEnd): string {
  if (!isSent) return 'not_sent';
  return outcome === 'aborted' ? 'unknown' : outcome;
}

/**
 * A search of a run that belongs to no customer, in the ledger like any other; `called` is what an outage calls it. Throws RunHalted when the service is out of reach, the
 * account is refused, or the session's signal is aborted.
 */
export async function searchUnplanned(
  session: RunSession,
  client: Client,
  request: ScreeningRequest,
  called = 'a control search',
) {
  const { app, run, organisation, signal } = session;
  const take = (): Promise<number> =>
    session.write(async (transaction) => {
      const ids = await ensureRequests(transaction, organisation.organisationId, [request]);
      const requestId = firstRow(ids, 'screening_request');
      const noted = await noteInFlight(transaction, run.runId, [requestId], app.clock.now());
      return requireFound(noted, requestId, 'search_attempt');
    });
  const note = { take, drop: async () => undefined };
  const { observer, finish } = recordAttempts(note, () => note);
  const calls = abortLater(signal, stopGraceMs);
  const options = { signal: calls.signal, waitSignal: signal, observer, isBudgeted: false };
  const outcome = await screen(client.aml, request, options).finally(calls.clear);
  const attempts = await finish();
  await session.write((transaction) => saveAttempts(transaction, [attempts]));
  if (outcome.kind === 'aborted') throw toSignalHalt(signal);
  if (outcome.kind === 'halted') throw toAccountHalt(outcome.error);
  if (outcome.kind === 'failed' && outcome.isTransient) {
    throw new RunHalted('outage', `the service is out of reach: ${called} ended with ${outcome.reason}`);
  }
  return outcome;
}

/** What the searches of a run need. */
export interface SearchContext {
  session: RunSession;
  client: Client;
  account: WatchedAccount;
  outage: OutageWatch;
  /** Says that a request is to be sent; its attempt is noted when its turn comes, or a little before. */
  announceAttempt: ReturnType<typeof createAttemptNotes>;
  tally: SearchTally;
  canaries: CanaryRounds;
  signals: StopSignals;
  badAnswers: BadAnswers;
}

/** A search whose first attempt is announced. */
interface AnnouncedTask {
  task: SearchTask;
  note: AttemptNote;
}

/** Makes one search, unless the run is stopping already, and reports how far the run has come. */
export async function searchTask(
  { session, client, outage, announceAttempt, tally, signals, badAnswers }: SearchContext,
  { task, note }: AnnouncedTask,
  options: Pick<CallOptions, 'isBudgeted'> = {},
): Promise<FinishedSearch> {
  const { app, runId } = session;
  const { observer, finish } = recordAttempts(note, () => announceAttempt(task.requestId));
  const request = { type: task.type, name: task.name };
  const { signal, waitSignal } = signals;
  const outcome = await screen(client.aml, request, { ...options, signal, waitSignal, observer });
  const attempts = await finish();
  tally.note(outcome, attempts.attempts.filter((attempt) => attempt.outcome !== 'not_sent').length);
  if (isAnswered(outcome)) outage.noteAnswer('aml.search');
  if (outcome.kind !== 'aborted') {
    const { done, total, calls, found } = tally;
    app.emit({ kind: 'progress', runId, stage: 'screen', done, total, calls, found });
  }
  return { task, attempts, outcome, isMadeAgain: badAnswers.note(task.requestId, outcome) };
}

/** Whether the service itself answered, whatever it said. */
const isAnswered = (outcome: ScreeningOutcome): boolean =>
  outcome.kind === 'screened' || outcome.kind === 'halted' || (outcome.kind === 'failed' && !outcome.isTransient);

/** The rounds of control searches amid a run's searches and after them. */
export interface CanaryRounds {
  /** How many more searches may be made before the next round. */
  readonly untilNext: number;
  /** Asks the next round when it is due; false when a control search has failed: nobody may be asked about any more. */
  searchIfDue(): Promise<boolean>;
  /** Whether searches were made since the last round. */
  readonly isDueAtEnd: boolean;
  /** Asks the last round unless none is due, by a session of its own: the searches' one may have spent all that it was given. */
  searchAtEnd(closing: RunSession): Promise<void>;
}

/** How far a run's searches have come, and how many more this start may make. */
export class SearchTally {
  /** Distinct searches of the plan. */
  readonly total: number;
  /** How many of them are answered. */
  done: number;
  /** Since this start: calls that were sent, and what the answers held. */
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

  /** How many more searches may be made before the limit is reached. */
  get affordable(): number {
    return Math.max(0, this.#limit - this.#handedOut);
  }

  /** A search has come to its end after so many calls. */
  note(outcome: ScreeningOutcome, calls: number): void {
    this.calls += calls;
    if (outcome.kind !== 'screened') return;
    const { results } = outcome.answer;
    this.done += 1;
    this.found = {
      matches: this.found.matches + results.length,
      hits: this.found.hits + results.filter((result) => result.match).length,
    };
  }

  /** So many answered searches are to be made again. */
  putBack(searches: number): void {
    this.done -= searches;
  }

  /** How many searches this start has made. */
  get handedOut(): number {
    return this.#handedOut;
  }

  /** One more search is made. */
  handOut(): void {
    this.#handedOut += 1;
  }

  /** Notes that searches remain that this start must not make. */
  reachLimit(): void {
    this.#isLimitReached = true;
  }

  /** Whether that happened. */
  get isLimitReached(): boolean {
    return this.#isLimitReached;
  }

  /** The halt of a run that must not make as many searches as remain. */
  toHalt(): RunHalted {
    return new RunHalted('max_searches', `the limit of ${this.#limit} searches for this run is reached`);
  }
}

const mostAttempts = 3;
// A service that breaks its contract more often than this is not worth the price of asking again; of a few answers that says nothing.
const mostShare = 0.25;
const few = 20;
const mostWaiting = 1_000;

/**
 * Answers that break the interface's contract: each is asked for again, up to three times in all, unless too many are of that kind. They
 * say nothing about anybody, and the service may have billed every one of them.
 */
export class BadAnswers {
  readonly #waiting = new Map<number, { attempts: number; reason: string }>();
  #answers = 0;
  #bad = 0;
  #again = 0;
  #hasGivenUp = false;

  /** `before` is how often this run has had bad answers to requests that remain. */
  constructor(before: ReadonlyMap<number, number>) {
    for (const [requestId, attempts] of before) this.#waiting.set(requestId, { attempts, reason: 'bad_response' });
  }

  /** Notes what came of a search, and says whether it is to be made again. */
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

  /** Whether so many answers are bad that none of them is asked for again. */
  get isTooMany(): boolean {
    return this.#bad > few && this.#bad > this.#answers * mostShare;
  }

  /** How many searches are to be made again since this was last asked. */
  takeAgain(): number {
    const again = this.#again;
    this.#again = 0;
    return again;
  }

  /** From now on no bad answer is asked for again; gives why each request that was to be has no answer, by its id. */
  giveUp(): ReadonlyMap<number, string> {
    this.#hasGivenUp = true;
    const reasons = new Map(Array.from(this.#waiting, ([requestId, { reason }]) => [requestId, reason]));
    this.#waiting.clear();
    return reasons;
  }

  /** In words, how many answers were bad. */
  get words(): string {
    return `${this.#bad} of ${this.#answers} answers broke the contract of the interface`;
  }
}

const chunkSize = 256;

/**
 * Reports how many searches of the last walk are to be made again because their answers were bad, and gives their number. When too many were,
 * it says so, and their customers fail instead.
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

/** Once too many answers were bad: fails whoever waits to be asked about again, each with the reason of the last answer; true then. */
export async function giveUpWhenTooMany({ session, badAnswers }: SearchContext): Promise<boolean> {
  const { run, runId, app } = session;
  if (!badAnswers.isTooMany) return false;
  const message = `${badAnswers.words}: too many to ask for them again`;
  app.emit({ kind: 'warning', runId, code: 'bad_answers', message });
  const reasons = badAnswers.giveUp();
  for await (const chunk of readSearchTasks(app.database, run.runId, chunkSize)) {
    const failures = chunk.flatMap((task) => {
      const reason = reasons.get(task.requestId);
      return reason === undefined ? [] : [{ task, reason }];
    });
    await commitFailures(session, failures);
  }
  return true;
}

/** What stops the searches of a run: a request to stop, an outage that lasted too long, or what one of them met. */
interface StopSignals {
  /** Ends waiting: nothing more is sent. */
  readonly waitSignal: AbortSignal;
  /** Ends what is under way: 5 seconds after a request to stop or an outage's deadline, never for the searches' own sake. */
  readonly signal: AbortSignal;
  /** Stops for a reason that the searches themselves have met; the first one counts. */
  stop(reason: unknown): void;
  /** Throws why it was stopped, if it was. */
  throwIfStopped(): void;
  /** Lets go of the signals that are followed. */
  clear(): void;
}

/** Follows a run's signal and its outage's. */
export function openStopSignals(run: AbortSignal, outage: AbortSignal): StopSignals {
  const own = new AbortController();
  const waiting = followSignals(own.signal, [run, outage]);
  const asked = followSignals(run, [outage]);
  const calls = abortLater(asked.signal, stopGraceMs);
  return {
    waitSignal: waiting.signal,
    signal: calls.signal,
    stop: (reason) => own.abort(reason),
    throwIfStopped: () => {
      if (outage.aborted) throw toSignalHalt(outage);
      if (own.signal.aborted) throw own.signal.reason;
      if (run.aborted) throw toSignalHalt(run);
    },
    clear: () => {
      calls.clear();
      asked.clear();
      waiting.clear();
    },
  };
}
