import { type DossierChange, diffDossier } from '../changes/dossier-changes.js';
import type { Client } from '../client/client.js';
import { walkDossierPages } from '../client/dossiers.js';
import {
  type DossierList,
  planWindows,
  type SweepVerdict,
  sweepDossiers,
  type WalkedPage,
  type WindowWalk,
} from '../dossiers/sweep-dossiers.js';
import {
  adoptDossierChanges,
  countDossierChanges,
  dropSweptPages,
  hasSweep,
  listDossierIds,
  markGone,
  readDossiers,
  readWindowWalks,
  type SweepRow,
  saveDossierChanges,
  saveDossiers,
  saveSweep,
  saveSweepWindows,
  saveSweptPages,
  sumSweptPages,
} from '../store/dossiers.js';
import { insertCommitBatch } from '../store/ledger.js';
import type { Account, Organisation } from '../store/organisations.js';
import { closeRun, type RunRow, readLastActivity } from '../store/runs.js';
import type { RunState } from '../vocabulary.js';
import { identifyAccount, noteAccount, toAssumedMode, toHalt } from './account.js';
import type { AppContext } from './app-context.js';
import { clearSweptMarks } from './dirty-run.js';
import { fetchDossierRecords } from './fetch-dossier-records.js';
import { RunHalted } from './halt.js';
import { followInvitations } from './invitations/follow.js';
import { queueReportOf, reportAndMail } from './mail/deliver.js';
import { queueBrokenRun } from './mail/failures.js';
import { type RunSummary, toRunSummary } from './run-summary.js';
import { retryUntilDeadline, type WaitPolicy, watchOutage } from './screening/outages.js';
import type { Comparison } from './session.js';
import { openOrganisation, type RunRequest, type RunSession, recordKeys, withLeasedRun } from './session.js';

/** How a sweep is made. */
export interface SweepOptions {
  writeReport: boolean;
}

/**
 * Sweeps the account's dossiers and stores what changed since the last sweep; the first one is the starting point and changes
 * nothing. A sweep that is not proven complete reports nothing as gone and ends `incomplete`.
 */
export async function runSweep(app: AppContext, options: SweepOptions, signal: AbortSignal): Promise<RunSummary> {
  const startedAt = app.clock.now();
  const client = app.client();
  const organisation = await openOrganisation(app);
  const findRequest = async (): Promise<RunRequest> => toRequest(app, organisation);
  const summary = await withLeasedRun(app, `sweep/${organisation.name}`, signal, findRequest, async (session) => {
    const outage = watchOutage(app, client, startedAt);
    outage.nameRun(session.runId);
    try {
      const waitPolicy = { clock: app.clock, outage, signal: session.signal };
      const { value: account } = await retryUntilDeadline(waitPolicy, (waiting) =>
        identifyAccount(app, organisation, client, waiting),
      );
      await session.write((transaction) => noteAccount(transaction, session, account.accountId));
      const keys = recordKeys(session, client);
      return await sweepAccount(session, account, waitPolicy, options).finally(() => keys.close());
    } catch (error) {
      const halt = error instanceof RunHalted ? error : toHalt(error, session.signal);
      if (!(halt instanceof RunHalted)) throw error;
      return closeSweep(session, null, { ...nothing, unprovenBecause: halt.message }, 'stopped', options);
    } finally {
      outage.close();
    }
  });
  const hasReport = summary.state !== 'stopped';
  return reportAndMail(app, summary, { hasReport, writeReport: options.writeReport }, signal);
}

const toRequest = (app: AppContext, organisation: Organisation): RunRequest => ({
  organisation,
  kind: 'sweep',
  rosterId: null,
  roster: null,
  mode: toAssumedMode(app),
  selection: null,
  findBlocker: (open) => findAge(app, open),
});

const resumableForMs = 6 * 60 * 60 * 1_000;

