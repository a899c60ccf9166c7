import type { Clock } from '../../clock.js';
import { toPartyState } from '../../matches/customer-state.js';
import type { MatchSet } from '../../matches/match.js';
import { toMatchSet } from '../../matches/to-match-set.js';
import { treatAsCut } from '../../matches/treat-as-cut.js';
import type { ScreeningRequest } from '../../roster/screening-request.js';
import { ensureRequests } from '../../store/canaries.js';
import { type CheckOutcome, finishCheck, insertCheck } from '../../store/checks.js';
import { firstRow, requireFound } from '../../store/database/database.js';
import { tryAcquireLease } from '../../store/leases.js';
import type { Account } from '../../store/organisations.js';
import { readListCap, saveResponses } from '../../store/responses.js';
import { digestAnswer } from '../ledger/digest-answer.js';
import { searchBesidePlan } from '../ledger/search-beside-plan.js';
import { hasCaps } from '../planning/read-budget.js';
import { requireBudget } from '../planning/require-budget.js';
import { findTightest, toBudgetHalt, watchLedger } from '../planning/watch-ledger.js';
import { identifyAccount, noteAccount, toAssumedMode } from '../session/identify-account.js';
import { leaseTtlMs } from '../session/keep-lease.js';
import { recordKeys } from '../session/record-keys.js';
import { RunHalted } from '../session/run-halted.js';
import { openOrganisation, type RunSession, withLease, withRun } from '../session/run-session.js';
import { type HeldLease, underLease } from '../session/under-lease.js';
import type { Workplace } from '../workplace.js';
import { type Question, toCheckedRequest } from './check-question.js';
import { type CheckResult, showCheck } from './check-result.js';
import { closeDeadChecks } from './close-dead-checks.js';
import { endCheck } from './end-check.js';

const mostAtOnce = 8;
const longestWaitMs = 120_000;

/**
 * A check and the exit code of the command that made it: 0 answered, 3 not answered validly or with nothing that vouches for it, 4 not
 * asked to the end.
 */
interface CheckEnd {
  result: CheckResult;
  exitCode: 0 | 3 | 4;
}

/**
 * Asks the service about one name, in a run of its own with full evidence: question, reason, who asked, ledger, answer. Eight at a time may
 * be made beside each other and beside everything else. Throws ConfigError before anything is spent.
 */
export async function runCheck(workplace: Workplace, question: Question, signal: AbortSignal): Promise<CheckEnd> {
  const request = toCheckedRequest(question);
  const client = workplace.client();
  const mode = toAssumedMode(workplace);
  if (client.keyMode === 'live') requireBudget(workplace, 'live');
  const organisation = await openOrganisation(workplace);
  await closeDeadChecks(workplace);
  const leaseKeys = Array.from({ length: mostAtOnce }, (_, slot) => `check/${organisation.name}/${slot + 1}`);
  const halted = await withFreeLease(workplace, leaseKeys, signal, (held) => {
    const run = { organisation, kind: 'check', rosterId: null, roster: null, mode, selection: null } as const;
    return withRun(workplace, held, run, async (session) => {
      await noteQuestion(session, question, request);
      const halt = await answerCheck(session, request).catch((error: unknown) => {
        if (error instanceof RunHalted) return error;
        throw error;
      });
      return { runId: session.runId, halt: await closeCheck(session, halt) };
    });
  });
  const result = await showCheck(workplace.database, halted.runId);
  const exitCode = result.state === 'complete' ? 0 : halted.halt === null ? 3 : 4;
  return { result, exitCode };
}

async function noteQuestion(session: RunSession, question: Question, request: ScreeningRequest): Promise<void> {
  const { workplace, organisation, run } = session;
  const { type, name, reason, askedBy } = question;
  await session.write(async (transaction) => {
    const ids = await ensureRequests(transaction, organisation.organisationId, [request]);
    const requestId = firstRow(ids, 'screening_request');
    const askedAt = workplace.clock.now();
    await insertCheck(transaction, run.runId, requestId, { type, name, reason: reason.trim(), askedBy, askedAt });
  });
}

