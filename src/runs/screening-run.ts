import type { Client } from '../client/client.js';
import { followSignals } from '../client/signals.js';
import { RunLockedError } from '../errors.js';
import type { PublishedList } from '../lists/listed-party.js';
import type { RosterSettings } from '../roster/settings.js';
import { type Account, findLastAccount } from '../store/organisations.js';
import { hasBegun } from '../store/plan.js';
import { readListCap } from '../store/responses.js';
import { isTooLargeToAddUp, setRunStage, toRunId } from '../store/runs.js';
import type { PlanSelection, RunMode, ScreeningKind } from '../vocabulary.js';
import { findSaidMode, identifyAccount, noteAccount, requireBudget, toAssumedMode } from './account.js';
import { findOtherList, forceListed } from './checks/because-of.js';
import { closeDeadChecks } from './checks/check.js';
import { findObstacle } from './find-obstacle.js';
import { OtherAccount, RunHalted } from './halt.js';
import { importRoster } from './import/import-run.js';
import { mailRunReport, mailWithoutReport } from './mail/deliver.js';
import { findGivenFile, openImportedRoster, openRosterScope, type RosterScope } from './roster-scope.js';
import type { RunSummary } from './run-summary.js';
import { openCanaries } from './screening/canaries.js';
import { finishScreening } from './screening/close.js';
import { reuseAnswers } from './screening/commit.js';
import { fetchDetails } from './screening/details.js';
import { watchCriticalChanges } from './screening/early-warnings.js';
import { type OutageWatch, outlastOutage, type Patience, watchOutage } from './screening/outages.js';
import { forceMarked, planScreenings, withinBudget } from './screening/plan.js';
import { screenTasks } from './screening/screen-tasks.js';
import { type RunRequest, type RunSession, recordKeys, withRepeatedLease, withRun } from './session.js';
import { requireAcceptedSettings } from './settings-acceptance.js';
import type { Acceptance } from './settings-diff.js';
import { readWebhookKeys, tellStates } from './status.js';
import type { Workplace } from './workplace.js';
import { writeRunReport } from './write-reports.js';

/** What kind of screening run, of which customers. */
export interface ScreeningOptions {
  kind: ScreeningKind;
  roster: RosterSettings;
  selection: PlanSelection;
  importFirst: boolean;
  writeReport: boolean;
  maxSearches?: number | undefined;
  /** A published list: whomever it may mean is asked about now. */
  becauseOf?: PublishedList | undefined;
  /** Goes on with the run of this number or with none. */
  resumeOnly?: number | undefined;
  /** Takes the roster although guards would hold it. */
  acceptRoster?: Acceptance | undefined;
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
  const startedAt = workplace.clock.now();
  const client = workplace.client();
  if (client.keyMode === 'live') requireBudget(workplace, 'live');
  // A secret that is missing is found before anything is spent.
  readWebhookKeys(workplace);
  const open = options.importFirst ? openRosterScope : openImportedRoster;
  const scope = await open(workplace, options.roster.name);
  const settingsRecordId = await requireAcceptedSettings(workplace, scope);
  await closeDeadChecks(workplace);
  const summary = await withRepeatedLease(workplace, scope.leaseKey, signal, async (held) => {
    const outage = watchOutage(workplace, client, startedAt);
    try {
      const screenAs = (standing: KeyStanding): Promise<RunSummary> =>
        withRun(
          workplace,
          held,
          { ...toRequest(workplace, options, scope, standing), settingsRecordId },
          async (session) => {
            outage.nameRun(session.runId);
            if (options.importFirst && session.run.stage === 'started') {
              // What is onboarded is the file itself; a night is not lost because of a file that guards hold.
              const keepsFormer = options.kind !== 'onboard';
              await importRoster(session, options.roster, scope.rosterId, {
                acceptRoster: options.acceptRoster,
                keepsFormer,
              });
            }
            const part = { standing, rosterId: scope.rosterId, outage, ...options };
            const halted = await haltedOr(planAndScreen(session, client, part));
            if (halted?.code === 'signal' && (await isTooLargeToAddUp(workplace.database, session.run.runId)))
              throw halted;
            return finishScreening(session, halted, { isReported: options.writeReport });
          },
        );
      const standing = await askWhoseKey(workplace, scope, client, { outage, signal: held.signal });
      return await screenAs(standing).catch((error: unknown) => {
        if (!(error instanceof OtherAccount)) throw error;
        // Now that it is known whose key this is, the open run is not gone on with.
        return screenAs(toStanding(error.account));
      });
    } finally {
      outage.close();
    }
  });
  await tellWebhooks(workplace, summary.runId, signal);
  if (summary.state === 'unbalanced') await mailWithoutReport(workplace, summary.runId, signal);
  if (!options.writeReport || summary.state === 'unbalanced') return summary;
  const report = await writeRunReport(workplace, summary.runId);
  const mail = await mailRunReport(workplace, report, signal);
  return { ...summary, artifacts: report.directory, ...(mail && { mail }) };
}

