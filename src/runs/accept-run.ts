import { ConfigError } from '../errors.js';
import type { Transaction } from '../store/database/database.js';
import { findLaterHeld, readRunAcceptances, readRunHolds, saveRunAcceptance } from '../store/held-runs.js';
import { assertLease } from '../store/leases.js';
import { readRosterNames } from '../store/organisations.js';
import { readFourEyes } from '../store/review/decisions.js';
import { findOpenRun, type RunRow, readRun, toRunId } from '../store/runs.js';
import { giveBackAnswers } from '../store/unconfirmed-answers.js';
import { releaseWebhookEvents } from '../store/webhooks.js';
import type { RunState } from '../vocabulary.js';
import type { AppContext } from './app-context.js';
import { findRun } from './run-reference.js';
import { concludeRun } from './screening/close.js';
import { openOrganisation, type RunSession, withLease } from './session.js';
import { requireAcceptedSettings } from './settings-acceptance.js';
import { type Acceptance, requireLogins } from './settings-diff.js';

/** What came of accepting a held run: a second person is still needed, or its answers count. */
export type RunAcceptanceResult = { runId: string } & (
  | { kind: 'proposed' }
  /** For so many parties its answers count; the state is what the run has come to. */
  | { kind: 'accepted'; parties: number; state: RunState; reasons: readonly string[] }
);

const refuse = (message: string): ConfigError => new ConfigError([{ where: 'run', path: '', message }]);

/**
 * Has the stored answers of a held run count, without any search, and lets webhooks have what was kept from them. Where decisions need two
 * people, the first call proposes and another person's accepts. Closes no alert that waits. Throws ConfigError when there is nothing to
 * accept, RunLockedError while the roster is being worked on.
 */
export async function acceptRun(
  app: AppContext,
  text: string,
  acceptance: Acceptance,
  signal: AbortSignal,
): Promise<RunAcceptanceResult> {
  const { database } = app;
  const run = await findRun(database, text);
  const organisation = await openOrganisation(app);
  await refuseUnlessHeld(database, run);
  const named = (await readRosterNames(database)).get(run.rosterId ?? 0);
  if (named !== undefined) await requireAcceptedSettings(app, { organisation, roster: named });
  return withLease(app, run.leaseKey, signal, (held) =>
    database.transaction(async (transaction) => {
      await assertLease(transaction, held.lease);
      const current = (await readRun(transaction, run.runId)) ?? run;
      const kinds = await refuseUnlessHeld(transaction, current);
      // Its answers would become alerts with those of this run, before control searches have confirmed them.
      const open = await findOpenRun(transaction, run.leaseKey);
      if (open) throw refuse(`${toRunId(open)} has not come to its end: resume it or begin a new run first`);
      const runId = toRunId(run);
      if (await proposesOnly(app, transaction, current, acceptance)) return { kind: 'proposed', runId };
      const parties = kinds.has('answers') ? await giveBack(transaction, current) : 0;
      await saveAcceptance(app, transaction, current, acceptance, false);
      await releaseWebhookEvents(transaction, run.runId);
      const roster = (await readRosterNames(transaction)).get(run.rosterId ?? 0) ?? null;
      const write: RunSession['write'] = (work) => work(transaction);
      const session: RunSession = { ...held, app, organisation, run: current, runId, roster, write };
      const { state, reasons } = await concludeRun(transaction, session, {
        halted: null,
        isReported: false,
        isAccepted: true,
      });
      return { kind: 'accepted', runId, parties, state, reasons };
    }),
  );
}

/** What of a run is held; throws ConfigError where nothing is. */
async function refuseUnlessHeld(
  database: Parameters<typeof readRunHolds>[0],
  run: RunRow,
): Promise<ReadonlySet<'answers' | 'webhooks'>> {
  const runId = toRunId(run);
  if (run.state === 'running' || run.state === 'stopped') throw refuse(`${runId} has not come to its end`);
  const holds = await readRunHolds(database, run.runId);
  if (holds.length === 0) throw refuse(`nothing of ${runId} is held, so there is nothing to accept`);
  const waiting = holds.filter(({ acceptedAt }) => acceptedAt === null);
  if (waiting.length > 0) return new Set(waiting.map(({ kind }) => kind));
  const by = (await readRunAcceptances(database, run.runId)).find(({ isProposal }) => !isProposal);
  throw refuse(`${runId} was accepted before${by ? `, by ${by.acceptedBy} on ${by.acceptedAt.toISOString()}` : ''}`);
}

/** Where decisions need two people: keeps the first person's word and gives true; throws ConfigError when the same person comes again. */
async function proposesOnly(
  app: AppContext,
  transaction: Transaction,
  run: RunRow,
  acceptance: Acceptance,
): Promise<boolean> {
  // The rule of the last run holds as well: settings of one's own never allow more.
  const stored =
    run.accountId === null ? undefined : (await readFourEyes(transaction, [run.accountId])).get(run.accountId);
  if (app.settings.review.fourEyes.length === 0 && (stored?.size ?? 0) === 0) return false;
  requireLogins(app.database, `accepting ${toRunId(run)}`);
  const proposals = await readRunAcceptances(transaction, run.runId);
  const { name } = acceptance.by;
  if (proposals.some(({ acceptedBy }) => acceptedBy !== name)) return false;
  if (proposals.length > 0) throw refuse(`${toRunId(run)} waits for a second person: ${name} has proposed it before`);
  await saveAcceptance(app, transaction, run, acceptance, true);
  return true;
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

async function giveBack(transaction: Transaction, run: RunRow): Promise<number> {
  const { runId, rosterId, accountId } = run;
  const name = toRunId(run);
  if (rosterId === null || accountId === null) throw refuse(`${name} has answered for no roster`);
  const later = await findLaterHeld(transaction, { runId, rosterId, accountId });
  const held = later === null ? null : await readRun(transaction, later);
  if (held) throw refuse(`a later run is held as well, and its answers are newer: accept ${toRunId(held)} instead`);
  const parties = await giveBackAnswers(transaction, runId);
  if (parties > 0) return parties;
  throw refuse(`a later run has answered for every customer of ${name}, so nothing of it is left to accept`);
}
