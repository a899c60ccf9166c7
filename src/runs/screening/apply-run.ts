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
  holdAlertsOfRun,
  holdAnswers,
  readWaves,
} from '../../store/night/apply-answers.js';
import { readAnswerFindings } from '../../store/night/run-health.js';
import type { RunContext } from '../app-context.js';
import { makeAlerts } from '../review/alerts.js';
import { findAnswerHold } from './hold-run.js';
import { assessLists, findListCap } from './monitoring.js';

/** Whether a run has ended, stops and may go on, is abandoned, or was held and is accepted now. */
type RunPhase = 'ended' | 'stopped' | 'abandoned' | 'accepted';

/** What became of a run of which nothing could be applied; `lastChange` is the last change of state before, null where nobody was judged. */
export const nothingApplied = {
  parties: 0,
  hold: null,
  listCap: null,
  openAlerts: null,
  findings: null,
  lastChange: null,
};

/**
 * Applies the proven answers of a run that are not applied yet to states and alerts. When too many known hits have vanished, they are held:
 * only their new hits become alerts. Applies nothing of a run whose account is not known yet.
 */
export async function applyRun(transaction: Transaction, { app, run }: RunContext, phase: RunPhase) {
  const { runId, accountId } = run;
  if (accountId === null) return nothingApplied;
  const isEnded = phase === 'ended' || phase === 'accepted';
  const { applied: afterWave, applicable: upTo } = await readWaves(transaction, runId, { isEnded });
  await holdAlertsOfRun(transaction, runId);
  const vanished = phase === 'accepted' ? null : await findAnswerHold(transaction, { app, run }, accountId, upTo);
  if (vanished !== null) {
    const hold = { ...vanished, reasons: [...vanished.reasons, ...(await describeCut(transaction, accountId, runId))] };
    if (phase !== 'stopped') await holdAnswers(transaction, runId);
    const openAlerts = await makeAlerts(transaction, { app, run }, accountId, { afterWave, answers: 'held' });
    const lastChange = await judgeAnswered(transaction, { app, run });
    // A stopped run may still have its answers applied: until then the former reasons stand.
    if (phase !== 'stopped') await noteUnanswered(transaction, runId);
    return { ...nothingApplied, hold, openAlerts, lastChange };
  }
  const parties = await applyAnswers(transaction, runId, upTo);
  const findings = await readAnswerFindings(transaction, runId);
  const listCap = await assessLists(transaction, { app, run }, accountId, findings.answersByLength);
  const answers = { ended: 'whole', stopped: 'part', abandoned: 'part', accepted: 'accepted_later' } as const;
  const openAlerts = await makeAlerts(transaction, { app, run }, accountId, { afterWave, answers: answers[phase] });
  const lastChange = await judgeAnswered(transaction, { app, run });
  await noteUnanswered(transaction, runId);
  if (listCap !== null && listCap.standing !== 'known') {
    // Lists of this length are whole again, or no longer, on all rosters of the account.
    const everywhere = { rosterId: null, accountId, customerIds: null };
    await judgeCustomers(transaction, everywhere, { withNew: false, now: app.clock.now() });
  }
  return { parties, hold: null, listCap, openAlerts, findings, lastChange };
}

/** Judges the customers of a run by what is applied now. Returns the number of the last change of state before. */
async function judgeAnswered(transaction: Transaction, { app, run }: RunContext): Promise<number | null> {
  const { runId, rosterId, accountId, selection } = run;
  if (rosterId === null) return null;
  const customerIds = selection === 'dirty' ? await readPlannedCustomers(transaction, runId) : null;
  const lastChange = await readLastStateChange(transaction);
  await judgeCustomers(transaction, { rosterId, accountId, customerIds }, { withNew: true, now: app.clock.now() });
  return lastChange;
}

/** The likely cause of a hold: the service has begun to cut its lists without saying so. */
async function describeCut(transaction: Transaction, accountId: number, runId: number): Promise<readonly string[]> {
  const { answersByLength } = await readAnswerFindings(transaction, runId);
  const { cap, standing } = await findListCap(transaction, { accountId, runId }, answersByLength);
  return cap === null || standing === 'known'
    ? []
    : [`lists of ${countNoun(cap, 'result')} seem to be truncated silently`];
}

/** Applies what a killed or stopped run has left to whoever takes it over. */
export async function applyLeft(transaction: Transaction, context: RunContext): Promise<void> {
  const { runId } = context.run;
  const { applicable } = await readWaves(transaction, runId, { isEnded: false });
  const left = await countUnapplied(transaction, runId, applicable);
  if (left > 0) await applyRun(transaction, context, 'stopped');
}
