import type { Client } from '../../client/client.js';
import { assessControl, type ControlSearch } from '../../matches/control.js';
import { endWave, noteUnproven, proveWave } from '../../store/night/apply-answers.js';
import {
  type ControlOutcome,
  countFailedControls,
  findNextRound,
  saveControlOutcome,
} from '../../store/night/controls.js';
import { findAnsweredRequest } from '../../store/night/ledger.js';
import { countSearchTasks } from '../../store/night/screenings.js';
import type { RunSession } from '../session.js';
import { searchUnplanned } from './attempts.js';
import { saveAnswer } from './commit.js';
import { retryUntilDeadline, type WaitPolicy } from './outages.js';

// One answer that breaks the contract can be a transport fault. Several show that the service is unreliable.
const maxAsks = 3;

/** Makes one control search, assesses its answer and saves it. Throws RunHalted when the service is out of reach. */
async function searchControl(session: RunSession, client: Client, ordinal: number, control: ControlSearch) {
  const { type, name, expect, topics = [], label = null } = control;
  let answer = await searchUnplanned(session, client, { type, name });
  for (let asks = 1; answer.kind === 'failed' && asks < maxAsks; asks += 1) {
    answer = await searchUnplanned(session, client, { type, name });
  }
  const asked = { ordinal, type, name, expect, topics, label, askedAt: session.app.clock.now() };
  if (answer.kind === 'failed') {
    return { ...asked, verdict: 'failed' as const, found: `no valid answer: ${answer.reason}`, responseId: null };
  }
  const valid = answer.answer;
  const { responseId, matchSet } = await session.write((transaction) =>
    saveAnswer(transaction, session.organisation, valid, asked.askedAt),
  );
  const found = assessControl(control, matchSet);
  return { ...asked, verdict: found === null ? ('passed' as const) : ('failed' as const), found, responseId };
}

/**
 * Makes every control search once and waits during an outage. Returns true when this round and all earlier rounds
 * passed. Then the answers that the run had saved before the round are proven. Throws RunHalted when the run stops
 * waiting.
 */
async function searchControls(
  session: RunSession,
  client: Client,
  waitPolicy: WaitPolicy,
  when: Pick<ControlOutcome, 'occasion' | 'searches'>,
): Promise<boolean> {
  const { app, run, runId } = session;
  if ((await countFailedControls(app.database, run.runId)) > 0) return false;
  const [first, ...others] = app.settings.controls.entries();
  if (first === undefined) return true;
  app.emit({ kind: 'stage_started', runId, stage: 'controls' });
  const wave = await session.write((transaction) => endWave(transaction, session.numbers));
  const round = { ...when, round: await findNextRound(app.database, run.runId) };
  const ask = async ([ordinal, control]: [number, ControlSearch]): Promise<boolean> => {
    const { value: outcome } = await retryUntilDeadline(waitPolicy, (signal) =>
      searchControl({ ...session, signal }, client, ordinal, control),
    );
    await recordControl(session, { ...round, ...outcome });
    return outcome.verdict === 'passed';
  };
  // The first runs alone, so that an outage costs only one search.
  const passed = [await ask(first), ...(await allOf(others.map(ask)))].filter((isWell) => isWell).length;
  const failed = 1 + others.length - passed;
  if (failed === 0) await session.write((transaction) => proveWave(transaction, run.runId, wave));
  const { occasion } = when;
  app.emit({ kind: 'stage_finished', runId, stage: 'controls', counts: { passed, failed }, occasion });
  return failed === 0;
}