/** The run has ended: whatever goes wrong with telling others is a warning, and its report is written all the same. */
async function tellWebhooks(workplace: Workplace, runId: string, signal: AbortSignal): Promise<void> {
  try {
    await tellStates(workplace, signal);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `changes of state are not told yet (${reason}); nightscreen status send tries again`;
    workplace.tell({ kind: 'warning', runId, code: 'webhook_waits', message });
  }
}

/** Whose key this is, as far as the service could be asked. */
interface KeyStanding {
  /** As the service says, else as the settings or the key say; null where nothing says it. */
  mode: RunMode | null;
  /** The account, or why it is not known. */
  account: Account | RunHalted;
  /** Whose screenings count in the plan: the account's, or while it is not known those of the one last used in this mode. */
  plannedFor: Account | null;
}

async function askWhoseKey(
  workplace: Workplace,
  scope: RosterScope,
  client: Client,
  { outage, signal }: Pick<Patience, 'outage' | 'signal'>,
): Promise<KeyStanding> {
  const either = followSignals(signal, [outage.signal]);
  const asking = identifyAccount(workplace, scope.organisation, client, either.signal);
  const account = await haltedOr(asking).finally(either.clear);
  if (!(account instanceof RunHalted)) {
    requireBudget(workplace, account.isTest ? 'test' : 'live');
    return toStanding(account);
  }
  const mode = findSaidMode(workplace);
  return { mode, account, plannedFor: await findLastAccount(workplace.database, scope.rosterId, mode ?? undefined) };
}

const toStanding = (account: Account): KeyStanding => ({
  mode: account.isTest ? 'test' : 'live',
  account,
  plannedFor: account,
});

/** A roster that is configured is looked at again when its run is resumed; one whose file is not known any more cannot be. */
const isResumedFrom = ({ resumeOnly, roster }: ScreeningOptions): boolean =>
  resumeOnly !== undefined && roster.csv?.path !== '';

function toRequest(
  workplace: Workplace,
  options: ScreeningOptions,
  scope: RosterScope,
  standing: KeyStanding,
): RunRequest {
  const { kind, selection, resumeOnly } = options;
  const intention = {
    kind,
    selection,
    mode: standing.mode,
    account: standing.account instanceof RunHalted ? null : standing.account,
    keyFingerprint: workplace.client().keyFingerprint,
    roster: options.importFirst || isResumedFrom(options) ? options.roster : null,
    isNamed: resumeOnly !== undefined,
    acceptRoster: options.acceptRoster,
  };
  const { organisation, rosterId, roster } = scope;
  const findOurs = async (open: RunSession['run']) => {
    if (selection === 'dirty' && open.selection !== 'dirty') {
      throw new RunLockedError(
        `${toRunId(open)} was broken off and goes first: nightscreen runs resume ${toRunId(open)}`,
        open.owner,
      );
    }
    const otherList = await findOtherList(workplace, open, options.becauseOf);
    return otherList === null ? findObstacle(workplace, open, intention) : { obstacle: otherList, differences: [] };
  };
  // Whoever resumes a run by its number has given no file: the run's own holds.
  const rosterFile =
    resumeOnly === undefined && options.importFirst
      ? findGivenFile(workplace.settings.rosters, options.roster)
      : undefined;
  const mode = standing.mode ?? toAssumedMode(workplace);
  return { organisation, rosterId, roster, kind, selection, mode, rosterFile, resumeOnly, findObstacle: findOurs };
}

