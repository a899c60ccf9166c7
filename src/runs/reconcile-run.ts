import { ConfigError, usageError } from '../errors.js';
import { toDate, toDayNumber } from '../local-time.js';
import { compareApplicant, namesAgree } from '../reconciliation/applicant.js';
import {
  findImbalances,
  findJoinProblem,
  type ReconciliationSums,
  toSeverities,
} from '../reconciliation/discrepancy.js';
import { toDurationMs } from '../roster/duration.js';
import type { DossierLink } from '../roster/settings.js';
import { toCadence } from '../screening/cadence.js';
import { type Transaction, takeWorkMemory } from '../store/database/database.js';
import { toLeaseKey } from '../store/database/leases.js';
import { findLastCompared, saveDiscrepancies } from '../store/dossiers/discrepancies.js';
import { findLastSweep } from '../store/dossiers/dossiers.js';
import { saveInvitationSums } from '../store/dossiers/invitations.js';
import { compareWithDossiers, type ReconciliationInput } from '../store/dossiers/reconciliation.js';
import { findRoster, readRosterNames } from '../store/organisations.js';
import { collectFindings } from '../store/reports/findings.js';
import { setRunAccount, toRunId } from '../store/runs.js';
import type { AppContext } from './app-context.js';
import { endRun } from './end-run.js';
import { queueReportOf, reportAndMail } from './mail/deliver.js';
import type { RunSummary } from './run-summary.js';
import { openKeyedOrganisation, type RunSession, withLeasedRun } from './session.js';

/** The greatest age of a sweep for a comparison. */
const sweepHoursAtMost = 36;
const hourMs = 3_600_000;
const notSwept = 'no sweep of the dossiers has ended yet; run `nightscreen sweep` first';

/** The result of comparing one roster with the dossiers; `sums` is null if it was refused. */
export interface Reconciled {
  roster: string;
  sums: ReconciliationSums | null;
  news: { opened: number; resolved: number };
  /** Why it is not complete: refused, or missing dossiers are not proven. */
  problem: string | null;
  /** Sums that do not balance. */
  imbalances: readonly string[];
}

const listLinked = ({ settings }: AppContext): readonly { name: string; link: DossierLink }[] =>
  settings.rosters.flatMap(({ name, dossiers }) => (dossiers === undefined ? [] : [{ name, link: dossiers }]));

/**
 * Compares the customers of a roster with the screenings and the dossiers of an account, and stores the discrepancies, inside a transaction of
 * the run. Null for a roster without `dossiers` in its settings. An implausible join of customers and dossiers stores nothing.
 */
export async function reconcileRoster(
  transaction: Transaction,
  { app, run, roster }: Pick<RunSession, 'app' | 'run'> & { roster: string },
  accountId: number,
): Promise<Reconciled | null> {
  const { settings, clock } = app;
  const link = listLinked(app).find(({ name }) => name === roster)?.link;
  const rosterId = await findRoster(transaction, settings.organisation, roster);
  if (link === undefined || rosterId === null) return null;
  const refuse = (problem: string): Reconciled => {
    const nothing = { opened: 0, resolved: 0 };
    return { roster, sums: null, news: nothing, problem: `not reconciled: ${problem}`, imbalances: [] };
  };
  const sweep = await findLastSweep(transaction, accountId);
  if (sweep === null) return refuse(notSwept);
  const now = clock.now();
  const unprovenBecause = findUnproven(sweep, now);
  const input: ReconciliationInput = {
    runId: run.runId,
    rosterId,
    accountId,
    isTest: sweep.isTest,
    link,
    others: await listOthers(transaction, app, rosterId),
    sweepRunId: sweep.runId,
    unprovenBecause,
    severities: toSeverities(settings.reconciliation),
    staleBefore: link.staleAfter === undefined ? null : new Date(now.getTime() - toDurationMs(link.staleAfter)),
    overdueBefore: new Date(now.getTime() - Math.max(...Object.values(toCadence(settings.screening).hours)) * hourMs),
    now,
    today: toDate(toDayNumber(now, settings.timezone)),
  };
  // Both sides of a large comparison.
  await takeWorkMemory(app.database, transaction, '128MB');
  const { sums, largest } = await compareWithDossiers(transaction, input);
  const problem = findJoinProblem(sums, largest);
  if (problem !== null) return refuse(`${problem}; see rosters.${roster}.dossiers.reference in the configuration`);
  const imbalances = findImbalances(sums);
  if (imbalances.length > 0) return { ...refuse('its sums do not balance'), imbalances };
  await collectFindings(transaction, input, { namesAgree, compareApplicant });
  const news = await saveDiscrepancies(transaction, input, sums);
  if (link.invite !== undefined) await saveInvitationSums(transaction, input);
  const { customers, dossiers } = sums;
  app.emit({
    kind: 'stage_finished',
    runId: toRunId(run),
    stage: 'reconcile',
    counts: { customers, dossiers, ...news },
  });
  const unproven = unprovenBecause === null ? null : `reconciled without proof: ${unprovenBecause}`;
  return { roster, sums, news, problem: unproven, imbalances: [] };
}

/** Why a dossier that is not in the sweep may still exist; null if the sweep proves that it does not. */
function findUnproven(
  { finishedAt, unprovenBecause }: { finishedAt: Date; unprovenBecause: string | null },
  now: Date,
): string | null {
  const isOld = now.getTime() - finishedAt.getTime() > sweepHoursAtMost * hourMs;
  if (!isOld) return unprovenBecause;
  return `the last sweep ended at ${finishedAt.toISOString()}, more than ${sweepHoursAtMost} hours ago`;
}

