import type { Client } from '../../client/create-client.js';
import { type Canary, judgeCanary } from '../../matches/canary.js';
import { toMatchSet } from '../../matches/to-match-set.js';
import type { CanaryOutcome } from '../../store/canaries.js';
import { requireFound } from '../../store/database/database.js';
import { saveResponses } from '../../store/responses.js';
import { digestAnswer } from '../ledger/digest-answer.js';
import { type ControlOutcome, searchBesidePlan } from '../ledger/search-beside-plan.js';
import type { RunSession } from '../session/run-session.js';

// One answer that breaks the contract shows a fault on the way; several show that the service cannot be relied on.
const maxAsks = 3;

/** Makes one control search and judges its answer, which is kept; throws RunHalted when the service cannot be asked. */
export async function askCanary(
  session: RunSession,
  client: Client,
  ordinal: number,
  canary: Canary,
): Promise<CanaryOutcome> {
  const { type, name, expect, topics = [], label = null } = canary;
  let answer: ControlOutcome = await searchBesidePlan(session, client, { type, name });
  for (let asks = 1; answer.kind === 'failed' && asks < maxAsks; asks += 1) {
    answer = await searchBesidePlan(session, client, { type, name });
  }
  const asked = { ordinal, type, name, expect, topics, label, askedAt: session.workplace.clock.now() };
  if (answer.kind === 'failed') {
    return { ...asked, verdict: 'failed', found: `no valid answer: ${answer.reason}`, responseId: null };
  }
  const { organisationId, digestKey } = session.organisation;
  const { body } = answer;
  const digest = digestAnswer(digestKey, body);
  const matchSet = toMatchSet(answer.answer);
  const ids = await session.write((transaction) =>
    saveResponses(transaction, organisationId, [{ digest, body, matchSet }], asked.askedAt),
  );
  const found = judgeCanary(canary, matchSet);
  const responseId = requireFound(ids, digest, 'response');
  return { ...asked, verdict: found === null ? 'passed' : 'failed', found, responseId };
}