/** A sweep that was broken off continues after its last page while that is no older than six hours. */
async function findAge({ database, clock }: AppContext, open: RunRow): Promise<Comparison> {
  const last = await readLastActivity(database, open);
  const isOld = clock.now().getTime() - last.getTime() > resumableForMs;
  const blocker = isOld ? `its last page was saved more than six hours ago, at ${last.toISOString()}` : null;
  return { blocker, differences: [] };
}

const nothing: SweepRow = {
  pages: 0,
  dossiers: 0,
  appeared: 0,
  changed: 0,
  gone: 0,
  proven: false,
  unprovenBecause: null,
  details: null,
};

async function sweepAccount(
  session: RunSession,
  account: Account,
  waitPolicy: WaitPolicy,
  options: SweepOptions,
): Promise<RunSummary> {
  const { app, run, runId } = session;
  const { database, settings } = app;
  app.emit({ kind: 'stage_started', runId, stage: 'sweep' });
  const isStart = !(await hasSweep(database, account.accountId));
  // Pages that were read with the key of another account say nothing about this one.
  const isOther = run.accountId !== null && run.accountId !== account.accountId;
  if (isOther) await session.write((transaction) => dropSweptPages(transaction, run.runId));
  const list = toRetryingList(app.client(), waitPolicy);
  const walks = await openWalks(session, list);
  const walk = sweepDossiers(list, settings.sweep, walks);
  let done = walks.reduce((sum, { walked }) => sum + walked.length, 0);
  let next = await walk.next();
  for (; !next.done; next = await walk.next()) {
    await savePages(session, account, next.value, isStart);
    done += countDossiers(next.value);
    app.emit({ kind: 'progress', runId, stage: 'sweep', done, total: null });
  }
  return finishSweep(session, account, next.value, isStart, options);
}

const countDossiers = (pages: readonly WalkedPage[]): number =>
  pages.reduce((sum, { dossiers }) => sum + dossiers.length, 0);

/** The windows of the sweep as far as they were walked before it was broken off, or new ones. */
async function openWalks(session: RunSession, list: DossierList): Promise<readonly WindowWalk[]> {
  const { app, run, runId } = session;
  const { database, settings, emit } = app;
  const open = await readWindowWalks(database, run.runId);
  if (open.length > 0) return open;
  const { windows, oneWalkBecause } = await planWindows(list, settings.sweep);
  if (oneWalkBecause !== null) {
    const message = `the dossiers are read in one walk, not in ${settings.sweep.windows} windows: ${oneWalkBecause}; set sweep.windows to 1 unless that changes`;
    emit({ kind: 'warning', runId, code: 'sweep_one_walk', message });
  }
  await session.write((transaction) => saveSweepWindows(transaction, run.runId, windows));
  return windows.map((window) => ({ ...window, walked: [], hasEnded: false }));
}

/** The dossier list, each page repeated while the service is out of reach and the run's deadline allows. */
function toRetryingList(client: Client, waitPolicy: WaitPolicy): DossierList {
  const page: DossierList['page'] = async (query) => {
    const call = (signal: AbortSignal): ReturnType<DossierList['page']> =>
      client.dossiers.page(query, { signal }).catch((error: unknown) => {
        throw toHalt(error, signal);
      });
    return (await retryUntilDeadline(waitPolicy, call)).value;
  };
  return { page, pages: (query = {}) => walkDossierPages(page, query) };
}

/** Saves the pages with what they change and how far each window has come. */
async function savePages(
  session: RunSession,
  account: Account,
  pages: readonly WalkedPage[],
  isStart: boolean,
): Promise<void> {
  const { app, lease } = session;
  const { runId } = session.run;
  const now = app.clock.now();
  await session.write(async (transaction) => {
    // The batch shows that the run goes on.
    await insertCommitBatch(transaction, runId, lease.epoch, countDossiers(pages), now);
    const ids = pages.flatMap(({ dossiers }) => dossiers.map(({ id }) => id));
    const known = await readDossiers(transaction, account.accountId, ids);
    const compared = pages.map((page) => {
      const changes = page.dossiers.flatMap((dossier) => diffDossier(known.get(dossier.id) ?? null, dossier) ?? []);
      const appeared = changes.filter(isAppearance).length;
      return { ...page, changes, appeared, changed: changes.length - appeared };
    });
    await saveSweptPages(transaction, runId, compared);
    const changes = compared.flatMap((page) => page.changes);
    const toSave = changes.flatMap(({ after }) => after ?? []);
    await saveDossiers(transaction, account.accountId, runId, toSave);
    // A starting point that was broken off knows some already: what moved since is history.
    const toReport = isStart ? changes.filter((change) => !isAppearance(change)) : changes;
    await saveDossierChanges(transaction, runId, toReport, now);
  });
}

