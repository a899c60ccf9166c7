import type { Clock } from '../../clock.js';
import { ConfigError, type ConfigProblem } from '../../errors.js';
import { type MatchSet, type PartyState, toMatchSet, toPartyState, treatAsTruncated } from '../../matches/match.js';
import { type ScreeningRequest, toScreeningRequest } from '../../roster/customer.js';
import { ensureRequests, readLastControls } from '../../store/canaries.js';
import { findDeadChecks, finishCheck, insertCheck, readCheck } from '../../store/checks.js';
import { type Database, firstRow, type Queryable, requireFound } from '../../store/database/database.js';
import { assertLease, releaseLease, tryAcquireLease } from '../../store/leases.js';
import { markInFlightUnknown } from '../../store/ledger.js';
import type { Account } from '../../store/organisations.js';
import { readListCap, readMatchSets, saveResponses } from '../../store/responses.js';
import { computeRunSums, type RunSums } from '../../store/run-sums.js';
import { closeRun, type RunRow, readRun, readRunKeys, toRunId } from '../../store/runs.js';
import type { RunMode, RunState } from '../../vocabulary.js';
import { identifyAccount, noteAccount, requireBudget, toAssumedMode } from '../account.js';
import type { AppContext } from '../app-context.js';
import { RunHalted } from '../halt.js';
import { findRun } from '../run-reference.js';
import { digestAnswer } from '../screening/commit.js';
import { findTightest, hasCaps, toBudgetHalt, watchLedger } from '../screening/plan.js';
import { searchUnplanned } from '../screening/search-task.js';
import {
  type HeldLease,
  leaseTtlMs,
  openOrganisation,
  type RunSession,
  recordKeys,
  underLease,
  withLease,
  withRun,
} from '../session.js';

const mostAtOnce = 8;
const longestWaitMs = 120_000;

/**
 * Asks the service about one name, in a run of its own with full evidence: question, reason, who asked, ledger, answer. Eight at a time may
 * be made beside each other and beside everything else. Gives the check, and the exit code of the command: 0 answered, 3 not answered validly or
 * with nothing that vouches for it, 4 not asked to the end. Throws ConfigError before anything is spent.
 */
export async function runCheck(app: AppContext, question: Question, signal: AbortSignal) {
  const request = toCheckedRequest(question);
  const client = app.client();
  const mode = toAssumedMode(app);
  if (client.keyMode === 'live') requireBudget(app, 'live');
  const organisation = await openOrganisation(app);
  await closeDeadChecks(app);
  const leaseKeys = Array.from({ length: mostAtOnce }, (_, slot) => `check/${organisation.name}/${slot + 1}`);
  const halted = await withFreeLease(app, leaseKeys, signal, (held) => {
    const run = { organisation, kind: 'check', rosterId: null, roster: null, mode, selection: null } as const;
    return withRun(app, held, run, async (session) => {
      await noteQuestion(session, question, request);
      const halt = await answerCheck(session, request).catch((error: unknown) => {
        if (error instanceof RunHalted) return error;
        throw error;
      });
      return { runId: session.runId, halt: await closeCheck(session, halt) };
    });
  });
  const result = await showCheck(app.database, halted.runId);
  const exitCode = result.state === 'complete' ? 0 : halted.halt === null ? 3 : 4;
  return { result, exitCode };
}

async function noteQuestion(session: RunSession, question: Question, request: ScreeningRequest): Promise<void> {
  const { app, organisation, run } = session;
  const { name, reason, askedBy } = question;
  await session.write(async (transaction) => {
    const ids = await ensureRequests(transaction, organisation.organisationId, [request]);
    const requestId = firstRow(ids, 'screening_request');
    const askedAt = app.clock.now();
    await insertCheck(transaction, run.runId, requestId, { name, reason: reason.trim(), askedBy, askedAt });
  });
}

/** The paid part; what came of it is stored. Throws RunHalted when the service could not be asked, or not to the end. */
async function answerCheck(session: RunSession, request: ScreeningRequest): Promise<null> {
  const { app, run } = session;
  const client = app.client();
  const limited = limitWait(app.clock, session.signal, longestWaitMs);
  const keys = recordKeys(session, client);
  try {
    const { account, paid } = await beginPaidPart({ ...session, signal: limited.signal });
    const outcome = await searchUnplanned(paid, client, request, 'the search');
    const endedAt = app.clock.now();
    if (outcome.kind === 'failed') {
      const { reason } = outcome;
      await session.write((transaction) => finishCheck(transaction, run.runId, { reason }, endedAt));
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
  const { app, organisation, signal } = session;
  const account = await identifyAccount(app, organisation, app.client(), signal);
  requireBudget(app, account.isTest ? 'test' : 'live');
  await session.write((transaction) => noteAccount(transaction, session, account.accountId));
  if (!hasCaps(app.settings)) return { account, paid: session };
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
    const verdict = toPartyState(treatAsTruncated(matchSet, listCap), []);
    await finishCheck(transaction, session.run.runId, { responseId, verdict }, endedAt);
  });
}