/** Why it is not known now which customers of a roster have no dossier; null after a comparison with the last sweep. */
export async function findUnreconciled(
  { database, clock }: AppContext,
  rosterId: number,
  accountId: number,
): Promise<string | null> {
  const sweep = await findLastSweep(database, accountId);
  if (sweep === null) return notSwept;
  const unproven = findUnproven(sweep, clock.now());
  if (unproven !== null) return `${unproven}; run \`nightscreen sweep\` and \`nightscreen reconcile\``;
  const isCompared = (await findLastCompared(database, rosterId, accountId)) === sweep.runId;
  return isCompared ? null : 'it was not compared with the last sweep; run `nightscreen reconcile`';
}

async function listOthers(
  transaction: Transaction,
  app: AppContext,
  ownId: number,
): Promise<ReconciliationInput['others']> {
  const links = new Map(listLinked(app).map(({ name, link }) => [name, link]));
  const rosters = await readRosterNames(transaction, app.settings.organisation);
  return [...rosters].flatMap(([rosterId, name]) =>
    rosterId === ownId ? [] : [{ rosterId, link: links.get(name) ?? { reference: 'exact' as const } }],
  );
}

/**
 * Compares every roster with dossiers, or one of them, with the dossiers of the last swept account; it calls no service. Throws ConfigError
 * when no roster has dossiers, no sweep has ended, or the join is implausible.
 */
export async function runReconciliation(
  app: AppContext,
  { roster, writeReport }: { roster?: string | undefined; writeReport: boolean },
  signal: AbortSignal,
): Promise<RunSummary> {
  const names = listLinked(app).flatMap(({ name }) => (roster === undefined || name === roster ? [name] : []));
  if (names.length === 0) throw toUnlinked(app, roster);
  const organisation = await openKeyedOrganisation(app);
  const sweep = await findLastSweep(app.database, organisation);
  if (sweep === null) throw refuse(notSwept);
  const request = { organisation, kind: 'reconcile', mode: sweep.isTest ? 'test' : 'live' } as const;
  const leaseKey = toLeaseKey('reconcile', organisation.name);
  const summary = await withLeasedRun(
    app,
    leaseKey,
    signal,
    async () => request,
    (session) => reconcileAll(session, sweep.accountId, { names, writeReport }),
  );
  return reportAndMail(app, summary, { hasReport: true, writeReport }, signal);
}

async function reconcileAll(
  session: RunSession,
  accountId: number,
  { names, writeReport }: { names: readonly string[]; writeReport: boolean },
): Promise<RunSummary> {
  const { app, run } = session;
  await session.write((transaction) => setRunAccount(transaction, run.runId, accountId));
  const done: Reconciled[] = [];
  for (const roster of names) {
    session.signal.throwIfAborted();
    const reconciled = await session.write((transaction) =>
      reconcileRoster(transaction, { app, run, roster }, accountId),
    );
    if (reconciled === null) throw refuse(`the roster ${roster} was never imported`);
    if (reconciled.sums === null && reconciled.imbalances.length === 0) throw refuse(reconciled.problem ?? '');
    done.push(reconciled);
  }
  return closeReconciliation(session, done, writeReport);
}

function closeReconciliation(
  session: RunSession,
  done: readonly Reconciled[],
  writeReport: boolean,
): Promise<RunSummary> {
  const { app, run } = session;
  const imbalances = done.flatMap((one) => one.imbalances);
  const reasons = [...imbalances, ...done.flatMap(({ roster, problem }) => (problem ? [`${roster}: ${problem}`] : []))];
  const state = imbalances.length > 0 ? 'unbalanced' : reasons.length > 0 ? 'incomplete' : 'complete';
  return endRun(session, { state, reasons, counts: addUp(done) }, async (transaction) => {
    if (writeReport && state !== 'unbalanced') await queueReportOf(app, transaction, run);
  });
}

/** Adds up all rosters. Each roster counts all dossiers, so these are not added. */
function addUp(done: readonly Reconciled[]) {
  const total = (read: (one: Reconciled) => number | undefined): number =>
    done.reduce((sum, one) => sum + (read(one) ?? 0), 0);
  return {
    customers: total(({ sums }) => sums?.customers),
    withDossier: total(({ sums }) => sums?.withDossier),
    withoutDossier: total(({ sums }) => sums?.withoutDossier),
    notExpected: total(({ sums }) => sums?.notExpected),
    ambiguous: total(({ sums }) => sums?.ambiguousCustomers),
    dossiers: Math.max(0, ...done.map(({ sums }) => sums?.dossiers ?? 0)),
    opened: total(({ news }) => news.opened),
    resolved: total(({ news }) => news.resolved),
  };
}

const refuse = (message: string): ConfigError => usageError('reconcile', message);

function toUnlinked({ settings }: AppContext, roster: string | undefined): ConfigError {
  const known = settings.rosters.map(({ name }) => name).join(', ') || 'none';
  const whose = roster === undefined ? 'no roster says' : `the roster ${roster} does not say`;
  return new ConfigError([
    {
      where: 'settings',
      path: 'rosters',
      message: `${whose} how its customers relate to dossiers; write \`dossiers: { expect: always }\` below it (rosters: ${known})`,
    },
  ]);
}