/** What planning and searching need beside the session. */
interface Part {
  standing: KeyStanding;
  rosterId: number;
  outage: OutageWatch;
  selection: PlanSelection;
  becauseOf?: PublishedList | undefined;
  maxSearches?: number | undefined;
}

/** Gives null when the plan has been worked through; throws RunHalted when the run has to stop early. */
async function planAndScreen(session: RunSession, client: Client, part: Part): Promise<null> {
  const { run, workplace } = session;
  const isBegun = await hasBegun(workplace.database, run.runId);
  // What has been done was done under the run's own account, and nobody says yet that the key is of another.
  const accountId = isBegun ? run.accountId : (part.standing.plannedFor?.accountId ?? null);
  await planOrResume(session, accountId, part);
  await screenPlanned(session, client, { ...part, isBegun, accountId });
  return null;
}

async function planOrResume(
  session: RunSession,
  accountId: number | null,
  { rosterId, selection, becauseOf }: Part,
): Promise<void> {
  const { run } = session;
  await session.write((transaction) => noteAccount(transaction, session, accountId));
  // A plan made for another account, or for none, says nothing about who is due under this one.
  const isPlanned = (run.stage === 'planned' || run.stage === 'screened') && run.accountId === accountId;
  if (isPlanned) return;
  if (selection === 'dirty') await forceMarked(session, { rosterId, accountId });
  else await forceListed(session, becauseOf, { rosterId, accountId });
  await planScreenings(session, { rosterId, accountId, selection });
}

/** What the paid part needs beside: for which account its plan was made, and whether any of it has been done. */
interface PaidPart extends Part {
  accountId: number | null;
  isBegun: boolean;
}

/** The paid part: control searches, then the plan's; an outage is waited out. */
async function screenPlanned(session: RunSession, client: Client, part: PaidPart): Promise<void> {
  const { workplace, run, signal } = session;
  const { outage, maxSearches } = part;
  const patience = { clock: workplace.clock, outage, signal };
  const keys = recordKeys(session, client);
  const critical = watchCriticalChanges(session);
  try {
    const account = await settleAccount(session, client, part, patience);
    const listCap = await readListCap(workplace.database, account.accountId);
    const watched = { ...account, listCap };
    await reuseAnswers(session, watched);
    await withinBudget(session, account.accountId, maxSearches, async (allowance) => {
      const { session } = allowance;
      if (!(await openCanaries(session, client, { ...patience, signal: session.signal }))) return;
      await screenTasks({ client, account: watched, outage, ...allowance });
      await session.write((transaction) => setRunStage(transaction, run.runId, 'screened'));
    });
    // From here on nobody waits for the service.
    outage.close();
    await fetchDetails(session, client, account.accountId);
  } finally {
    await critical.close();
    await keys.close();
  }
}

/**
 * The account, waited for when the service was out of reach; a plan made for another one is made anew. Throws OtherAccount when something
 * has been done by then.
 */
async function settleAccount(
  session: RunSession,
  client: Client,
  part: PaidPart,
  patience: Patience,
): Promise<Account> {
  const { account } = part.standing;
  if (!(account instanceof RunHalted)) return account;
  if (account.code !== 'outage') throw account;
  const { value: settled } = await outlastOutage(patience, (signal) =>
    identifyAccount(session.workplace, session.organisation, client, signal),
  );
  requireBudget(session.workplace, settled.isTest ? 'test' : 'live');
  if (settled.accountId === part.accountId) return settled;
  if (part.isBegun) throw new OtherAccount(settled);
  await planOrResume(session, settled.accountId, part);
  return settled;
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
