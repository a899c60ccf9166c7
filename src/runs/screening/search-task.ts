import type { Client } from '../../client/client.js';
import type { CallOptions } from '../../client/operation.js';
import { type ScreeningOutcome, screen } from '../../screening/screen.js';
import { readSearchTasks, type SearchTask } from '../../store/screenings.js';
import { RunHalted, type StopSignals } from '../halt.js';
import type { RunSession } from '../session.js';

import { commitFailures, type FinishedSearch } from './commit.js';
import { type AnnounceAttempt, type AttemptNote, recordAttempts } from './ledger.js';
import type { WatchedAccount } from './monitoring.js';
import type { OutageWatch } from './outages.js';

/** What the searches of a run need. */
export interface SearchContext {
  session: RunSession;
  client: Client;
  account: WatchedAccount;
  outage: OutageWatch;
  announceAttempt: AnnounceAttempt;
  tally: SearchTally;
  canaries: CanaryRounds;
  signals: StopSignals;
  badAnswers: BadAnswers;
}

/** A search whose first attempt is announced. */
export interface AnnouncedTask {
  task: SearchTask;
  note: AttemptNote;
}

/** Makes one search, unless the run is stopping already, and tells how far the run has come. */
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
 * Tells how many searches of the last walk are to be made again because their answers were bad, and gives their number. When too many were,
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
