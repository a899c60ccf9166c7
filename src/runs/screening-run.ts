import type { Client } from '../client/create-client.js';
import type { RosterSettings } from '../roster/settings.js';
import { type Account, findLastAccount } from '../store/organisations.js';
import { setRunAccount, setRunStage } from '../store/runs.js';
import { countPlan, type PlanSelection } from '../store/screening-plan.js';
import { findObstacle } from './find-obstacle.js';
import { finishScreening } from './finish-screening.js';
import { identifyAccount } from './identify-account.js';
import { importRoster } from './import-roster.js';
import { planScreenings, toPlanInput } from './plan-screenings.js';
import { writeRunReport } from './report-run.js';
import { openImportedRoster, openRosterScope } from './roster-scope.js';
import { runCanaries } from './run-canaries.js';
import { RunHalted } from './run-halted.js';
import { type RunSession, withLease, withRun } from './run-session.js';
import type { RunSummary } from './run-summary.js';
import { screenTasks } from './screen-tasks.js';
import type { Workplace } from './workplace.js';

/** What kind of screening run, of which customers. */
export interface ScreeningOptions {
  kind: 'screen' | 'rescreen' | 'onboard';
  roster: RosterSettings;
  selection: PlanSelection;
  importFirst: boolean;
  writeReport: boolean;
  maxSearches?: number | undefined;
  /** Goes on with the run of this number or with none. */
  resumeOnly?: number | undefined;
}

/**
 * Screens a roster: import, plan, canaries, searches, sums, report. A run that was broken off goes on where it stood. Throws
 * ConfigError and RosterError before anything is spent, RunLockedError when another process runs this roster.
 */
export async function runScreening(
  workplace: Workplace,
  options: ScreeningOptions,
  signal: AbortSignal,
): Promise<RunSummary> {
  const client = workplace.client();
  const { kind, selection, resumeOnly } = options;
  const open = options.importFirst ? openRosterScope : openImportedRoster;
  const scope = await open(workplace, options.roster.name);
  const summary = await withLease(workplace, scope.leaseKey, signal, async (held) => {
    const identified = await haltedOr(identifyAccount(workplace, scope.organisation, client, held.signal));
    const known = identified instanceof RunHalted ? null : identified;
    const mode = toMode(known, client);
    const account = known ?? (await findLastAccount(workplace.database, scope.rosterId, mode));
    const roster = options.importFirst ? options.roster : null;
    const intention = { kind, selection, mode, account: known, roster, isNamed: resumeOnly !== undefined };
    const request = {
      ...scope,
      ...{ kind, selection, mode, resumeOnly },
      findObstacle: (open: RunSession['run']) => findObstacle(workplace, open, intention),
    };
    return withRun(workplace, held, request, async (session) => {
      if (roster && session.run.stage === 'started') await importRoster(session, roster, scope.rosterId);
      await planOrResume(session, scope.rosterId, account, client.keyFingerprint, selection);
      const halted = known ? await haltedOr(screenPlanned(session, client, known, options.maxSearches)) : identified;
      return finishScreening(session, halted instanceof RunHalted ? halted : null);
    });
  });
  if (!options.writeReport || summary.state === 'unbalanced') return summary;
  const report = await writeRunReport(workplace, summary.runId);
  return { ...summary, artifacts: report.directory };
}

/** The mode of the account, or of the key as its prefix says while the service cannot be asked. */
function toMode(account: Account | null, client: Client): 'test' | 'live' {
  if (account) return account.isTest ? 'test' : 'live';
  return client.keyMode === 'test' ? 'test' : 'live';
}

async function planOrResume(
  session: RunSession,
  rosterId: number,
  account: Account | null,
  keyFingerprint: string,
  selection: PlanSelection,
): Promise<void> {
  const { run } = session;
  const accountId = account?.accountId ?? null;
  await session.write((transaction) => setRunAccount(transaction, run.runId, accountId, keyFingerprint));
  // A plan made for another account, or for none, says nothing about who is due under this one.
  const isPlanned = (run.stage === 'planned' || run.stage === 'screened') && run.accountId === accountId;
  if (!isPlanned) await planScreenings(session, { rosterId, accountId, selection });
}

async function screenPlanned(
  session: RunSession,
  client: Client,
  account: Account,
  maxSearches: number | undefined,
): Promise<void> {
  if (!(await runCanaries(session, client))) return;
  await screenTasks({ session, client, account, maxSearches });
  await session.write((transaction) => setRunStage(transaction, session.run.runId, 'screened'));
}

/** The result, or the RunHalted that ended the work; anything else is thrown on. */
async function haltedOr<T>(work: Promise<T>): Promise<T | RunHalted> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof RunHalted) return error;
    throw error;
  }
}

/** What a run of this selection would do now, without storing or calling anything. */
export interface ScreeningPreview {
  roster: string;
  inScope: number;
  planned: number;
  /** Customers by reason to plan or to skip them. */
  reasons: Readonly<Record<string, number>>;
  searches: number;
  minutes: number;
}

/** The plan of a screening as it would be made now from the roster as last imported; the account is the one last used. */
export async function previewScreening(
  workplace: Workplace,
  roster: RosterSettings,
  selection: PlanSelection,
): Promise<ScreeningPreview> {
  const { rosterId } = await openImportedRoster(workplace, roster.name);
  const account = await findLastAccount(workplace.database, rosterId, workplace.settings.service.mode ?? 'test');
  const input = toPlanInput(workplace, rosterId, account?.accountId ?? null, selection);
  const { inScope, planned, reasons, searches } = await countPlan(workplace.database, input);
  const minutes = Math.ceil(searches / workplace.settings.service.rate.perSecond / 6) / 10;
  return { roster: roster.name, inScope, planned, reasons, searches, minutes };
}
