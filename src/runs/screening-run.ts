/*
 * A night in the order of its stages; the files are in `screening/`:
 * - search: `plan.ts` stores who is to be searched for, within the budget; `screen-tasks.ts` hands the searches out, `search-task.ts` makes one,
 *   `outages.ts` waits for a service that is out of reach, and `commit.ts` saves the answers with the changes that they would make;
 * - prove: `controls.ts` makes rounds of control searches, each of which proves the wave of answers before it;
 * - apply: `apply-run.ts` turns proven answers into states and alerts, unless `hold-run.ts` finds that too many known hits have vanished;
 * - close: `close.ts` does this in one transaction with the sums; `monitoring.ts` compares the service with former nights, and `verdict.ts` says
 *   how the run has ended. `accept-run.ts` applies a held run later.
 * Beside them, `early-warnings.ts` reports critical changes before the end, and `details.ts` fetches the records of new hits.
 */

import type { Client } from '../client/client.js';
import { hasBegun } from '../store/night/plan.js';
import { readListCap } from '../store/night/responses.js';
import type { Account } from '../store/organisations.js';
import { isTooLargeToAddUp, setRunStage } from '../store/runs.js';
import { requireBudget } from './account.js';
import type { AppContext } from './app-context.js';
import { closeDeadChecks } from './checks/check.js';
import { type RunHalted, requireHalt } from './halt.js';
import { importRoster } from './import/import-run.js';
import { reportAndMail } from './mail/deliver.js';
import { openImportedRoster, openRosterScope } from './roster-scope.js';
import type { RunSummary } from './run-summary.js';
import { finishScreening } from './screening/close.js';
import { reuseAnswers } from './screening/commit.js';
import { openControls } from './screening/controls.js';
import { fetchDetails } from './screening/details.js';
import { watchCriticalChanges } from './screening/early-warnings.js';
import { OutageWatch } from './screening/outages.js';
import { openAllowance } from './screening/plan.js';
import { screenTasks } from './screening/screen-tasks.js';
import {
  awaitAccount,
  findKnownAccount,
  planOrResume,
  type ScreeningOptions,
  type ScreeningPart,
  toRequest,
} from './screening-request.js';
import { type HeldLease, type RunRequest, type RunSession, recordKeys, withLeasedRun } from './session.js';
import { requireAcceptedSettings } from './settings-acceptance.js';
import { readWebhookKeys, sendStatesAfterRun } from './status.js';

/**
 * Screens a roster: import, plan, control searches, searches, sums, report. Resumes an interrupted run. Throws ConfigError and RosterError
 * before anything is spent, RunLockedError when another process runs this roster.
 */
export async function runScreening(
  app: AppContext,
  options: ScreeningOptions,
  signal: AbortSignal,
): Promise<RunSummary> {
  const startedAt = app.clock.now();
  const client = app.client();
  if (client.keyMode === 'live') requireBudget(app, 'live');
  // A missing secret is found before anything is spent.
  readWebhookKeys(app);
  const open = options.importFirst ? openRosterScope : openImportedRoster;
  const scope = await open(app, options.roster.name);
  const settingsId = await requireAcceptedSettings(app, scope);
  await closeDeadChecks(app);
  let outage: OutageWatch | undefined;
  let part: ScreeningPart;
  const findRequest = async (held: HeldLease, other: Account | null): Promise<RunRequest> => {
    outage?.close();
    outage = new OutageWatch(app, client, startedAt);
    const known = await findKnownAccount(app, scope, client, { outage, signal: held.signal }, other);
    part = { ...options, known, outage, rosterId: scope.rosterId };
    return { ...toRequest(app, options, scope, known), settingsId };
  };
  const summary = await withLeasedRun(app, scope.leaseKey, signal, findRequest, (session) =>
    screenRoster(session, client, part),
  ).finally(() => outage?.close());
  await sendStatesAfterRun(app, summary.runId, signal);
  const hasReport = summary.state !== 'unbalanced';
  return reportAndMail(app, summary, { hasReport, writeReport: options.writeReport }, signal);
}

/** The stages of one run; a run that stops early is closed with the reason. */
async function screenRoster(session: RunSession, client: Client, part: ScreeningPart): Promise<RunSummary> {
  const { run, app, signal } = session;
  const { known, outage } = part;
  outage.nameRun(session.runId);
  if (part.importFirst && run.stage === 'started') {
    // Onboarding needs the file itself; a night continues with the last accepted roster when guards hold the new one.
    const keepsFormer = part.kind !== 'onboard';
    await importRoster(session, part.roster, part.rosterId, { acceptRoster: part.acceptRoster, keepsFormer });
  }
  const isBegun = await hasBegun(app.database, run.runId);
  // A run that has begun stays with its account until the service names another.
  const plannedFor = isBegun ? run.accountId : (known.plannedFor?.accountId ?? null);
  const waitPolicy = { clock: app.clock, outage, signal };
  const watches: { close: () => Promise<void> }[] = [];
  let halted: RunHalted | null = null;
  try {
    await planOrResume(session, plannedFor, part);
    watches.push(watchCriticalChanges(session), recordKeys(session, client));
    const account = await awaitAccount(session, client, { known, plannedFor, isBegun }, waitPolicy);
    if (account.accountId !== plannedFor && !isBegun) await planOrResume(session, account.accountId, part);
    const watched = { ...account, listCap: await readListCap(app.database, account.accountId) };
    await reuseAnswers(session, watched);
    const allowance = await openAllowance(session, account.accountId, part.maxSearches);
    if (allowance && (await openControls(allowance.session, client, waitPolicy))) {
      await screenTasks({ client, account: watched, outage, ...allowance });
      await allowance.session.write((transaction) => setRunStage(transaction, run.runId, 'screened'));
    }
    // The remaining stages do not wait for the service.
    outage.close();
    await fetchDetails(session, client, account.accountId);
  } catch (error) {
    halted = requireHalt(error);
  } finally {
    for (const watch of watches) await watch.close();
  }
  if (halted?.code === 'signal' && (await isTooLargeToAddUp(app.database, run.runId))) throw halted;
  return finishScreening(session, halted, { isReported: part.writeReport });
}
