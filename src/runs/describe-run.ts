import { join } from 'node:path';
import { type Queryable, readAtOnce } from '../store/database/database.js';
import { readHeldLeases } from '../store/database/leases.js';
import { readSweep } from '../store/dossiers/dossiers.js';
import { countUnproven } from '../store/night/apply-answers.js';
import { readRunWorkers } from '../store/night/chunks.js';
import { readControlFacts } from '../store/night/controls.js';
import { readRunHolds } from '../store/night/held-runs.js';
import { readRunCalls } from '../store/night/run-health.js';
import {
  computeRunSums,
  countPlanReasons,
  listRunCustomers,
  type RunSums,
  readRunBalance,
} from '../store/night/run-sums.js';
import { readEarlyWarnings } from '../store/operations/early-warnings.js';
import { readAccountName, readRosterNames } from '../store/organisations.js';
import { readRevisions } from '../store/reports/revisions.js';
import { countRejects, readRejects, readSnapshot } from '../store/roster/imports.js';
import { type RunRow, readRunHolders, toRunId } from '../store/runs.js';
import { isScreeningKind, type ListableOutcome } from '../vocabulary.js';
import type { AppContext, RunSettings } from './app-context.js';
import { describeAssurance } from './checks/assurance.js';
import { describeBecauseOf } from './checks/because-of.js';
import { describeCheck } from './checks/check.js';
import { findRun, findRunLease } from './run-reference.js';
import { compareBalance } from './screening/verdict.js';

const mostForced = 20;
interface ListChoice {
  list?: ListableOutcome | 'rejected' | undefined;
  limit: number;
  after: string | null;
}

const usualList: ListChoice = { limit: 20, after: null };

/**
 * Describes a run with a page of its customers or rejected rows, read in one snapshot so that the figures agree. Throws ConfigError when
 * there is none of that name.
 */
export function describeRun({ database, clock, settings }: AppContext, text: string, list: ListChoice = usualList) {
  return readAtOnce(database, async (snapshot) => {
    const run = await findRun(snapshot, settings.organisation, text);
    const described = await describeBy(snapshot, run, { now: clock.now(), settings });
    return { ...described, listed: await listOfRun(snapshot, run, list) };
  });
}

/** Null without sums, and for a run whose plan and calls are in its packs only. */
const readBalance = async (database: Queryable, run: RunRow, sums: RunRow['sums']) =>
  sums === null || run.historyRemovedAt !== null
    ? null
    : compareBalance(sums.counts, await readRunBalance(database, run.runId));

async function describeBy(
  database: Queryable,
  run: RunRow,
  { now, settings }: { now: Date; settings: Pick<RunSettings, 'organisation' | 'reports'> },
) {
  const runId = toRunId(run);
  const sums = await readSums(database, run);
  const revisions = await readRevisions(database, run);
  const isWritten = revisions.some(({ manifestSha256 }) => manifestSha256 !== null);
  const until = run.finishedAt ?? now;
  const { holds, acceptances } = await readRunHolds(database, run.runId);
  return {
    runId,
    kind: run.kind,
    roster: await findRosterName(database, settings.organisation, run),
    state: run.state,
    reasons: run.stateReasons,
    haltedBy: run.haltedBy,
    stage: run.stage,
    selection: run.selection,
    mode: run.mode,
    account: run.accountId === null ? null : await readAccountName(database, run.accountId),
    keys: run.keys,
    version: run.version,
    settingsDigest: run.settingsDigest,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    /** From its start to its end or until now, breaks included. */
    seconds: Math.round((until.getTime() - run.startedAt.getTime()) / 100) / 10,
    resumed: run.resumed,
    holders: await readRunHolders(database, run.runId),
    workers: await readRunWorkers(database, run.runId),
    heldBy: await findHolder(database, settings.organisation, run),
    holds,
    acceptances,
    /** Customers with an answer that no control search has proven yet; null once it has ended. */
    unproven:
      run.state === 'running' || run.state === 'stopped' ? (await countUnproven(database, run.runId)).customers : null,
    sums,
    planned: await countPlanReasons(database, run.runId),
    balance: await readBalance(database, run, sums),
    calls: await readRunCalls(database, run.runId),
    controls: await readControlFacts(database, run.runId),
    openAlerts: run.openAlerts,
    settled: run.settledAlerts,
    details: run.details,
    watch: run.watch,
    earlyWarnings: await readEarlyWarnings(database, run.runId),
    snapshot: await readSnapshot(database, run.runId),
    settings: run.settings,
    sweep: run.kind === 'sweep' ? await readSweep(database, run.runId) : null,
    check: run.kind === 'check' ? await describeCheck(database, run) : null,
    assurance: run.kind === 'assure' ? await describeAssurance(database, run) : null,
    becauseOf: await describeBecauseOf(database, run, mostForced),
    artifacts: isWritten ? join(settings.reports.dir, runId) : null,
    reports: revisions.length,
  };
}

async function findRosterName(database: Queryable, organisation: string, run: RunRow): Promise<string | null> {
  if (run.rosterId === null) return null;
  return (await readRosterNames(database, organisation)).get(run.rosterId) ?? null;
}

/** Stored when the run closed; computed now for an open run. Null for a run without customers. */
async function readSums(database: Queryable, run: RunRow): Promise<RunSums | null> {
  if (run.kind !== 'import' && !isScreeningKind(run.kind)) return null;
  return run.state === 'running' || run.sums === null ? computeRunSums(database, run.runId) : run.sums;
}

async function findHolder(database: Queryable, organisation: string, run: RunRow) {
  const held = findRunLease(await readHeldLeases(database, organisation), run);
  if (!held) return null;
  return { owner: held.owner, since: held.acquiredAt, heartbeatAgeSeconds: Math.round(held.heartbeatAgeMs / 100) / 10 };
}

/** Lists the chosen customers of a run, or its rejected rows by default. */
export async function listOfRun(database: Queryable, { runId }: Pick<RunRow, 'runId'>, options: ListChoice) {
  const { list = null, limit, after } = options;
  const rejectsInAll = await countRejects(database, runId);
  if (list === null || list === 'rejected') {
    const rejects = (await readRejects(database, runId, limit)).map(({ fields: _, ...where }) => where);
    return { list, customers: [], next: null, rejects, rejectsInAll };
  }
  // One more row shows whether a further page exists.
  const found = await listRunCustomers(database, runId, list, { after, limit: limit + 1 });
  const customers = found.slice(0, limit);
  /** The reference after which the next page starts; null on the last page. */
  const next = found.length > limit ? (customers.at(-1)?.reference ?? null) : null;
  return { list, customers, next, rejects: [], rejectsInAll };
}
