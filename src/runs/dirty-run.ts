import { type DossierChange, diffDossier } from '../changes/dossier-changes.js';
import type { CallOptions } from '../client/operation.js';
import { toLookedUpSnapshot } from '../dossiers/dossier.js';
import { countNoun } from '../reports/text.js';
import type { RosterSettings } from '../roster/settings.js';
import type { Transaction } from '../store/database/database.js';
import { assertLease, toLeaseKey } from '../store/database/leases.js';
import { findLastSweep, readDossiers, saveDossierChanges, saveDossiers } from '../store/dossiers/dossiers.js';
import {
  clearAnsweredMarks,
  clearOldDossierMarks,
  type DossierMark,
  finishDossierMarks,
  forgetEvents,
  listMarkedCustomers,
  listMarkedDossiers,
  markCustomers,
} from '../store/dossiers/event-marks.js';
import { findLastAccount, findRoster, type Organisation } from '../store/organisations.js';
import { hasImport } from '../store/roster/imports.js';
import { findOpenRun, toRunId } from '../store/runs.js';
import type { DetailStop } from '../vocabulary.js';
import { identifyAccount, noteAccount, toAssumedMode, toHalt } from './account.js';
import type { AppContext } from './app-context.js';
import { endRun } from './end-run.js';
import { takeSpooledEvents } from './event-spool.js';
import { RunHalted } from './halt.js';
import { openRosterScope } from './roster-scope.js';
import type { RunSummary } from './run-summary.js';
import { askEach, askRecord, openDetailStops, type RecordOutcome } from './screening/details.js';
import { toMarkedScope } from './screening/plan.js';
import { runScreening } from './screening-run.js';
import { openKeyedOrganisation, openOrganisation, type RunSession, recordKeys, withLease, withRun } from './session.js';

/** The most look-ups of one run; the next run does the rest. */
const mostLookUps = 5_000;
const lookUpsPerWrite = 200;

/**
 * Looks up the dossiers that events have marked, and stores their changes as a sweep does. It proves nothing about other dossiers, so it marks
 * none as gone, and comparisons do not use it. The next sweep reports its changes. Gives null and makes no run if no dossier is marked, or before
 * the first sweep, which is the starting point. Throws RunLockedError while the dossiers are swept.
 */
export async function sweepMarked(app: AppContext, signal: AbortSignal): Promise<RunSummary | null> {
  const { database, clock } = app;
  const organisation = await openKeyedOrganisation(app);
  const { organisationId } = organisation;
  if (app.eventsFolder !== undefined) {
    await takeSpooledEvents(database, organisationId, app.eventsFolder, clock.now());
  }
  await forgetEvents(database, organisationId, clock.now());
  const findMarks = () => listMarkedDossiers(database, organisationId, { now: clock.now(), limit: mostLookUps });
  if ((await findMarks()).length === 0 || (await findLastSweep(database, organisation)) === null) return null;
  const request = { organisation, kind: 'sweep', mode: toAssumedMode(app), selection: 'dirty' } as const;
  // A sweep in progress would overwrite these look-ups with pages that it read before. A stopped sweep keeps its own run.
  return withLease(app, toLeaseKey('sweep', organisation.name), signal, (outer) =>
    withLease(app, toLeaseKey('sweep-dirty', organisation.name), outer.signal, (held) =>
      withRun(app, held, request, async (session) => {
        const guarded: RunSession = {
          ...session,
          write: (work) =>
            session.write(async (transaction) => {
              await assertLease(transaction, outer.lease);
              return work(transaction);
            }),
        };
        return lookUpMarked(guarded, await findMarks());
      }),
    ),
  );
}

async function lookUpMarked(session: RunSession, marks: readonly DossierMark[]): Promise<RunSummary> {
  const { app, organisation, runId } = session;
  const client = app.client();
  app.emit({ kind: 'stage_started', runId, stage: 'sweep' });
  const counts = { pages: 0, dossiers: 0, appeared: 0, changed: 0, gone: 0, proven: false };
  const stops = openDetailStops(session, client);
  const keys = recordKeys(session, client);
  let halted: RunHalted | null = null;
  try {
    const { accountId } = await identifyAccount(app, organisation, client, session.signal);
    await session.write((transaction) => noteAccount(transaction, session, accountId));
    for (let at = 0; at < marks.length && stops.because === null; at += lookUpsPerWrite) {
      const group = marks.slice(at, at + lookUpsPerWrite);
      const found = new Map<DossierMark, RecordOutcome>();
      await askEach(group, { concurrency: app.settings.service.rate.concurrency, stops }, async (mark) => {
        const { dossierId } = mark;
        const retrieve = (options: CallOptions) => client.dossiers.retrieve(dossierId, options);
        const outcome = await askRecord(retrieve, () => false, stops);
        if (outcome !== null) found.set(mark, outcome);
        return outcome !== null;
      });
      const changes = await session.write((transaction) => saveFound(transaction, session, accountId, found));
      counts.dossiers += found.size;
      counts.appeared += changes.filter(({ kind }) => kind === 'dossier_appeared').length;
      counts.changed += changes.filter(({ kind }) => kind !== 'dossier_appeared').length;
    }
    halted = toLookUpHalt(stops.because);
  } catch (error) {
    const halt = toHalt(error, session.signal);
    if (!(halt instanceof RunHalted)) throw error;
    halted = halt;
  } finally {
    stops.close();
    await keys.close();
  }
  const state = halted === null ? 'complete' : 'stopped';
  const reasons = halted === null ? [] : [`${halted.message}; the marks stay`];
  const { proven: _, ...rest } = counts;
  app.emit({ kind: 'stage_finished', runId, stage: 'sweep', counts: rest });
  const summary = await endRun(session, { state, reasons, haltedBy: halted?.code ?? null, counts });
  return {
    ...summary,
    remarks: [`only ${countNoun(marks.length, 'marked dossier')} looked up; only a whole sweep finds missing dossiers`],
  };
}

