import { type DossierChange, diffDossier } from '../changes/dossier-changes.js';
import type { Client } from '../client/client.js';
import { walkDossierPages } from '../client/dossiers.js';
import { type DossierList, planWindows } from '../dossiers/creation-windows.js';
import { type SweepVerdict, sweepDossiers, type WalkedPage, type WindowWalk } from '../dossiers/sweep-dossiers.js';
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
import { clearSweptMarks } from './dirty-run.js';
import { fetchDossierRecords } from './fetch-dossier-records.js';
import { RunHalted } from './halt.js';
import { followInvitations } from './invitations/follow.js';
import { queueBrokenRun, reportAndMail } from './mail/deliver.js';
import { queueReportOf } from './mail/queue.js';
import { type RunSummary, toRunSummary } from './run-summary.js';
import { outlastOutage, type Patience, watchOutage } from './screening/outages.js';
import type { Comparison } from './session.js';
import { openOrganisation, type RunRequest, type RunSession, recordKeys, withLeasedRun } from './session.js';
import type { Workplace } from './workplace.js';

/** How a sweep is made. */
export interface SweepOptions {
  writeReport: boolean;
}

/**
 * Sweeps the account's dossiers and stores what changed since the last sweep; the first one is the starting point and changes
 * nothing. A sweep that is not proven complete reports nothing as gone and ends `incomplete`.
 */
export async function runSweep(workplace: Workplace, options: SweepOptions, signal: AbortSignal): Promise<RunSummary> {
  const startedAt = workplace.clock.now();
  const client = workplace.client();
  const organisation = await openOrganisation(workplace);
  const findRequest = async (): Promise<RunRequest> => toRequest(workplace, organisation);
  const summary = await withLeasedRun(workplace, `sweep/${organisation.name}`, signal, findRequest, async (session) => {
    const outage = watchOutage(workplace, client, startedAt);
    outage.nameRun(session.runId);
    try {
      const patience = { clock: workplace.clock, outage, signal: session.signal };
      const { value: account } = await outlastOutage(patience, (waiting) =>
        identifyAccount(workplace, organisation, client, waiting),
      );
      await session.write((transaction) => noteAccount(transaction, session, account.accountId));
      const keys = recordKeys(session, client);
      return await sweepAccount(session, account, patience, options).finally(() => keys.close());
    } catch (error) {
      const halt = error instanceof RunHalted ? error : toHalt(error, session.signal);
      if (!(halt instanceof RunHalted)) throw error;
      return closeSweep(session, null, { ...nothing, unprovenBecause: halt.message }, 'stopped', options);
    } finally {
      outage.close();
    }
  });
  const hasReport = summary.state !== 'stopped';
  return reportAndMail(workplace, summary, { hasReport, writeReport: options.writeReport }, signal);
}

const toRequest = (workplace: Workplace, organisation: Organisation): RunRequest => ({
  organisation,
  kind: 'sweep',
  rosterId: null,
  roster: null,
  mode: toAssumedMode(workplace),
  selection: null,
  findObstacle: (open) => findAge(workplace, open),
});

const resumableForMs = 6 * 60 * 60 * 1_000;

/** A sweep that was broken off continues after its last page while that is no older than six hours. */
async function findAge({ database, clock }: Workplace, open: RunRow): Promise<Comparison> {
  const last = await readLastActivity(database, open);
  const isOld = clock.now().getTime() - last.getTime() > resumableForMs;
  const obstacle = isOld ? `its last page was saved more than six hours ago, at ${last.toISOString()}` : null;
  return { obstacle, differences: [] };
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
  patience: Patience,
  options: SweepOptions,
): Promise<RunSummary> {
  const { workplace, run, runId } = session;
  const { database, settings } = workplace;
  workplace.tell({ kind: 'stage_started', runId, stage: 'sweep' });
  const isStart = !(await hasSweep(database, account.accountId));
  // Pages that were read with the key of another account say nothing about this one.
  const isOther = run.accountId !== null && run.accountId !== account.accountId;
  if (isOther) await session.write((transaction) => dropSweptPages(transaction, run.runId));
  const list = toPatientList(workplace.client(), patience);
  const walks = await openWalks(session, list);
  const walk = sweepDossiers(list, settings.sweep, walks);
  let done = walks.reduce((sum, { walked }) => sum + walked.length, 0);
  let next = await walk.next();
  for (; !next.done; next = await walk.next()) {
    await savePages(session, account, next.value, isStart);
    done += countDossiers(next.value);
    workplace.tell({ kind: 'progress', runId, stage: 'sweep', done, total: null });
  }
  return finishSweep(session, account, next.value, isStart, options);
}

