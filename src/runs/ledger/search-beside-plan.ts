import type { Client } from '../../client/create-client.js';
import type { ScreeningRequest } from '../../roster/screening-request.js';
import { type ScreeningOutcome, screen } from '../../screening/screen.js';
import { ensureRequests } from '../../store/canaries.js';
import { firstRow, requireFound } from '../../store/database/database.js';
import { noteInFlight, saveAttempts } from '../../store/ledger.js';
import { abortLater } from '../searches/abort-later.js';
import { stopGraceMs } from '../searches/stop-signals.js';
import { RunHalted, toAccountHalt, toSignalHalt } from '../session/run-halted.js';
import type { RunSession } from '../session/run-session.js';
import { recordAttempts } from './record-attempts.js';

/** What came of such a search: an answer, or a failure that is no outage. */
export type ControlOutcome = Extract<ScreeningOutcome, { kind: 'screened' | 'failed' }>;

/**
 * A search of a run that belongs to no customer, in the ledger like any other; `called` is what an outage calls it. Throws RunHalted when the service is out of reach, the
 * account is refused, or the session's signal is aborted.
 */
export async function searchBesidePlan(
  session: RunSession,
  client: Client,
  request: ScreeningRequest,
  called = 'a control search',
): Promise<ControlOutcome> {
  const { workplace, run, organisation, signal } = session;
  const take = (): Promise<number> =>
    session.write(async (transaction) => {
      const ids = await ensureRequests(transaction, organisation.organisationId, [request]);
      const requestId = firstRow(ids, 'screening_request');
      const noted = await noteInFlight(transaction, run.runId, [requestId], workplace.clock.now());
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
