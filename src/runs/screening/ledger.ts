import { createHmac } from 'node:crypto';
import { setImmediate as turnOfEvents } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import type { AttemptEnd, AttemptObserver } from '../../client/operation.js';
import type { ScreeningRequest } from '../../roster/customer.js';
import { type ScreeningOutcome, screen } from '../../screening/screen.js';
import { ensureRequests } from '../../store/canaries.js';
import { firstRow, requireFound } from '../../store/database/database.js';
import { type AttemptRecord, noteInFlight, type SearchAttempts, saveAttempts } from '../../store/ledger.js';
import { abortLater, RunHalted, stopGraceMs, toAccountHalt, toSignalHalt } from '../halt.js';
import type { RunSession } from '../session.js';

/** The keyed digest of an answer in hex: HMAC-SHA-256 over its bytes as received. */
export const digestAnswer = (digestKey: Buffer, body: string): string =>
  createHmac('sha256', digestKey).update(body).digest('hex');

/** The note of an attempt that is to be made. */
export interface AttemptNote {
  /** The attempt is about to be made: gives its row once that is committed. */
  take(): Promise<number>;
  /** The attempt is not made: gives its row where it has one. */
  drop(): Promise<number | undefined>;
}

/** Says that a request is to be sent; its attempt is noted when its turn comes, or a little before. */
export type AnnounceAttempt = (requestId: number) => AttemptNote;

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
export function createAttemptNotes({ app, run, write }: RunSession): AnnounceAttempt {
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

/** What keeps a search's attempts for the ledger. */
interface AttemptRecorder {
  observer: AttemptObserver;
  /** What the attempts came to, and what was noted and never made. */
  finish(): Promise<SearchAttempts>;
}

/** Keeps the attempts of one search; `announce` announces those after the first. */
export function recordAttempts(first: AttemptNote, announce: () => AttemptNote): AttemptRecorder {
  const attempts: AttemptRecord[] = [];
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

/** What came of such a search: an answer, or a failure that is no outage. */
export type ControlOutcome = Extract<ScreeningOutcome, { kind: 'screened' | 'failed' }>;

/**
 * A search of a run that belongs to no customer, in the ledger like any other; `called` is what an outage calls it. Throws RunHalted when the service is out of reach, the
 * account is refused, or the session's signal is aborted.
 */
export async function searchUnplanned(
  session: RunSession,
  client: Client,
  request: ScreeningRequest,
  called = 'a control search',
): Promise<ControlOutcome> {
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
