import type { Clock } from '../../clock.js';
import { ConfigError, type ConfigProblem } from '../../errors.js';
import { toPartyState, treatAsTruncated } from '../../matches/match.js';
import { describeControls } from '../../reports/words.js';
import { type ScreeningRequest, toScreeningRequest } from '../../roster/customer.js';
import { type Database, firstRow, type Queryable } from '../../store/database/database.js';
import { assertLease, releaseLease, toLeaseKey, tryAcquireLease } from '../../store/database/leases.js';
import { findDeadChecks, finishSearch, insertCheck, readCheck } from '../../store/night/checks.js';
import { ensureRequests, readLastControls } from '../../store/night/controls.js';
import { markInFlightUnknown } from '../../store/night/ledger.js';
import { readListCap, readMatchSets } from '../../store/night/responses.js';
import { addUpSearches } from '../../store/night/run-sums.js';
import type { Account } from '../../store/organisations.js';
import { closeRun, type RunRow, readRun, toRunId } from '../../store/runs.js';
import type { RunState } from '../../vocabulary.js';
import { identifyAccount, noteAccount, requireBudget, toAssumedMode } from '../account.js';
import type { AppContext } from '../app-context.js';
import { RunHalted, requireHalt } from '../halt.js';
import { describeRunAs } from '../run-reference.js';
import { searchUnplanned } from '../screening/attempts.js';
import { saveAnswer } from '../screening/commit.js';
import { watchLedger } from '../screening/plan.js';
import {
  type HeldLease,
  leaseTtlMs,
  openKeyedOrganisation,
  type RunSession,
  recordKeys,
  underLease,
  withLease,
  withRun,
} from '../session.js';

const mostAtOnce = 8;
const longestWaitMs = 120_000;

/**
 * Searches for one name, in a run of its own with full evidence: name, reason, person, ledger, answer. Up to eight checks run at the same time,
 * beside all other runs. Gives the check and the exit code of the command: 0 answered, 3 no valid answer or no control search that supports it,
 * 4 stopped early. Throws ConfigError before anything is spent.
 */
export async function runCheck(app: AppContext, question: CheckQuestion, signal: AbortSignal) {
  const request = toCheckedRequest(question);
  const client = app.client();
  const mode = toAssumedMode(app);
  if (client.keyMode === 'live') requireBudget(app, 'live');
  const organisation = await openKeyedOrganisation(app);
  await closeDeadChecks(app);
  const leaseKeys = Array.from({ length: mostAtOnce }, (_, slot) =>
    toLeaseKey('check', organisation.name, String(slot + 1)),
  );
  const halted = await withFreeLease(app, leaseKeys, signal, (held) => {
    const run = { organisation, kind: 'check', mode } as const;
    return withRun(app, held, run, async (session) => {
      await noteQuestion(session, question, request);
      const halt = await answerCheck(session, request).catch(requireHalt);
      return { runId: session.runId, halt: await closeCheck(session, halt) };
    });
  });
  const result = await showCheck(app.database, organisation.name, halted.runId);
  const exitCode = result.state === 'complete' ? 0 : halted.halt === null ? 3 : 4;
  return { result, exitCode };
}

async function noteQuestion(session: RunSession, question: CheckQuestion, request: ScreeningRequest): Promise<void> {
  const { app, organisation, run } = session;
  const { name, reason, askedBy } = question;
  await session.write(async (transaction) => {
    const ids = await ensureRequests(transaction, organisation.organisationId, [request]);
    const requestId = firstRow(ids, 'screening_request');
    const askedAt = app.clock.now();
    await insertCheck(transaction, run.runId, requestId, { name, reason: reason.trim(), askedBy, askedAt });
  });
}

/** Stage: searches for the name and stores the outcome. Throws RunHalted when the search cannot be made or finished. */
async function answerCheck(session: RunSession, request: ScreeningRequest): Promise<null> {
  const { app, run, organisation } = session;
  const client = app.client();
  const limited = limitWait(app.clock, session.signal, longestWaitMs);
  const keys = recordKeys(session, client);
  try {
    const { account, paid } = await beginPaidPart({ ...session, signal: limited.signal });
    const outcome = await searchUnplanned(paid, client, request, 'the search');
    const endedAt = app.clock.now();
    const search = { runId: run.runId, ordinal: 1 };
    await session.write(async (transaction) => {
      if (outcome.kind === 'failed') return finishSearch(transaction, search, { reason: outcome.reason }, endedAt);
      const { responseId, matchSet } = await saveAnswer(transaction, organisation, outcome.answer, endedAt);
      const listCap = await readListCap(transaction, account.accountId);
      const verdict = toPartyState(treatAsTruncated(matchSet, listCap), []);
      await finishSearch(transaction, search, { responseId, verdict }, endedAt);
    });
    return null;
  } finally {
    limited.clear();
    await keys.close();
  }
}

