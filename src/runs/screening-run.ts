import type { RosterSettings } from '../roster/settings.js';
import { type Account, findLastAccount } from '../store/organisations.js';
import { setRunAccount, setRunStage } from '../store/runs.js';
import { countPlan, type PlanSelection } from '../store/screening-plan.js';
import { finishScreening } from './finish-screening.js';
import { identifyAccount } from './identify-account.js';
import { importRoster } from './import-roster.js';
import { planScreenings, toPlanInput } from './plan-screenings.js';
import { writeRunReport } from './report-run.js';
import { openRosterScope } from './roster-scope.js';
import { runCanaries } from './run-canaries.js';
import { RunHalted } from './run-halted.js';
import { type RunSession, withRun } from './run-session.js';
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
  const scope = await openRosterScope(workplace, options.roster.name);
  const summary = await withRun(
    workplace,
    scope.organisation,
    { ...scope, kind: options.kind },
    signal,
    async (session) => {
      if (options.importFirst && session.run.stage === 'started') {
        await importRoster(session, options.roster, scope.rosterId);
      }
      const identified = await haltedOr(identifyAccount(session, client));
      const account =
        identified instanceof RunHalted ? await findLastAccount(workplace.database, scope.rosterId) : identified;
      await planOrResume(session, account, client.keyFingerprint, scope.rosterId, options.selection);
      const halted =
        identified instanceof RunHalted
          ? identified
          : await haltedOr(screenPlanned(session, identified, options.maxSearches));
      return finishScreening(session, account, halted ?? null);
    },
  );
  if (!options.writeReport || summary.state === 'unbalanced') return summary;
  const report = await writeRunReport(workplace, { runId: summary.runId });
  return { ...summary, artifacts: report.directory };
}

async function planOrResume(
  session: RunSession,
  account: Account | null,
  keyFingerprint: string,
  rosterId: number,
  selection: PlanSelection,
): Promise<void> {
  const { run } = session;
  const accountId = account?.accountId ?? null;
  if (run.stage === 'started' || run.stage === 'imported') {
    await planScreenings(session, { rosterId, accountId, keyFingerprint, selection });
  } else {
    await session.write((transaction) => setRunAccount(transaction, run.runId, accountId, keyFingerprint));
  }
}

async function screenPlanned(session: RunSession, account: Account, maxSearches: number | undefined): Promise<void> {
  const client = session.workplace.client();
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
  const { rosterId } = await openRosterScope(workplace, roster.name);
  const account = await findLastAccount(workplace.database, rosterId);
  const input = toPlanInput(workplace, rosterId, account?.accountId ?? null, selection);
  const { inScope, planned, reasons, searches } = await countPlan(workplace.database, input);
  const minutes = Math.ceil(searches / workplace.settings.service.rate.perSecond / 6) / 10;
  return { roster: roster.name, inScope, planned, reasons, searches, minutes };
}
