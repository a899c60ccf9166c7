import type { Client } from '../client/client.js';
import { toKeyMode } from '../client/credentials.js';
import { followSignals } from '../client/signals.js';
import { ConfigError, type ConfigProblem, ConnectionError, NightscreenError, ResponseError } from '../errors.js';
import { isHalting, isTransient } from '../screening/screen.js';
import type { Transaction } from '../store/database/database.js';
import {
  type Account,
  ensureAccount,
  findLastAccount,
  hasAccountAt,
  type Organisation,
} from '../store/organisations.js';
import { noteRunKey, setRunAccount } from '../store/runs.js';
import type { RunMode } from '../vocabulary.js';
import type { AppContext, RunSettings } from './app-context.js';
import { OtherAccount, RunHalted, requireHalt, toAccountHalt, toSignalHalt } from './halt.js';
import type { RosterScope } from './roster-scope.js';
import { retryUntilDeadline, type WaitPolicy } from './screening/outages.js';
import type { RunSession } from './session.js';

/**
 * Asks the service whose key this is and in which mode, before the first billable call (interface: API keys). Throws ConfigError
 * when the mode is not the one agreed on, RunHalted when the key is rejected, the service is out of reach (`outage`), or nothing that
 * answers like it is at an address where it never was before (`address`), which no waiting can mend.
 */
export async function identifyAccount(
  app: AppContext,
  organisation: Organisation,
  client: Client,
  signal: AbortSignal,
): Promise<Account> {
  const { database, clock, settings } = app;
  const { organisationId } = organisation;
  const { baseUrl = '' } = settings.service;
  const identity = await client.identify({ signal }).catch(async (error: unknown) => {
    if (!signal.aborted && isNobodyThere(error) && !(await hasAccountAt(database, organisationId, baseUrl))) {
      const message = `nothing at service.baseUrl has ever answered like the service, so nobody waits for it: ${error.message}; check the address with nightscreen doctor`;
      throw new RunHalted('address', message, error);
    }
    throw toHalt(error, signal);
  });
  return ensureAccount(database, organisationId, { ...identity, baseUrl }, clock.now());
}

const isNobodyThere = (error: unknown): error is ConnectionError | ResponseError =>
  error instanceof ConnectionError || (error instanceof ResponseError && error.isStandIn);

/** The mode that the settings or the prefix of the key say; null where neither does, and only the service knows it. */
export function findSaidMode({ client, settings }: Pick<AppContext, 'client' | 'settings'>): RunMode | null {
  if (settings.service.mode !== undefined) return settings.service.mode;
  const { keyMode } = client();
  return keyMode === 'unknown' ? null : keyMode;
}

/** The mode of a run that begins before the service was asked: live where nothing says otherwise. The service's answer replaces it. */
export const toAssumedMode = (app: Pick<AppContext, 'client' | 'settings'>): RunMode => findSaidMode(app) ?? 'live';

/** The mode that a roster is judged by before any call is made, where there may be no key at all. */
export function toImportMode({ settings, secret }: Pick<AppContext, 'settings' | 'secret'>): RunMode {
  const key = secret('NIGHTSCREEN_API_KEY');
  if (settings.service.mode !== undefined) return settings.service.mode;
  return key === undefined || toKeyMode(key) === 'test' ? 'test' : 'live';
}

/** Notes whose account a run works under; from then on the run has the mode that the service says, whatever the key looked like. */
export async function noteAccount(
  transaction: Transaction,
  { run, app }: RunSession,
  accountId: number | null,
): Promise<void> {
  run.mode = await setRunAccount(transaction, run.runId, accountId);
  await noteRunKey(transaction, run.runId, app.client().keyFingerprint, app.clock.now());
}

/** What a failed call means for a run: rejected key and outage stop it, resumable; anything else is thrown as it came. */
export function toHalt(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof RunHalted) return error;
  if (signal.aborted) return toSignalHalt(signal);
  if (isHalting(error)) return toAccountHalt(error);
  if (error instanceof NightscreenError && isTransient(error)) {
    return new RunHalted('outage', `the service is out of reach: ${error.message}`, error);
  }
  return error;
}

