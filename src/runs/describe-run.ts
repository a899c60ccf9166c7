import { join } from 'node:path';
import type { CanaryFacts, DetailCounts, OpenItemsFacts, WatchFacts } from '../reports/list-facts.js';
import type { SnapshotFacts } from '../reports/run-facts.js';
import type { RejectedRow } from '../roster/customer.js';
import { readCanaryFacts } from '../store/canaries.js';
import { type Queryable, readAtOnce } from '../store/database/database.js';
import { readSweep, type SweepRow } from '../store/dossiers.js';
import { readEarlyWarnings } from '../store/early-warnings.js';
import { readHeldLeases } from '../store/leases.js';
import { readDetailCounts } from '../store/match-details.js';
import { readAccountName, readRosterNames } from '../store/organisations.js';
import { readRevisions } from '../store/report-revisions.js';
import { readOpenItems } from '../store/review/decisions.js';
import { countRejects, readRejects, readSnapshot } from '../store/roster-imports.js';
import { readRunCalls, readRunWatch } from '../store/run-health.js';
import { computeRunSums, type RunSums, readRunBalance } from '../store/run-sums.js';
import { type RunRow, readRunHolders, readRunKeys, toRunId } from '../store/runs.js';
import { countPlanReasons, listRunCustomers } from '../store/screenings.js';
import {
  type HaltCode,
  isScreeningKind,
  type ListableOutcome,
  type RunKind,
  type RunMode,
  type RunState,
} from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { type AssuranceResult, describeAssurance } from './checks/assurance.js';
import { type BecauseOf, describeBecauseOf } from './checks/because-of.js';
import { type CheckResult, describeCheck } from './checks/check.js';
import { findRun } from './run-reference.js';
import { compareBalance } from './run-summary.js';

/** Everything that is asked about one run, from what is stored; customers only as counts. */
export interface RunDescription {
  runId: string;
  kind: RunKind;
  roster: string | null;
  state: RunState;
  reasons: readonly string[];
  /** What stopped it early; null where nothing did. */
  haltedBy: HaltCode | null;
  stage: string;
  selection: string | null;
  mode: RunMode;
  account: string | null;
  /** Fingerprints of the keys that it worked under. */
  keys: readonly string[];
  version: string;
  settingsDigest: string;
  startedAt: Date;
  finishedAt: Date | null;
  /** From its begin to its end or until now, breaks included. */
  seconds: number;
  resumed: number;
  holders: Awaited<ReturnType<typeof readRunHolders>>;
  /** Whoever holds it now; null when it has ended, or when its process has died. */
  heldBy: { owner: string; since: Date; heartbeatAgeSeconds: number } | null;
  /** Stored when it closed; of a run that is going on, as it stands. Null for a run without customers. */
  sums: RunSums | null;
  planned: Readonly<Record<string, number>>;
  /** The conservation sums as the database counts them now, and what does not hold or is stored otherwise. */
  balance: ReturnType<typeof compareBalance> | null;
  calls: Awaited<ReturnType<typeof readRunCalls>>;
  canaries: readonly CanaryFacts[];
  /** What watching the service has shown; null while it goes on. */
  watch: WatchFacts | null;
  /** What waited for reviewers when it closed; null where no items were made. */
  openItems: OpenItemsFacts | null;
  /** What became of the details of its new hits; null where none were to be fetched. */
  details: DetailCounts | null;
  /** What was mailed before its report. */
  earlyWarnings: Awaited<ReturnType<typeof readEarlyWarnings>>;
  /** What its import made of the roster; null where it imported nothing. */
  snapshot: SnapshotFacts | null;
  /** Cadence, budget and other settings in force when it began. */
  settings: Readonly<Record<string, unknown>> | null;
  sweep: SweepRow | null;
  /** The question and the answer of a single check. */
  check: CheckResult | null;
  /** What a measurement of recall came to. */
  assurance: AssuranceResult | null;
  /** The published list because of which it asked, and the first of whom it was forced to ask about. */
  becauseOf: BecauseOf | null;
  /** Folder of its files, once they have been written whole. */
  artifacts: string | null;
  reports: number;
  /** A page of its customers or rejected rows. */
  listed: {
    list: ListableOutcome | 'rejected' | null;
    customers: Awaited<ReturnType<typeof listRunCustomers>>;
    /** The reference to go on after, or null on the last page. */
    next: string | null;
    /** Where they stand and why, without what they hold. */
    rejects: readonly Omit<RejectedRow, 'fields'>[];
    rejectsInAll: number;
  };
}

const mostForced = 20;
/** Which page of a run's customers or rejected rows is wanted. */
interface ListChoice {
  list?: ListableOutcome | 'rejected' | undefined;
  limit: number;
  after: string | null;
}

