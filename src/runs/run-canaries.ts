import type { Client } from '../client/create-client.js';
import { judgeCanary } from '../matches/canary.js';
import { toMatchSet } from '../matches/to-match-set.js';
import { type ScreeningOutcome, screen } from '../screening/screen.js';
import { type CanaryOutcome, ensureRequests, saveCanaryOutcomes } from '../store/canary-outcomes.js';
import { saveResponses } from '../store/responses.js';
import { noteInFlight, saveAttempts } from '../store/search-attempts.js';
import { digestAnswer } from './digest-answer.js';
import { recordAttempts } from './record-attempts.js';
import { RunHalted, toAccountHalt } from './run-halted.js';
import type { RunSession } from './run-session.js';

/**
 * Stage: the control searches, before any customer is searched. True when each came as expected; a service that answers nothing, or
 * everything, must not be asked about customers. Throws RunHalted when the service cannot be asked at all.
 */
export async function runCanaries(session: RunSession, client: Client): Promise<boolean> {
  const { workplace, run, runId, organisation } = session;
  const { canaries } = workplace.settings;
  if (canaries.length === 0) {
    const message = 'no canaries are configured: nothing shows that the service still finds a listed party';
    workplace.tell({ kind: 'warning', runId, code: 'no_canaries', message });
    return true;
  }
  workplace.tell({ kind: 'stage_started', runId, stage: 'canaries' });
  const outcomes: CanaryOutcome[] = [];
  for (const [ordinal, canary] of canaries.entries()) {
    const request = { type: canary.type, name: canary.name };
    const { requestId, attemptId } = await session.write(async (transaction) => {
      const [requestId = 0] = await ensureRequests(transaction, organisation.organisationId, [request]);
      const noted = await noteInFlight(transaction, run.runId, [requestId], workplace.clock.now());
      return { requestId, attemptId: noted.get(requestId) ?? 0 };
    });
    const { observer, attempts } = recordAttempts();
    const outcome = await screen(client.aml, request, { signal: session.signal, observer });
    outcomes.push(
      await session.write(async (transaction) => {
        await saveAttempts(transaction, run.runId, [{ attemptId, requestId, attempts }]);
        if (outcome.kind !== 'screened')
          return { ordinal, ...canary, verdict: 'failed', found: describe(outcome), responseId: null };
        const matchSet = toMatchSet(outcome.answer);
        const digest = digestAnswer(organisation.digestKey, outcome.body);
        const ids = await saveResponses(
          transaction,
          organisation.organisationId,
          [{ digest, body: outcome.body, matchSet }],
          workplace.clock.now(),
        );
        const found = judgeCanary(canary, matchSet);
        const responseId = ids.get(digest.toString('hex')) ?? null;
        return { ordinal, ...canary, verdict: found === null ? 'passed' : 'failed', found, responseId };
      }),
    );
    throwWhenHalted(outcome);
  }
  await session.write((transaction) => saveCanaryOutcomes(transaction, run.runId, outcomes));
  const passed = outcomes.filter((outcome) => outcome.verdict === 'passed').length;
  workplace.tell({
    kind: 'stage_finished',
    runId,
    stage: 'canaries',
    counts: { passed, failed: outcomes.length - passed },
  });
  return passed === outcomes.length;
}

function describe(outcome: Exclude<ScreeningOutcome, { kind: 'screened' }>): string {
  return outcome.kind === 'failed' ? `no valid answer: ${outcome.reason}` : `no answer: ${outcome.kind}`;
}

/** Throws RunHalted for an outcome after which no further search makes sense. */
function throwWhenHalted(outcome: ScreeningOutcome): void {
  if (outcome.kind === 'aborted') throw new RunHalted('signal', 'stopped on request');
  if (outcome.kind === 'halted') throw toAccountHalt(outcome.error);
  if (outcome.kind === 'failed' && outcome.isTransient) {
    throw new RunHalted('outage', `the service is out of reach: a control search ended with ${outcome.reason}`);
  }
}