/** What the settings lack before a live key may search: a cap for the month, a price, and consent to the embedded database where it is used. */
export function findLiveProblems(
  { budget }: Pick<RunSettings, 'budget'>,
  isEmbeddedRefused: boolean,
): readonly ConfigProblem[] {
  const { maxSearchesPerMonth, pricePerSearch } = budget;
  const problems: ConfigProblem[] = [];
  const miss = (path: string, message: string): void => {
    problems.push({ where: 'settings', path, message });
  };
  if (maxSearchesPerMonth === undefined) {
    miss('budget.maxSearchesPerMonth', 'is missing: a live key makes no search without a cap for the month');
  }
  if (pricePerSearch === undefined) {
    miss('budget.pricePerSearch', 'is missing: a live key makes no search without the price of one');
  } else if (pricePerSearch === 0) {
    miss('budget.pricePerSearch', 'is 0: searches by a live key are billed, and a plan states a price');
  }
  if (isEmbeddedRefused) {
    const message =
      'is false: a live key makes no search with the embedded database, which is one disk of one host without a replica; set DATABASE_URL, or set it to true';
    miss('database.acceptEmbedded', message);
  }
  return problems;
}

/**
 * Throws ConfigError when searches would cost money and nobody has said how much may be spent, or that the embedded database is good enough
 * to keep what they find; a test key needs neither.
 */
export function requireBudget(
  { settings, database, acceptsEmbedded }: Pick<AppContext, 'settings' | 'database' | 'acceptsEmbedded'>,
  mode: RunMode,
): void {
  if (mode !== 'live') return;
  const problems = findLiveProblems(settings, database.dialect === 'embedded' && acceptsEmbedded === false);
  if (problems.length > 0) throw new ConfigError(problems);
}

/** Whose key this is, as far as the service could be asked. */
export interface KnownAccount {
  /** As the service says, else as the settings or the key say; null where nothing says it. */
  mode: RunMode | null;
  /** The account, or why it is not known. */
  account: Account | RunHalted;
  /** Whose screenings count in the plan: the account's, or while it is not known those of the one last used in this mode. */
  plannedFor: Account | null;
}

/** Asks whose key this is, unless `found` says it; where the service cannot be asked, the run begins with what is known. */
export async function findKnownAccount(
  app: AppContext,
  scope: RosterScope,
  client: Client,
  { outage, signal }: Pick<WaitPolicy, 'outage' | 'signal'>,
  found: Account | null,
): Promise<KnownAccount> {
  if (found) return toKnownAccount(found);
  const either = followSignals(signal, [outage.signal]);
  const account = await identifyAccount(app, scope.organisation, client, either.signal)
    .catch(requireHalt)
    .finally(either.clear);
  if (!(account instanceof RunHalted)) {
    requireBudget(app, account.isTest ? 'test' : 'live');
    return toKnownAccount(account);
  }
  const mode = findSaidMode(app);
  return { mode, account, plannedFor: await findLastAccount(app.database, scope.rosterId, mode ?? undefined) };
}

const toKnownAccount = (account: Account): KnownAccount => ({
  mode: account.isTest ? 'test' : 'live',
  account,
  plannedFor: account,
});

/**
 * The account; waited for where the service could not be asked, and maybe another than the one that was planned for then. Throws OtherAccount
 * when something has been done by then, RunHalted when the account is refused.
 */
export async function awaitAccount(
  session: RunSession,
  client: Client,
  { known, plannedFor, isBegun }: { known: KnownAccount; plannedFor: number | null; isBegun: boolean },
  waitPolicy: WaitPolicy,
): Promise<Account> {
  const { account } = known;
  if (!(account instanceof RunHalted)) return account;
  if (account.code !== 'outage') throw account;
  const { value: found } = await retryUntilDeadline(waitPolicy, (signal) =>
    identifyAccount(session.app, session.organisation, client, signal),
  );
  requireBudget(session.app, found.isTest ? 'test' : 'live');
  if (found.accountId !== plannedFor && isBegun) throw new OtherAccount(found);
  return found;
}