/** Gives the account of the key and a session that may spend what the budget leaves to single checks; throws RunHalted when it leaves nothing. */
async function beginPaidPart(session: RunSession): Promise<{ account: Account; paid: RunSession }> {
  const { app, organisation, signal } = session;
  const account = await identifyAccount(app, organisation, app.client(), signal);
  requireBudget(app, account.isTest ? 'test' : 'live');
  await session.write((transaction) => noteAccount(transaction, session, account.accountId));
  const watched = await watchLedger(session, account.accountId, Number.POSITIVE_INFINITY);
  if (watched.affordable < 1) throw watched.toHalt();
  return { account, paid: watched.session };
}

async function closeCheck(session: RunSession, halted: RunHalted | null): Promise<RunHalted | null> {
  const { app, run, runId } = session;
  const { state, reasons } = await session.write((transaction) =>
    endCheck(transaction, run.runId, halted, app.clock.now()),
  );
  app.emit({ kind: 'run_finished', runId, runKind: run.kind, state, reasons });
  return halted;
}

/** A signal that also aborts with RunHalted `outage` after `waitMs`, because a person waits for the answer. */
function limitWait(clock: Clock, signal: AbortSignal, waitMs: number): { signal: AbortSignal; clear: () => void } {
  const limit = new AbortController();
  const timer = new AbortController();
  clock.sleep(waitMs, timer.signal).then(
    () =>
      limit.abort(new RunHalted('outage', `the service gave no answer within ${Math.round(waitMs / 1_000)} seconds`)),
    () => undefined,
  );
  return { signal: AbortSignal.any([signal, limit.signal]), clear: () => timer.abort() };
}

/**
 * Does `work` under the first free lease of several, so that as many checks run at once. If none is free it waits for the last one and throws
 * RunLockedError with its holder. The lease of a dead process is free once it has expired.
 */
async function withFreeLease<T>(
  app: AppContext,
  leaseKeys: readonly string[],
  signal: AbortSignal,
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const { database, owner } = app;
  for (const key of leaseKeys) {
    const answer = await tryAcquireLease(database, key, owner, leaseTtlMs);
    if (!('acquired' in answer)) continue;
    return underLease(database, answer.acquired, signal, work);
  }
  return withLease(app, leaseKeys.at(-1) ?? '', signal, work);
}

/** The name to search for, the reason, and the person who asks. */
export interface CheckQuestion extends ScreeningRequest {
  reason: string;
  /** The user name of the operating system. */
  askedBy: string;
}

const maxNameLength = 500;
const maxReasonLength = 2_000;

/** Gives the request of a question; throws ConfigError with all its problems. */
export function toCheckedRequest({ type, name, reason }: CheckQuestion): ScreeningRequest {
  const problems: ConfigProblem[] = [];
  const refuse = (where: string, message: string): void => {
    problems.push({ where, path: '', message });
  };
  if (!/[\p{L}\p{N}]/u.test(name)) refuse('name', 'has no letter or digit');
  if ([...name].length > maxNameLength) refuse('name', `is longer than ${maxNameLength} characters`);
  if (/[\p{Cc}\ufffd]/u.test(name)) refuse('name', 'holds a control character or a damaged one (U+FFFD)');
  if (reason.trim() === '')
    refuse('flag --reason', 'is empty; give the reason for this check, which is stored as evidence');
  if (reason.length > maxReasonLength) refuse('flag --reason', `is longer than ${maxReasonLength} characters`);
  if (problems.length > 0) throw new ConfigError(problems);
  return toScreeningRequest({ role: 'customer', type, name, birthDate: null, countries: [] });
}

/** A single check and its evidence. Without a valid and reliable answer the verdict is `not_screened`. */
export type CheckResult = NonNullable<Awaited<ReturnType<typeof describeCheck>>>;

/** Gives an organisation's check by the name of its run; throws ConfigError for any other run. */
export const showCheck = (database: Database, organisation: string, text: string): Promise<CheckResult> =>
  describeRunAs(database, organisation, text, { what: 'a single check', describe: describeCheck });

