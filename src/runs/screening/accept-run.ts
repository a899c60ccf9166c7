import type { Transaction } from '../../store/database/database.js';
import { assertLease } from '../../store/database/leases.js';
import { countMissing } from '../../store/dossiers/dossiers.js';
import { queuePack } from '../../store/evidence/packs.js';
import { countWithheld } from '../../store/night/apply-answers.js';
import { findLaterHeld, ownsTables, readRunHolds, saveRunAcceptance } from '../../store/night/held-runs.js';
import { RunNumbers } from '../../store/night/ledger.js';
import { readRosterNames } from '../../store/organisations.js';
import { readFourEyes } from '../../store/review/decisions.js';
import { findOpenRun, type RunRow, readRun, toRunId } from '../../store/runs.js';
import type { RunState } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import { writePackAtEnd, writePacks } from '../packs.js';
import { findRun, refuseRun } from '../run-reference.js';
import { type HeldLease, openKeyedOrganisation, type RunSession, withLease } from '../session.js';
import { requireAcceptedSettings } from '../settings-acceptance.js';
import { type Acceptance, requireLogins } from '../settings-diff.js';
import { noteWebhooks } from '../status.js';
import { concludeRun } from './close.js';

/**
 * Applies the stored answers of a held run without new searches, and releases its webhooks; of a held sweep, lets the
 * next one remove the dossiers that it missed. With four eyes the first call proposes and a second person accepts; a
 * login that does not own the tables can only propose. Closes no waiting alert. Throws ConfigError when nothing can be
 * accepted, RunLockedError while the roster or the sweep is in use.
 */
export async function acceptRun(
  app: AppContext,
  text: string,
  acceptance: Acceptance,
  signal: AbortSignal,
): Promise<
  { runId: string } & (
    | { kind: 'proposed'; waitsFor: 'second_person' | 'owner' }
    /** The parties whose answers apply, the dossiers that the next sweep may remove, and the new state of the run. */
    | { kind: 'accepted'; parties: number; dossiers: number; state: RunState; reasons: readonly string[] }
  )
> {
  const { database } = app;
  const run = await findRun(database, app.settings.organisation, text);
  await refuseUnlessHeld(database, run);
  if (!(await ownsTables(database))) {
    const whom = 'the login that owns the tables';
    await database.transaction((transaction) => propose(app, transaction, run, acceptance, whom));
    return { kind: 'proposed', runId: toRunId(run), waitsFor: 'owner' };
  }
  if (run.kind === 'sweep') return acceptSweep(app, run, acceptance, signal);
  const organisation = await openKeyedOrganisation(app);
  const named = (await readRosterNames(database, organisation.name)).get(run.rosterId ?? 0);
  if (named !== undefined) await requireAcceptedSettings(app, { organisation, roster: named });
  const acceptHeld = async (held: HeldLease): ReturnType<typeof acceptRun> => {
    await noteWebhooks({ run, app, write: (work) => database.transaction(work) });
    return database.transaction(async (transaction) => {
      await assertLease(transaction, held.lease);
      const current = (await readRun(transaction, run.runId)) ?? run;
      await refuseUnlessHeld(transaction, current);
      // The answers of the open run would become alerts before its control searches have confirmed them.
      const open = await findOpenRun(transaction, run.leaseKey);
      if (open) throw refuseRun(`${toRunId(open)} has not ended: resume it or start a new run first`);
      const runId = toRunId(run);
      if (await proposesOnly(app, transaction, current, acceptance)) {
        return { kind: 'proposed', runId, waitsFor: 'second_person' };
      }
      const roster = (await readRosterNames(transaction, organisation.name)).get(run.rosterId ?? 0) ?? null;
      const write: RunSession['write'] = (work) => work(transaction);
      const numbers = new RunNumbers({ ...run, worker: 1 });
      const session: RunSession = { ...held, app, organisation, run: current, runId, numbers, roster, write };
      const { parties, state, reasons } = await concludeRun(transaction, session, {
        halted: null,
        isReported: false,
        isAccepted: true,
      });
      await saveAcceptance(app, transaction, current, acceptance, false);
      return { kind: 'accepted', runId, parties, dossiers: 0, state, reasons };
    });
  };
  await writePacks(app);
  const accepted = await withLease(app, run.leaseKey, signal, acceptHeld);
  await writePackAtEnd(app, signal);
  return accepted;
}