const usualList: ListChoice = { limit: 20, after: null };

/**
 * Describes a run with a page of its customers or rejected rows, all by one snapshot, so that what is shown of a run that goes on fits
 * together. Throws ConfigError when there is none of that name.
 */
export function describeRun(
  { database, clock, settings }: AppContext,
  text: string,
  list: ListChoice = usualList,
): Promise<RunDescription> {
  return readAtOnce(database, async (snapshot) => {
    const described = await describeBy(snapshot, text, { now: clock.now(), reportsFolder: settings.reports.dir });
    return { ...described, listed: await listOfRun(snapshot, text, list) };
  });
}

async function describeBy(
  database: Queryable,
  text: string,
  { now, reportsFolder }: { now: Date; reportsFolder: string },
): Promise<Omit<RunDescription, 'listed'>> {
  const run = await findRun(database, text);
  const runId = toRunId(run);
  const sums = await readSums(database, run);
  const revisions = await readRevisions(database, run);
  const isWritten = revisions.some(({ manifestSha256 }) => manifestSha256 !== null);
  const until = run.finishedAt ?? now;
  return {
    runId,
    kind: run.kind,
    roster: run.rosterId === null ? null : ((await readRosterNames(database)).get(run.rosterId) ?? null),
    state: run.state,
    reasons: run.stateReasons,
    haltedBy: run.haltedBy,
    stage: run.stage,
    selection: run.selection,
    mode: run.mode,
    account: run.accountId === null ? null : await readAccountName(database, run.accountId),
    keys: await readRunKeys(database, run.runId),
    version: run.version,
    settingsDigest: run.settingsDigest,
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    seconds: Math.round((until.getTime() - run.startedAt.getTime()) / 100) / 10,
    resumed: run.resumed,
    holders: await readRunHolders(database, run.runId),
    heldBy: await findHolder(database, run),
    sums,
    planned: await countPlanReasons(database, run.runId),
    balance: sums === null ? null : compareBalance(sums.counts, await readRunBalance(database, run.runId)),
    calls: await readRunCalls(database, run.runId),
    canaries: await readCanaryFacts(database, run.runId),
    openItems: await readOpenItems(database, run.runId),
    details: await readDetailCounts(database, run.runId),
    watch: await readRunWatch(database, run.runId),
    earlyWarnings: await readEarlyWarnings(database, run.runId),
    snapshot: await readSnapshot(database, run.runId),
    settings: run.settings,
    sweep: run.kind === 'sweep' ? await readSweep(database, run.runId) : null,
    check: run.kind === 'check' ? await describeCheck(database, run) : null,
    assurance: run.kind === 'assure' ? await describeAssurance(database, run) : null,
    becauseOf: await describeBecauseOf(database, runId, mostForced),
    artifacts: isWritten ? join(reportsFolder, runId) : null,
    reports: revisions.length,
  };
}

async function readSums(database: Queryable, run: RunRow): Promise<RunSums | null> {
  if (run.kind !== 'import' && !isScreeningKind(run.kind)) return null;
  return run.state === 'running' || run.sums === null ? computeRunSums(database, run.runId) : run.sums;
}

async function findHolder(database: Queryable, run: RunRow): Promise<RunDescription['heldBy']> {
  if (run.state !== 'running') return null;
  const leases = await readHeldLeases(database);
  const held = leases.find(
    ({ key, epoch, expiresInMs }) => key === run.leaseKey && epoch === run.epoch && expiresInMs > 0,
  );
  if (!held) return null;
  return { owner: held.owner, since: held.acquiredAt, heartbeatAgeSeconds: Math.round(held.heartbeatAgeMs / 100) / 10 };
}

/** Lists what is asked for, and rejected rows where nothing is; throws ConfigError when there is no such run. */
export async function listOfRun(
  database: Queryable,
  text: string,
  options: ListChoice,
): Promise<RunDescription['listed']> {
  const { runId } = await findRun(database, text);
  const { list = null, limit, after } = options;
  const rejectsInAll = await countRejects(database, runId);
  if (list === null || list === 'rejected') {
    const rejects = (await readRejects(database, runId, limit)).map(({ fields: _, ...where }) => where);
    return { list, customers: [], next: null, rejects, rejectsInAll };
  }
  // One more than asked for says whether there is a further page.
  const found = await listRunCustomers(database, runId, list, { after, limit: limit + 1 });
  const customers = found.slice(0, limit);
  const next = found.length > limit ? (customers.at(-1)?.reference ?? null) : null;
  return { list, customers, next, rejects: [], rejectsInAll };
}