/** Closes the run; gives why it had to stop early, or null. */
async function closeCheck(session: RunSession, halted: RunHalted | null): Promise<RunHalted | null> {
  const { app, run, runId } = session;
  const { state, reasons } = await session.write((transaction) =>
    endCheck(transaction, run.runId, halted, app.clock.now()),
  );
  app.emit({ kind: 'run_finished', runId, runKind: run.kind, state, reasons });
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

/** Whom to ask about, why, and who asks. */
export interface Question extends ScreeningRequest {
  reason: string;
  /** The person at the keyboard, as the machine knows them. */
  askedBy: string;
}

const maxNameLength = 500;
const maxReasonLength = 2_000;

/** What is sent for a question; throws ConfigError with everything that is wrong with it. */
export function toCheckedRequest({ type, name, reason }: Question): ScreeningRequest {
  const problems: ConfigProblem[] = [];
  const refuse = (where: string, message: string): void => {
    problems.push({ where, path: '', message });
  };
  if (!/[\p{L}\p{N}]/u.test(name)) refuse('name', 'has no letter or digit');
  if ([...name].length > maxNameLength) refuse('name', `is longer than ${maxNameLength} characters`);
  if (/[\p{Cc}\ufffd]/u.test(name)) refuse('name', 'holds a control character or a damaged one (U+FFFD)');
  if (reason.trim() === '')
    refuse('flag --reason', 'is empty: say why this name is asked about; it is kept as evidence');
  if (reason.length > maxReasonLength) refuse('flag --reason', `is longer than ${maxReasonLength} characters`);
  if (problems.length > 0) throw new ConfigError(problems);
  return toScreeningRequest({ role: 'customer', type, name, birthDate: null, countries: [] });
}

/** A single check and its evidence. `not_screened` is its verdict unless the service gave a valid answer. */
export interface CheckResult {
  runId: string;
  state: RunState;
  verdict: PartyState | 'not_screened';
  type: 'person' | 'entity';
  name: string;
  /** The name as it was sent. */
  sentName: string;
  reason: string;
  askedBy: string;
  askedAt: Date;
  endedAt: Date | null;
  mode: RunMode;
  keyFingerprints: readonly string[];
  /** Why there is no valid answer; empty where there is one. */
  notAnsweredBecause: readonly string[];
  /** Why the run is not complete: no valid answer, or one that no control search vouches for. */
  reasons: readonly string[];
  /** A check asks no control search itself: what those of other runs say. */
  controls: ControlStatus;
  /** Keyed digest (hex) of the answer as received. */
  responseDigest: string | null;
  /** In rank order. */
  answer: MatchSet | null;
  attempts: number;
}

/** A check as it is stored; throws ConfigError when no check of this name was made. */
export async function showCheck(database: Database, text: string): Promise<CheckResult> {
  const run = await findRun(database, text);
  const check = await describeCheck(database, run);
  if (check !== null) return check;
  const message = `${toRunId(run)} asked about nobody alone; \`nightscreen runs show\` reports about it`;
  throw new ConfigError([{ where: 'run', path: '', message }]);
}

/** The check that a run was, or null when it was none. */
export async function describeCheck(database: Queryable, run: RunRow): Promise<CheckResult | null> {
  const check = await readCheck(database, run.runId);
  if (check === null) return null;
  const { outcome, outcomeReason: _, responseId, ...question } = check;
  const matchSets = await readMatchSets(database, responseId === null ? [] : [responseId]);
  return {
    ...question,
    runId: toRunId(run),
    state: run.state,
    mode: run.mode,
    keyFingerprints: await readRunKeys(database, run.runId),
    notAnsweredBecause: outcome === 'answered' ? [] : run.stateReasons,
    reasons: run.stateReasons,
    controls: await assessControls(database, run.accountId, check.endedAt ?? check.askedAt),
    answer: responseId === null ? null : (matchSets.get(responseId) ?? null),
    attempts: run.sums?.counts.attempts ?? 0,
  };
}

/**
 * Closes the run of a check: complete with a valid answer that nothing throws doubt on, else incomplete. A check is asked again rather than
 * resumed. `failure` is why it came to no answer.
 */
async function endCheck(
  transaction: Queryable,
  runId: number,
  failure: { code: string; message: string } | null,
  finishedAt: Date,
): Promise<{ state: RunState; reasons: readonly string[] }> {
  const check = await readCheck(transaction, runId);
  if (failure && check?.outcome === 'in_progress') {
    await finishCheck(transaction, runId, { reason: failure.code }, finishedAt);
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

/** With a live key no hit says little unless control searches have shown lately that the service finds whom it must find. */
async function findDoubts(
  transaction: Queryable,
  runId: number,
  { verdict, endedAt }: { verdict: string; endedAt: Date | null },
): Promise<readonly string[]> {
  const run = await readRun(transaction, runId);
  if (run?.mode !== 'live' || verdict === 'open_hit') return [];
  const controls = await assessControls(transaction, run.accountId, endedAt ?? run.startedAt);
  if (controls.verdict === 'hold') return [];
  return [
    `nothing shows that the service would have found a listed party: control searches: ${describeControls(controls)}`,
  ];
}

const failure = { code: 'interrupted', message: 'its process ended before an answer was kept; ask again' };

/** Closes the single checks whose processes have died, so that none stays `running`; what they had sent counts as perhaps billed. */
export async function closeDeadChecks({ database, clock, owner }: AppContext): Promise<void> {
  for (const { runId, leaseKey } of await findDeadChecks(database)) {
    // Under its lease nobody else writes the run: neither its own process, should it wake up, nor another one that closes it.
    const answer = await tryAcquireLease(database, leaseKey, owner, leaseTtlMs);
    if (!('acquired' in answer)) continue;
    const lease = answer.acquired;
    await database.transaction(async (transaction) => {
      await assertLease(transaction, lease);
      const isStillOpen = (await findDeadChecks(transaction, leaseKey)).some((check) => check.runId === runId);
      if (!isStillOpen) return;
      await markInFlightUnknown(transaction, runId);
      await endCheck(transaction, runId, failure, clock.now());
    });
    await releaseLease(database, lease);
  }
}

const holdForMs = 24 * 60 * 60 * 1_000;

/** What control searches of other runs say about a service that was asked without any: `hold` when they passed within the last day. */
interface ControlStatus {
  verdict: 'hold' | 'failed' | 'one_sided' | 'too_old' | 'never';
  /** The run that asked them last, and when; null before the first. */
  runId: string | null;
  askedAt: Date | null;
}

/** What the last control searches on the account before this moment say about an answer that came then. */
async function assessControls(database: Queryable, accountId: number | null, answeredAt: Date): Promise<ControlStatus> {
  const last = accountId === null ? null : await readLastControls(database, accountId, answeredAt);
  const run = last && (await readRun(database, last.runId));
  if (!last || !run) return { verdict: 'never', runId: null, askedAt: null };
  const { askedAt, hasPassed, isConclusive } = last;
  const isOld = answeredAt.getTime() - askedAt.getTime() > holdForMs;
  const verdict = !hasPassed ? 'failed' : !isConclusive ? 'one_sided' : isOld ? 'too_old' : 'hold';
  return { verdict, runId: toRunId(run), askedAt };
}

const words: Readonly<Record<ControlStatus['verdict'], string>> = {
  hold: 'none with this check; the last ones on this account passed',
  failed: 'NONE with this check, and the last ones on this account FAILED',
  one_sided: 'NONE with this check, and the last ones on this account did not expect both a match and nothing',
  too_old: 'NONE with this check, and the last ones on this account are more than a day old',
  never: 'NONE: no control search was ever made on this account',
};

/** The status in words, with run and time. */
export function describeControls({ verdict, runId, askedAt }: ControlStatus): string {
  return askedAt === null ? words[verdict] : `${words[verdict]} (${runId}, ${askedAt.toISOString()})`;
}

/** The sums of a run that asked about no customer: its calls, its searches, and what their answers held. */
export async function addUpSearches(
  transaction: Queryable,
  runId: number,
  searches: { made: number; responseIds: readonly number[] },
): Promise<RunSums> {
  const sums = await computeRunSums(transaction, runId);
  const matchSets = await readMatchSets(transaction, searches.responseIds);
  const matches = searches.responseIds.flatMap((responseId) => matchSets.get(responseId)?.matches ?? []);
  const hits = matches.filter((match) => match.isHit).length;
  return { ...sums, counts: { ...sums.counts, searches: searches.made, matches: matches.length, hits } };
}
