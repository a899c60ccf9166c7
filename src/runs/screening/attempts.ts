import { setImmediate as turnOfEvents } from 'node:timers/promises';
import type { Client } from '../../client/client.js';
import type { AttemptEnd, AttemptObserver } from '../../client/operation.js';
import type { ScreeningRequest } from '../../roster/customer.js';
import { screen } from '../../screening/screen.js';
import { firstRow } from '../../store/database/database.js';
import { ensureRequests } from '../../store/night/controls.js';
import { noteInFlight, type SearchAttempts, saveAttempts } from '../../store/night/ledger.js';
import { abortLater, RunHalted, stopGraceMs, toAccountHalt, toSignalHalt } from '../halt.js';
import type { RunSession } from '../session.js';

/**
 * Notes attempts in the ledger right before they are sent; the result of `note` is the row of the attempt, after the commit. What is due at the
 * same time is noted together, one group after another. `confirm` rejects when nothing more may be written; it resolves with the time before its
 * transaction, by `performance.now()`.
 */
export function createAttemptNotes({ app, numbers, write }: Pick<RunSession, 'app' | 'numbers' | 'write'>): {
  note(requestId: number): Promise<number>;
  confirm(): Promise<number>;
} {
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

  let asking: Promise<number> | null = null;
  return {
    note: (requestId) =>
      new Promise((resolve, reject) => {
        due.push({ requestId, resolve, reject });
        if (!isWriting) void writeAll();
      }),
    confirm: () => {
      const askedMs = performance.now();
      asking ??= write(async () => askedMs).finally(() => {
        asking = null;
      });
      return asking;
    },
  };
}

// Other processes may take the search of one that was held up for longer.
const freshMs = 1_000;

/**
 * Records the attempts of one search for the ledger. `note` returns the row of the next attempt; `confirm` is that of `createAttemptNotes`.
 * `finish` returns the attempts and the unsent note.
 */
export function recordAttempts(
  note: () => Promise<number>,
  confirm: () => Promise<number>,
): {
  observer: AttemptObserver;
  finish(): Omit<SearchAttempts, 'requestId'>;
} {
  const attempts: SearchAttempts['attempts'][number][] = [];
  let call: number | undefined;
  // An attempt that was held back is made later, under the same row.
  let heldBack: number | undefined;
  let confirmedMs = 0;
  return {
    observer: {
      leaving: async () => {
        const nowMs = performance.now();
        if (heldBack === undefined) {
          call = await note();
          confirmedMs = nowMs;
        } else {
          if (nowMs - confirmedMs > freshMs) confirmedMs = await confirm();
          call = heldBack;
        }
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
  const { observer, finish } = recordAttempts(note, createAttemptNotes(session).confirm);
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