const countDossiers = (pages: readonly WalkedPage[]): number =>
  pages.reduce((sum, { dossiers }) => sum + dossiers.length, 0);

/** The windows of the sweep as far as they were walked before it was broken off, or new ones. */
async function openWalks(session: RunSession, list: DossierList): Promise<readonly WindowWalk[]> {
  const { workplace, run, runId } = session;
  const { database, settings, tell } = workplace;
  const open = await readWindowWalks(database, run.runId);
  if (open.length > 0) return open;
  const { windows, oneWalkBecause } = await planWindows(list, settings.sweep);
  if (oneWalkBecause !== null) {
    const message = `the dossiers are read in one walk, not in ${settings.sweep.windows} windows: ${oneWalkBecause}; set sweep.windows to 1 unless that changes`;
    tell({ kind: 'warning', runId, code: 'sweep_one_walk', message });
  }
  await session.write((transaction) => saveSweepWindows(transaction, run.runId, windows));
  return windows.map((window) => ({ ...window, walked: [], hasEnded: false }));
}

/** The dossier list, each page repeated while the service is out of reach and the run's deadline allows. */
function toPatientList(client: Client, patience: Patience): DossierList {
  const page: DossierList['page'] = async (query) => {
    const call = (signal: AbortSignal): ReturnType<DossierList['page']> =>
      client.dossiers.page(query, { signal }).catch((error: unknown) => {
        throw toHalt(error, signal);
      });
    return (await outlastOutage(patience, call)).value;
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
  const { workplace, lease } = session;
  const { runId } = session.run;
  const now = workplace.clock.now();
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
    const toTell = isStart ? changes.filter((change) => !isAppearance(change)) : changes;
    await saveDossierChanges(transaction, runId, toTell, now);
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
  const { workplace, run } = session;
  const { pages, dossiers, proven, because } = verdict;
  if (proven) await saveGone(session, account, verdict);
  await session.write((transaction) => adoptDossierChanges(transaction, account.accountId, run.runId));
  const counts = isStart
    ? await sumSweptPages(workplace.database, run.runId)
    : await countDossierChanges(workplace.database, run.runId);
  const details = await fetchDossierRecords(session, workplace.client(), account.accountId);
  await followInvitations(session, workplace.client(), account.accountId);
  const sweep = { pages, dossiers, ...counts, proven, unprovenBecause: because, details };
  return closeSweep(session, account, sweep, proven ? 'complete' : 'incomplete', options);
}

const idsPerPage = 5_000;

/** Marks what is known and no longer listed as gone, by pages, so that no transaction grows with the number of dossiers. */
async function saveGone(session: RunSession, { accountId }: Account, { isListed }: SweepVerdict): Promise<void> {
  const { workplace, run } = session;
  for (let after = ''; ; ) {
    const ids = await listDossierIds(workplace.database, accountId, { after, limit: idsPerPage });
    const missing = ids.filter((id) => !isListed(id));
    if (missing.length > 0) {
      await session.write(async (transaction) => {
        const now = workplace.clock.now();
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
  const { workplace, run, runId } = session;
  const reasons = sweep.unprovenBecause === null ? [] : [sweep.unprovenBecause];
  await session.write(async (transaction) => {
    if (state !== 'stopped') {
      await saveSweep(transaction, run.runId, sweep);
      await dropSweptPages(transaction, run.runId);
    }
    if (account !== null && state === 'complete') {
      await clearSweptMarks(transaction, workplace, session.organisation, { ...account, before: run.startedAt });
    }
    const finishedAt = workplace.clock.now();
    await closeRun(transaction, run.runId, { state, stateReasons: reasons, stage: 'finished', finishedAt, sums: null });
    if (state === 'stopped') await queueBrokenRun(session, transaction, { outcome: 'stopped', reasons });
    else if (writeReport) await queueReportOf(workplace, transaction, run);
  });
  const { unprovenBecause: _, details: __, ...counts } = sweep;
  const { pages, dossiers, appeared, changed, gone } = counts;
  workplace.tell({
    kind: 'stage_finished',
    runId,
    stage: 'sweep',
    counts: { pages, dossiers, appeared, changed, gone },
  });
  workplace.tell({ kind: 'run_finished', runId, runKind: 'sweep', state, reasons });
  return toRunSummary({ runId, roster: null, kind: 'sweep', state, reasons, counts });
}
