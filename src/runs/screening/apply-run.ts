import { countNoun } from '../../reports/text.js';
import {
  judgeCustomers,
  noteUnanswered,
  readLastStateChange,
  readPlannedCustomers,
} from '../../store/customers/states.js';
import type { Transaction } from '../../store/database/database.js';
import {
  applyAnswers,
  countUnapplied,
  holdAnswers,
  readApplicableWave,
  readAppliedWave,
} from '../../store/night/apply-answers.js';
import { saveVanishing } from '../../store/night/held-runs.js';
import { readListCap } from '../../store/night/responses.js';
import { readAnswerFindings } from '../../store/night/run-health.js';
import { readRun } from '../../store/runs.js';
import type { RunContext } from '../app-context.js';
import { makeAlerts } from '../review/alerts.js';
import { assessRun, describeFinding } from './hold-run.js';
import { assessLists } from './monitoring.js';

/** Why the answers of a run are held, and the number of customers that they are for. */
export interface AnswerHold {
  reasons: readonly string[];
  customers: number;
}

/** Whether a run has ended, stops and may go on, is abandoned, or was held and is accepted now. */
type RunPhase = 'ended' | 'stopped' | 'abandoned' | 'accepted';

/**
 * Applies the proven answers of a run that are not applied yet to states and alerts. When too many known hits have vanished, they are held:
 * only their new hits become alerts. Null for a run without a roster or an account.
 */
export async function applyRun(transaction: Transaction, { app, run }: RunContext, phase: RunPhase) {
  const { runId, rosterId } = run;
  const accountId = (await readRun(transaction, runId))?.accountId ?? null;
  if (rosterId === null || accountId === null) return null;
  const upTo = await readApplicableWave(transaction, runId);
  const afterWave = await readAppliedWave(transaction, runId);
  const hold = phase === 'accepted' ? null : await findHold(transaction, { app, run }, accountId, upTo);
  if (hold !== null) {
    if (phase !== 'stopped') await holdAnswers(transaction, runId);
    const openAlerts = await makeAlerts(transaction, { app, run }, accountId, { afterWave, answers: 'held' });
    const lastChange = await judgeRun(transaction, { app, run }, accountId);
    return { parties: 0, hold, listCap: null, openAlerts, findings: null, lastChange };
  }
  const parties = await applyAnswers(transaction, runId, upTo);
  const findings = await readAnswerFindings(transaction, runId);
  const formerCap = await readListCap(transaction, accountId);
  const listCap = await assessLists(transaction, { app, run }, accountId, findings.answersByLength);
  const answers = { ended: 'whole', stopped: 'part', abandoned: 'part', accepted: 'accepted_later' } as const;
  const openAlerts = await makeAlerts(transaction, { app, run }, accountId, { afterWave, answers: answers[phase] });
  const lastChange = await judgeRun(transaction, { app, run }, accountId);
  if ((await readListCap(transaction, accountId)) !== formerCap) {
    // Lists of this length are whole again, or no longer, on all rosters of the account.
    const everywhere = { rosterId: null, accountId, customerIds: null };
    await judgeCustomers(transaction, everywhere, { withNew: false, now: app.clock.now() });
  }
  return { parties, hold: null, listCap, openAlerts, findings, lastChange };
}

/** Judges the customers of a run by what is applied now. Returns the number of the last change of state before. */
async function judgeRun(transaction: Transaction, { app, run }: RunContext, accountId: number): Promise<number> {
  const { runId, rosterId, selection } = run;
  const customerIds = selection === 'dirty' ? await readPlannedCustomers(transaction, runId) : null;
  const lastChange = await readLastStateChange(transaction);
  await judgeCustomers(transaction, { rosterId, accountId, customerIds }, { withNew: true, now: app.clock.now() });
  await noteUnanswered(transaction, runId);
  return lastChange;
}

/** Applies what a killed or stopped run has left to whoever takes it over. */
export async function applyLeft(transaction: Transaction, context: RunContext): Promise<void> {
  const { runId } = context.run;
  const left = await countUnapplied(transaction, runId, await readApplicableWave(transaction, runId));
  if (left > 0) await applyRun(transaction, context, 'stopped');
}

async function findHold(
  transaction: Transaction,
  { app, run }: RunContext,
  accountId: number,
  upTo: number,
): Promise<AnswerHold | null> {
  const { figures, findings } = await assessRun(transaction, { app, run }, accountId, upTo);
  await saveVanishing(transaction, run.runId, figures);
  if (findings.length === 0) return null;
  return { reasons: findings.map(describeFinding), customers: await countUnapplied(transaction, run.runId, upTo) };
}

/** What a held run says of itself, with the command that accepts it. */
export const describeHeldAnswers = ({ reasons, customers }: AnswerHold, runId: string): string =>
  `its answers for ${countNoun(customers, 'customer')} are held, because ${reasons.join('; ')}: states stay as they were. ` +
  `If the lists did change like this, ${acceptCommand(runId)} applies the answers`;

/** The same of a run that stops and may go on. */
export const describeWaitingAnswers = ({ reasons, customers }: AnswerHold): string =>
  `its answers for ${countNoun(customers, 'customer')} wait for the end of the run, because ${reasons.join('; ')}`;

export const acceptCommand = (runId: string): string => `nightscreen runs accept ${runId} --by NAME --reason TEXT`;