/** The check of a run; null for other runs. */
export async function describeCheck(database: Queryable, run: RunRow) {
  const check = await readCheck(database, run.runId);
  if (check === null) return null;
  const { outcome, outcomeReason: _, responseId, verdict, ...question } = check;
  const matchSets = await readMatchSets(database, responseId === null ? [] : [responseId]);
  return {
    ...question,
    /** An answer that control searches do not support shows a hit, and nothing else. */
    verdict: run.state === 'complete' || verdict === 'open_alert' ? verdict : ('not_screened' as const),
    runId: toRunId(run),
    state: run.state,
    mode: run.mode,
    keyFingerprints: run.keys,
    notAnsweredBecause: outcome === 'answered' ? [] : run.stateReasons,
    /** Why the run is not complete: no valid answer, or no control search that supports it. */
    reasons: run.stateReasons,
    /** From the control searches of other runs, because a check makes none itself. */
    controls: await assessControls(database, run.accountId, check.endedAt ?? check.askedAt),
    answer: responseId === null ? null : (matchSets.get(responseId) ?? null),
    attempts: run.sums?.counts.attempts ?? 0,
  };
}

/**
 * Closes the run of a check: complete with a valid answer and no doubts, else incomplete. A check is never resumed. `failure` is the reason for
 * a missing answer.
 */
async function endCheck(
  transaction: Queryable,
  runId: number,
  failure: { code: string; message: string } | null,
  finishedAt: Date,
): Promise<{ state: RunState; reasons: readonly string[] }> {
  const check = await readCheck(transaction, runId);
  if (failure && check?.outcome === 'in_progress') {
    await finishSearch(transaction, { runId, ordinal: 1 }, { reason: failure.code }, finishedAt);
  }
  const responseIds = check?.responseId ? [check.responseId] : [];
  const sums = await addUpSearches(transaction, runId, { made: 1, responseIds });
  const reasons =
    check && responseIds.length > 0
      ? await findDoubts(transaction, runId, check)
      : [failure?.message ?? `the service gave no valid answer: ${check?.outcomeReason ?? 'unknown'}`];
  const state = reasons.length === 0 ? 'complete' : 'incomplete';
  await closeRun(transaction, runId, { state, stateReasons: reasons, stage: 'finished', finishedAt, sums });
  return { state, reasons };
}

/**
 * An answer without a hit is not reliable if the last control searches have failed; with a live key it is reliable only if recent ones have
 * passed.
 */
async function findDoubts(
  transaction: Queryable,
  runId: number,
  { verdict, endedAt }: { verdict: string; endedAt: Date | null },
): Promise<readonly string[]> {
  const run = await readRun(transaction, runId);
  if (run === null || verdict === 'open_alert') return [];
  const controls = await assessControls(transaction, run.accountId, endedAt ?? run.startedAt);
  if (controls.verdict === 'hold' || (run.mode === 'test' && controls.verdict !== 'failed')) return [];
  return [`no proof that the service finds listed parties: control searches: ${describeControls(controls)}`];
}

const failure = { code: 'interrupted', message: 'its process ended before an answer was stored; run the check again' };

/** Closes the single checks whose processes have died, so that none stays `running`; their open searches count as possibly billed. */
export async function closeDeadChecks({ database, clock, owner, settings }: AppContext): Promise<void> {
  const { organisation } = settings;
  for (const { runId, leaseKey } of await findDeadChecks(database, organisation)) {
    // Its lease keeps all others from writing the run: its own process, if it wakes up, and another one that closes it.
    const answer = await tryAcquireLease(database, leaseKey, owner, leaseTtlMs);
    if (!('acquired' in answer)) continue;
    const lease = answer.acquired;
    await database.transaction(async (transaction) => {
      await assertLease(transaction, lease);
      const isStillOpen = (await findDeadChecks(transaction, organisation, leaseKey)).some(
        (check) => check.runId === runId,
      );
      if (!isStillOpen) return;
      // A check is never resumed, so it has one process.
      await markInFlightUnknown(transaction, runId);
      await endCheck(transaction, runId, failure, clock.now());
    });
    await releaseLease(database, lease);
  }
}

const holdForMs = 24 * 60 * 60 * 1_000;

/** Assesses the last control searches of other runs on the account before an answer; `hold` if they passed within the last day. */
async function assessControls(database: Queryable, accountId: number | null, answeredAt: Date) {
  const last = accountId === null ? null : await readLastControls(database, accountId, answeredAt);
  const run = last && (await readRun(database, last.runId));
  if (!last || !run) return { verdict: 'never' as const, runId: null, askedAt: null };
  const { askedAt, hasPassed, isConclusive } = last;
  const isOld = answeredAt.getTime() - askedAt.getTime() > holdForMs;
  const verdict = !hasPassed ? 'failed' : !isConclusive ? 'one_sided' : isOld ? 'too_old' : 'hold';
  return { verdict, runId: toRunId(run), askedAt } as const;
}