/** The paid part; what came of it is stored. Throws RunHalted when the service could not be asked, or not to the end. */
async function answerCheck(session: RunSession, request: ScreeningRequest): Promise<null> {
  const { workplace, run } = session;
  const client = workplace.client();
  const limited = limitWait(workplace.clock, session.signal, longestWaitMs);
  const keys = recordKeys(session, client);
  try {
    const { account, paid } = await beginPaidPart({ ...session, signal: limited.signal });
    const outcome = await searchBesidePlan(paid, client, request, 'the search');
    const endedAt = workplace.clock.now();
    if (outcome.kind === 'failed') {
      const end: CheckOutcome = { kind: 'not_answered', reason: outcome.reason, endedAt };
      await session.write((transaction) => finishCheck(transaction, run.runId, end));
      return null;
    }
    await saveAnswer(session, account, { body: outcome.body, matchSet: toMatchSet(outcome.answer) }, endedAt);
    return null;
  } finally {
    limited.clear();
    await keys.close();
  }
}

/** Whose key this is, and a session that may spend what the budget leaves to single checks; throws RunHalted when that is nothing. */
async function beginPaidPart(session: RunSession): Promise<{ account: Account; paid: RunSession }> {
  const { workplace, organisation, signal } = session;
  const account = await identifyAccount(workplace, organisation, workplace.client(), signal);
  requireBudget(workplace, account.isTest ? 'test' : 'live');
  await session.write((transaction) => noteAccount(transaction, session, account.accountId));
  if (!hasCaps(workplace.settings)) return { account, paid: session };
  const watched = await watchLedger(session, account.accountId, Number.POSITIVE_INFINITY);
  if (watched.affordable < 1) throw toBudgetHalt(findTightest(watched.limits));
  return { account, paid: watched.session };
}

async function saveAnswer(
  session: RunSession,
  account: Account,
  { body, matchSet }: { body: string; matchSet: MatchSet },
  endedAt: Date,
): Promise<void> {
  const { organisationId, digestKey } = session.organisation;
  const digest = digestAnswer(digestKey, body);
  await session.write(async (transaction) => {
    const ids = await saveResponses(transaction, organisationId, [{ digest, body, matchSet }], endedAt);
    const responseId = requireFound(ids, digest, 'response');
    const listCap = await readListCap(transaction, account.accountId);
    const verdict = toPartyState(treatAsCut(matchSet, listCap), []);
    await finishCheck(transaction, session.run.runId, { kind: 'answered', responseId, verdict, endedAt });
  });
}

/** Closes the run; gives why it had to stop early, or null. */
async function closeCheck(session: RunSession, halted: RunHalted | null): Promise<RunHalted | null> {
  const { workplace, run, runId } = session;
  const { state, reasons } = await session.write((transaction) =>
    endCheck(transaction, run.runId, halted, workplace.clock.now()),
  );
  workplace.tell({ kind: 'run_finished', runId, runKind: run.kind, state, reasons });
  return halted;
}

/** A signal that also ends with RunHalted `outage` once nothing has come of the work for `waitMs`; somebody sits in front of it. */
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
 * Does `work` under the first of several leases that is free, so that as many may work side by side; when all are held, waits for the last
 * one and throws RunLockedError naming its holder. A lease that a process died with is used again once it has expired.
 */
async function withFreeLease<T>(
  workplace: Workplace,
  leaseKeys: readonly string[],
  signal: AbortSignal,
  work: (held: HeldLease) => Promise<T>,
): Promise<T> {
  const { database, owner } = workplace;
  for (const key of leaseKeys) {
    const answer = await tryAcquireLease(database, key, owner, leaseTtlMs);
    if (!('acquired' in answer)) continue;
    return underLease(database, answer.acquired, signal, work);
  }
  return withLease(workplace, leaseKeys.at(-1) ?? '', signal, work);
}