/** Waits for all promises, also after a rejection, so that no write follows a halt. Then throws the first error. */
async function allOf<T>(work: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

/** The rounds of control searches during a run: after each `screening.controlsEvery` searches and at the end. */
export class ControlRounds {
  readonly #session: RunSession;
  readonly #client: Client;
  readonly #waitPolicy: WaitPolicy;
  readonly #tally: SearchCounts;
  #last: number;

  constructor(session: RunSession, client: Client, waitPolicy: WaitPolicy, tally: SearchCounts) {
    this.#session = session;
    this.#client = client;
    this.#waitPolicy = waitPolicy;
    this.#tally = tally;
    this.#last = tally.handedOut;
  }

  /** The number of searches until the next round. */
  get untilNext(): number {
    return this.#last + this.#session.app.settings.screening.controlsEvery - this.#tally.handedOut;
  }

  /** Whether a search was made since the last round. */
  get isDueAtEnd(): boolean {
    return this.#session.app.settings.controls.length > 0 && this.#tally.handedOut > this.#last;
  }

  /** Makes the next round when it is due; false after a failed control search: then no customer may be searched. */
  async searchIfDue(): Promise<boolean> {
    return this.untilNext > 0 || this.#search('periodic', this.#session);
  }

  /** Makes the last round, in its own session: the session of the searches may have used up its budget. */
  searchAtEnd(closing: RunSession): Promise<boolean> {
    return this.#search('end', closing);
  }

  async #search(occasion: 'periodic' | 'end', session: RunSession): Promise<boolean> {
    const when = { occasion, searches: this.#tally.done };
    const waitPolicy = { ...this.#waitPolicy, signal: session.signal };
    const isWell = await searchControls(session, this.#client, waitPolicy, when);
    this.#last = this.#tally.handedOut;
    return isWell;
  }
}

/** The answered searches of a run, and those that were handed out since its start. */
interface SearchCounts {
  readonly done: number;
  readonly handedOut: number;
}

/**
 * Stage: makes the control searches before the first customer search, also after each resume. Returns true when all
 * rounds so far passed. Throws RunHalted when the service is out of reach.
 */
export async function openControls(session: RunSession, client: Client, waitPolicy: WaitPolicy): Promise<boolean> {
  const { app, run, runId } = session;
  if (app.settings.controls.length === 0) {
    const message = 'no control searches are configured: a service that no longer finds listed parties goes unnoticed';
    app.emit({ kind: 'warning', runId, code: 'no_controls', message });
  }
  const occasion = run.resumed > 0 ? 'resumed' : 'start';
  const ours = { ...waitPolicy, signal: session.signal };
  return searchControls(session, client, ours, { occasion, searches: await countDone(session) });
}

/** Counts the answered searches of the plan; 0 without control searches. */
async function countDone({ app, run }: RunSession): Promise<number> {
  if (app.settings.controls.length === 0) return 0;
  const { total, remaining } = await countSearchTasks(app.database, run.runId);
  return total - remaining;
}

/** Saves a control search. After a failed one the answers since the last passed round never count. */
async function recordControl(session: RunSession, outcome: ControlOutcome): Promise<void> {
  const { runId } = session.run;
  await session.write(async (transaction) => {
    await saveControlOutcome(transaction, runId, outcome);
    if (outcome.verdict === 'failed') await noteUnproven(transaction, runId, 'control_failed');
  });
}

/**
 * A search whose answer is known: a configured control search, or a request that this run has had answered. Undefined
 * without either. It returns whether the answer is as expected.
 */
export async function findControl(
  { app, run }: RunSession,
  client: Client,
  searches: number,
): Promise<((session: RunSession) => Promise<boolean>) | undefined> {
  const controls = [...app.settings.controls.entries()];
  const [ordinal, control] = controls.find(([, { expect }]) => expect === 'match') ?? controls[0] ?? [];
  if (ordinal !== undefined && control !== undefined) {
    return async (session) => {
      const outcome = await searchControl(session, client, ordinal, control);
      const round = await findNextRound(app.database, run.runId);
      await recordControl(session, { round, occasion: 'control', searches, ...outcome });
      return outcome.verdict === 'passed';
    };
  }
  const answered = await findAnsweredRequest(app.database, run.runId);
  if (answered === null) return undefined;
  return async (session) => {
    await searchUnplanned(session, client, answered);
    return true;
  };
}