/** Why the look-ups ended early; null if only their time was over, because the next run continues. */
function toLookUpHalt(because: DetailStop | null): RunHalted | null {
  switch (because) {
    case 'signal':
      return new RunHalted('signal', 'stopped on request');
    case 'refused':
      return new RunHalted('account', 'the service refuses the account');
    case 'out_of_reach':
      return new RunHalted('outage', 'the service is out of reach');
    default:
      return null;
  }
}

/** Saves the look-ups and clears their marks in one transaction; gives the changes. A dossier without an answer stays marked. */
async function saveFound(
  transaction: Transaction,
  { app, organisation: { organisationId }, run }: RunSession,
  accountId: number,
  found: ReadonlyMap<DossierMark, RecordOutcome>,
): Promise<readonly DossierChange[]> {
  const now = app.clock.now();
  const known = await readDossiers(
    transaction,
    accountId,
    [...found.keys()].map(({ dossierId }) => dossierId),
  );
  const changes: DossierChange[] = [];
  const done: DossierMark[] = [];
  const missed: DossierMark[] = [];
  for (const [mark, outcome] of found) {
    if (outcome.kind === 'not_available') {
      if (!outcome.isTransient) missed.push(mark);
      continue;
    }
    done.push(mark);
    const before = known.get(mark.dossierId) ?? null;
    const snapshot = toLookedUpSnapshot(JSON.parse(outcome.record.body), before?.snapshot ?? null);
    // A dossier whose record lacks fields of the list waits for the next sweep.
    const change = snapshot && diffDossier(before, snapshot);
    if (change) changes.push(change);
  }
  await saveDossiers(
    transaction,
    accountId,
    run.runId,
    changes.flatMap(({ after }) => after ?? []),
  );
  await saveDossierChanges(transaction, run.runId, changes, now);
  const ofAml = done.flatMap(({ dossierId, isAml }) => (isAml ? [dossierId] : []));
  const moved = changes.filter(mattersToScreening).flatMap(({ after }) => after?.id ?? []);
  await markCustomersOf(transaction, app, accountId, [...new Set([...ofAml, ...moved])]);
  await finishDossierMarks(transaction, organisationId, { done, missed }, now);
  return changes;
}

const screenedFields: ReadonlySet<string> = new Set(['status', 'name', 'reference', 'type', 'risk_score']);

/** A change of documents or downloads does not justify a billed search. */
const mattersToScreening = ({ kind, fields }: DossierChange): boolean =>
  kind === 'dossier_appeared' || kind === 'dossier_returned' || fields.some((field) => screenedFields.has(field));

async function markCustomersOf(
  transaction: Transaction,
  { settings, clock }: AppContext,
  accountId: number,
  dossierIds: readonly string[],
): Promise<void> {
  for (const { name, dossiers: link } of settings.rosters) {
    const rosterId = link === undefined ? null : await findRoster(transaction, settings.organisation, name);
    if (link === undefined || rosterId === null) continue;
    await markCustomers(transaction, { accountId, rosterId, link }, dossierIds, clock.now());
  }
}

/** Clears the marks that were made before a proven sweep began, because it has read every dossier since. */
export async function clearSweptMarks(
  transaction: Transaction,
  app: AppContext,
  { organisationId }: Organisation,
  { accountId, before }: { accountId: number; before: Date },
): Promise<void> {
  const ofAml = await clearOldDossierMarks(transaction, organisationId, before);
  await markCustomersOf(transaction, app, accountId, ofAml);
}

/**
 * Searches for the marked customers of a roster, as many as `screening.dirty` allows, in a run of their own. Gives null and makes no run if no
 * search is due, or while a stopped run of the roster can be resumed. Throws RunLockedError while the roster is imported or screened.
 */
export async function screenMarked(
  app: AppContext,
  roster: RosterSettings,
  signal: AbortSignal,
): Promise<RunSummary | null> {
  const { database, settings } = app;
  const { organisationId } = await openOrganisation(app);
  if (!(await hasImport(database, organisationId, roster.name))) return null;
  const { rosterId, leaseKey } = await openRosterScope(app, roster.name);
  const account = await findLastAccount(database, rosterId, settings.service.mode);
  if (account === null) return null;
  await clearAnsweredMarks(database, account.accountId);
  const waiting = await listMarkedCustomers(database, toMarkedScope(app, rosterId, account.accountId));
  if (waiting.length === 0) return null;
  const open = await findOpenRun(database, leaseKey);
  if (open !== null && open.selection !== 'dirty') {
    const message = `marked customers of ${roster.name} wait for the stopped run ${toRunId(open)}; run \`nightscreen runs resume ${toRunId(open)}\``;
    app.emit({ kind: 'warning', runId: null, roster: roster.name, code: 'marks_wait', message });
    return null;
  }
  const plan = { kind: 'screen', selection: 'dirty', importFirst: false, writeReport: false } as const;
  return runScreening(app, { ...plan, roster }, signal);
}