async function acceptSweep(
  app: AppContext,
  run: RunRow,
  acceptance: Acceptance,
  signal: AbortSignal,
): ReturnType<typeof acceptRun> {
  const runId = toRunId(run);
  const acceptHeld = ({ lease }: HeldLease) =>
    app.database.transaction(async (transaction): ReturnType<typeof acceptRun> => {
      await assertLease(transaction, lease);
      await refuseUnlessHeld(transaction, run);
      const dossiers = await countMissing(transaction, run.runId);
      if (await proposesOnly(app, transaction, run, acceptance)) {
        return { kind: 'proposed', runId, waitsFor: 'second_person' };
      }
      await saveAcceptance(app, transaction, run, acceptance, false);
      await queuePack(transaction, run.runId);
      return { kind: 'accepted', runId, parties: 0, dossiers, state: run.state, reasons: run.stateReasons };
    });
  await writePacks(app);
  const accepted = await withLease(app, run.leaseKey, signal, acceptHeld);
  await writePackAtEnd(app, signal);
  return accepted;
}

/** What is held of a run; throws ConfigError when nothing is, or when a later run has replaced it. */
async function refuseUnlessHeld(database: Parameters<typeof readRunHolds>[0], run: RunRow) {
  const runId = toRunId(run);
  if (run.state === 'running' || run.state === 'stopped') throw refuseRun(`${runId} has not ended`);
  const { holds, accepted } = await readRunHolds(database, run.runId);
  if (holds.length === 0) throw refuseRun(`${runId} is not held, so there is nothing to accept`);
  const waiting = new Set(holds.filter(({ acceptedAt }) => acceptedAt === null).map(({ kind }) => kind));
  if (waiting.has('answers')) await refuseReplaced(database, run);
  if (waiting.has('dossiers') && (await countMissing(database, run.runId)) === 0) {
    throw refuseRun(`a later sweep has listed, missed or removed each dossier that ${runId} missed`);
  }
  if (waiting.size > 0) return waiting;
  const by = accepted ? `, by ${accepted.acceptedBy} on ${accepted.acceptedAt.toISOString()}` : '';
  throw refuseRun(`${runId} is already accepted${by}`);
}

/**
 * With four eyes: saves the first person's proposal and returns true. Throws ConfigError when the same person accepts
 * again.
 */
async function proposesOnly(
  app: AppContext,
  transaction: Transaction,
  run: RunRow,
  acceptance: Acceptance,
): Promise<boolean> {
  const accountIds = run.accountId === null ? [] : [run.accountId];
  const findFourEyes = await readFourEyes(transaction, accountIds, app.settings.review.fourEyes);
  if (findFourEyes(run.accountId).size === 0) return false;
  requireLogins(app.database, `accepting ${toRunId(run)}`);
  const { acceptances: proposals } = await readRunHolds(transaction, run.runId);
  const { name } = acceptance.by;
  if (proposals.some(({ acceptedBy }) => acceptedBy !== name)) return false;
  await propose(app, transaction, run, acceptance, 'a second person');
  return true;
}

/** Saves what one person says, which changes nothing yet; throws ConfigError when the same person says it again. */
async function propose(app: AppContext, transaction: Transaction, run: RunRow, acceptance: Acceptance, whom: string) {
  const { name } = acceptance.by;
  const { acceptances } = await readRunHolds(transaction, run.runId);
  if (acceptances.some(({ acceptedBy }) => acceptedBy === name)) {
    throw refuseRun(`${toRunId(run)} waits for ${whom}: ${name} already proposed it`);
  }
  await saveAcceptance(app, transaction, run, acceptance, true);
}

async function saveAcceptance(
  { clock }: AppContext,
  transaction: Transaction,
  { runId }: RunRow,
  { by, reason }: Acceptance,
  isProposal: boolean,
): Promise<void> {
  const who = { acceptedBy: by.name, isAttested: by.isAttested };
  await saveRunAcceptance(transaction, runId, { isProposal, ...who, reason, acceptedAt: clock.now() });
}

/** Throws ConfigError when a later run holds or has newer answers, so that those of `run` can never apply. */
async function refuseReplaced(database: Parameters<typeof readRunHolds>[0], run: RunRow): Promise<void> {
  const { runId, rosterId, accountId } = run;
  const name = toRunId(run);
  if (rosterId === null || accountId === null) throw refuseRun(`${name} belongs to no roster`);
  const later = await findLaterHeld(database, { runId, rosterId, accountId });
  const held = later === null ? null : await readRun(database, later);
  if (held) throw refuseRun(`a later run is held too, with newer answers: accept ${toRunId(held)} instead`);
  if ((await countWithheld(database, runId)) > 0) return;
  throw refuseRun(`a later run has screened every customer of ${name}, so there is nothing to accept`);
}
