import { diffDossier } from '../changes/diff-dossiers.js';
import type { DossierChange } from '../changes/dossier-change.js';
import type { Client } from '../client/create-client.js';
import type { Dossiers } from '../client/resources/dossiers.js';
import { walkDossierPages } from '../client/resources/walk-dossier-pages.js';
import type { DossierSnapshot } from '../dossiers/dossier.js';
import { type SweepVerdict, sweepDossiers } from '../dossiers/sweep-dossiers.js';
import type { RunState } from '../reports/run-facts.js';
import { insertCommitBatch } from '../store/commit-batches.js';
import {
  adoptDossierChanges,
  countDossierChanges,
  hasSweep,
  markGone,
  readDossiers,
  type SweepRow,
  saveDossierChanges,
  saveDossiers,
  saveSweep,
} from '../store/dossiers.js';
import type { Account, Organisation } from '../store/organisations.js';
import { closeRun } from '../store/runs.js';
import { queueBrokenRun } from './mailing/queue-failure.js';
import { queueReportOf } from './mailing/queue-report.js';
import { mailRunReport, mailWithoutReport } from './mailing/send-reports.js';
import { watchOutage } from './outages/outage-watch.js';
import { outlastOutage, type Patience } from './outages/outlast-outage.js';
import { writeRunReport } from './reports/report-run.js';
import { identifyAccount, noteAccount, toAssumedMode, toHalt } from './session/identify-account.js';
import { recordKeys } from './session/record-keys.js';
import { RunHalted } from './session/run-halted.js';
import { openOrganisation, type RunRequest, type RunSession, withLease, withRun } from './session/run-session.js';
import { type RunSummary, toRunSummary } from './session/run-summary.js';
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
  const summary = await withLease(workplace, `sweep/${organisation.name}`, signal, (held) =>
    withRun(workplace, held, toRequest(workplace, organisation), async (session) => {
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
        return closeSweep(session, { ...nothing, unprovenBecause: halt.message }, 'stopped', options);
      } finally {
        outage.close();
      }
    }),
  );
  if (summary.state === 'stopped') await mailWithoutReport(workplace, summary.runId, signal);
  if (!options.writeReport || summary.state === 'stopped') return summary;
  const report = await writeRunReport(workplace, summary.runId);
  const mail = await mailRunReport(workplace, report, signal);
  return { ...summary, artifacts: report.directory, ...(mail && { mail }) };
}

const toRequest = (workplace: Workplace, organisation: Organisation): RunRequest => ({
  organisation,
  kind: 'sweep',
  rosterId: null,
  roster: null,
  mode: toAssumedMode(workplace),
  selection: null,
});

const nothing: SweepRow = {
  pages: 0,
  dossiers: 0,
  appeared: 0,
  changed: 0,
  gone: 0,
  proven: false,
  unprovenBecause: null,
};

async function sweepAccount(
  session: RunSession,
  account: Account,
  patience: Patience,
  options: SweepOptions,
): Promise<RunSummary> {
  const { workplace, runId } = session;
  workplace.tell({ kind: 'stage_started', runId, stage: 'sweep' });
  const isStart = !(await hasSweep(workplace.database, account.accountId));
  const tally = { appeared: 0, changed: 0 };
  const walk = sweepDossiers(toPatientPages(workplace.client(), patience), workplace.settings.sweep);
  let next = await walk.next();
  for (let seen = 0; !next.done; next = await walk.next()) {
    await savePage(session, account, next.value, tally, isStart);
    seen += next.value.length;
    workplace.tell({ kind: 'progress', runId, stage: 'sweep', done: seen, total: null });
  }
  return finishSweep(session, account, next.value, isStart ? tally : null, options);
}

/** The pages of the dossier list, each asked for again while the service is out of reach and the run's deadline allows. */
function toPatientPages(client: Client, patience: Patience): Pick<Dossiers, 'pages'> {
  return {
    pages: (query = {}) =>
      walkDossierPages(async (next) => {
        const page = (signal: AbortSignal): ReturnType<Dossiers['page']> =>
          client.dossiers.page(next, { signal }).catch((error: unknown) => {
            throw toHalt(error, signal);
          });
        return (await outlastOutage(patience, page)).value;
      }, query),
  };
}

async function savePage(
  session: RunSession,
  account: Account,
  page: readonly DossierSnapshot[],
  tally: { appeared: number; changed: number },
  isStart: boolean,
): Promise<void> {
  const { workplace, lease } = session;
  const { runId } = session.run;
  await session.write(async (transaction) => {
    // That it goes on is seen by what it saves.
    await insertCommitBatch(transaction, runId, lease.epoch, page.length, workplace.clock.now());
    const known = await readDossiers(
      transaction,
      account.accountId,
      page.map((dossier) => dossier.id),
    );
    const changes = page.flatMap((dossier) => diffDossier(known.get(dossier.id) ?? null, dossier) ?? []);
    await saveDossiers(transaction, account.accountId, runId, page);
    if (!isStart) await saveDossierChanges(transaction, runId, changes);
    const appeared = changes.filter((change) => change.kind === 'dossier_appeared').length;
    tally.appeared += appeared;
    tally.changed += changes.length - appeared;
  });
}

async function finishSweep(
  session: RunSession,
  account: Account,
  verdict: SweepVerdict,
  start: { appeared: number; changed: number } | null,
  options: SweepOptions,
): Promise<RunSummary> {
  const { workplace, run } = session;
  const gone = await session.write(async (transaction) => {
    await adoptDossierChanges(transaction, account.accountId, run.runId);
    if (!verdict.proven) return 0;
    const lost = await markGone(transaction, account.accountId, run.runId, workplace.clock.now());
    const changes = lost.map((before): DossierChange => ({ kind: 'dossier_gone', before, after: null, fields: [] }));
    await saveDossierChanges(transaction, run.runId, changes);
    return lost.length;
  });
  const { pages, dossiers, proven, because } = verdict;
  const counts = start ?? (await countDossierChanges(workplace.database, run.runId));
  const sweep = { pages, dossiers, ...counts, gone, proven, unprovenBecause: because };
  return closeSweep(session, sweep, proven ? 'complete' : 'incomplete', options);
}

async function closeSweep(
  session: RunSession,
  sweep: SweepRow,
  state: RunState,
  { writeReport }: SweepOptions,
): Promise<RunSummary> {
  const { workplace, run, runId } = session;
  const reasons = sweep.unprovenBecause === null ? [] : [sweep.unprovenBecause];
  await session.write(async (transaction) => {
    if (state !== 'stopped') await saveSweep(transaction, run.runId, sweep);
    const finishedAt = workplace.clock.now();
    await closeRun(transaction, run.runId, { state, stateReasons: reasons, stage: 'finished', finishedAt, sums: null });
    if (state === 'stopped') await queueBrokenRun(session, transaction, { outcome: 'stopped', reasons });
    else if (writeReport) await queueReportOf(workplace, transaction, run);
  });
  const { unprovenBecause: _, ...counts } = sweep;
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