const isAppearance = ({ kind }: DossierChange): boolean => kind === 'dossier_appeared';

async function finishSweep(
  session: RunSession,
  account: Account,
  verdict: SweepVerdict,
  isStart: boolean,
  options: SweepOptions,
): Promise<RunSummary> {
  const { app, run } = session;
  const { pages, dossiers, proven, because } = verdict;
  if (proven) await saveGone(session, account, verdict);
  await session.write((transaction) => adoptDossierChanges(transaction, account.accountId, run.runId));
  const counts = isStart
    ? await sumSweptPages(app.database, run.runId)
    : await countDossierChanges(app.database, run.runId);
  const details = await fetchDossierRecords(session, app.client(), account.accountId);
  await followInvitations(session, app.client(), account.accountId);
  const sweep = { pages, dossiers, ...counts, proven, unprovenBecause: because, details };
  return closeSweep(session, account, sweep, proven ? 'complete' : 'incomplete', options);
}

const idsPerPage = 5_000;

/** Marks what is known and no longer listed as gone, by pages, so that no transaction grows with the number of dossiers. */
async function saveGone(session: RunSession, { accountId }: Account, { isListed }: SweepVerdict): Promise<void> {
  const { app, run } = session;
  for (let after = ''; ; ) {
    const ids = await listDossierIds(app.database, accountId, { after, limit: idsPerPage });
    const missing = ids.filter((id) => !isListed(id));
    if (missing.length > 0) {
      await session.write(async (transaction) => {
        const now = app.clock.now();
        const lost = await markGone(transaction, accountId, missing, now);
        const changes = lost.map(
          (before): DossierChange => ({ kind: 'dossier_gone', before, after: null, fields: [] }),
        );
        await saveDossierChanges(transaction, run.runId, changes, now);
      });
    }
    const last = ids.at(-1);
    if (last === undefined || ids.length < idsPerPage) return;
    after = last;
  }
}

async function closeSweep(
  session: RunSession,
  account: Account | null,
  sweep: SweepRow,
  state: RunState,
  { writeReport }: SweepOptions,
): Promise<RunSummary> {
  const { app, run, runId } = session;
  const reasons = sweep.unprovenBecause === null ? [] : [sweep.unprovenBecause];
  await session.write(async (transaction) => {
    if (state !== 'stopped') {
      await saveSweep(transaction, run.runId, sweep);
      await dropSweptPages(transaction, run.runId);
    }
    if (account !== null && state === 'complete') {
      await clearSweptMarks(transaction, app, session.organisation, { ...account, before: run.startedAt });
    }
    const finishedAt = app.clock.now();
    await closeRun(transaction, run.runId, { state, stateReasons: reasons, stage: 'finished', finishedAt, sums: null });
    if (state === 'stopped') await queueBrokenRun(session, transaction, { outcome: 'stopped', reasons });
    else if (writeReport) await queueReportOf(app, transaction, run);
  });
  const { unprovenBecause: _, details: __, ...counts } = sweep;
  const { pages, dossiers, appeared, changed, gone } = counts;
  app.emit({
    kind: 'stage_finished',
    runId,
    stage: 'sweep',
    counts: { pages, dossiers, appeared, changed, gone },
  });
  app.emit({ kind: 'run_finished', runId, runKind: 'sweep', state, reasons });
  return toRunSummary({ runId, roster: null, kind: 'sweep', state, reasons, counts });
}
