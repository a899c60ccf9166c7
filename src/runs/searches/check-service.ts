import type { Client } from '../../client/create-client.js';
import { findNextRound } from '../../store/canary-outcomes.js';
import { findAnsweredRequest } from '../../store/work-list.js';
import { askCanary } from '../canaries/ask-canary.js';
import { recordCanary } from '../canaries/record-canary.js';
import { searchBesidePlan } from '../ledger/search-beside-plan.js';
import { outlastOutage, type Patience } from '../outages/outlast-outage.js';
import type { RunSession } from '../session/run-session.js';

/**
 * What a control search shows about the service just after a search found it out of reach: it works, it had to be waited for, it answers
 * what it must not, or there is no control to ask.
 */
export type ServiceCondition = 'works' | 'recovered' | 'blind' | 'unknown';

/**
 * Makes a control search, a canary or else one that this run has had answered, after so many searches; throws RunHalted when the run waits
 * no longer.
 */
export async function checkService(
  session: RunSession,
  client: Client,
  patience: Patience,
  searches: number,
): Promise<ServiceCondition> {
  const control = await findControl(session, searches);
  if (control === undefined) return 'unknown';
  const { value: isWell, hadToWait } = await outlastOutage(patience, (signal) =>
    control({ ...session, signal }, client),
  );
  if (!isWell) return 'blind';
  return hadToWait ? 'recovered' : 'works';
}

type Control = (session: RunSession, client: Client) => Promise<boolean>;

async function findControl({ workplace, run }: RunSession, searches: number): Promise<Control | undefined> {
  const canaries = [...workplace.settings.canaries.entries()];
  const [ordinal, canary] = canaries.find(([, { expect }]) => expect === 'match') ?? canaries[0] ?? [];
  if (ordinal !== undefined && canary !== undefined) {
    return async (session, client) => {
      const outcome = await askCanary(session, client, ordinal, canary);
      const round = await findNextRound(workplace.database, run.runId);
      await recordCanary(session, { round, occasion: 'control', searches }, outcome);
      return outcome.verdict === 'passed';
    };
  }
  const answered = await findAnsweredRequest(workplace.database, run.runId);
  if (answered === undefined) return undefined;
  return async (session, client) => {
    await searchBesidePlan(session, client, answered);
    return true;
  };
}
