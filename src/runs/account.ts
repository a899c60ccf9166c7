import type { Client } from '../client/client.js';
import { toKeyMode } from '../client/credentials.js';
import { systemClock } from '../clock.js';
import { ConfigError, type ConfigProblem, ConnectionError, NightscreenError, ResponseError } from '../errors.js';
import { isHalting, isTransient } from '../screening/screen.js';
import type { Transaction } from '../store/database/database.js';
import { openSharedRate } from '../store/night/account-pace.js';
import { type Account, ensureAccount, hasAccountAt, type Organisation } from '../store/organisations.js';
import { noteRunKey, setRunAccount } from '../store/runs.js';
import type { RunMode } from '../vocabulary.js';
import type { AppContext, RunSettings } from './app-context.js';
import { RunHalted, toAccountHalt, toSignalHalt } from './halt.js';
import type { RunSession } from './session.js';

/**
 * Asks whose key it is before the first billable call, and stores the account with its mode (interface: API keys). From then on the client
 * shares the account's rate with all processes on the same server. Throws ConfigError when
 * the mode is not the configured one, and RunHalted when the key is rejected or the service is out of reach (`outage`). Where nobody at the
 * address has ever answered like the service (`address`), waiting would be useless.
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
      const message = `service.baseUrl has never answered like the service, so the run does not wait: ${error.message}; check the address with nightscreen doctor`;
      throw new RunHalted('address', message, error);
    }
    throw toHalt(error, signal);
  });
  const account = await ensureAccount(database, organisationId, { ...identity, baseUrl }, clock.now());
  // The embedded database has one process only. A clock of a test's own is not that of the server.
  const isShared = database.dialect === 'postgres' && clock === systemClock;
  if (isShared) client.shareRate(openSharedRate(database, account.accountId));
  return account;
}

const isNobodyThere = (error: unknown): error is ConnectionError | ResponseError =>
  error instanceof ConnectionError || (error instanceof ResponseError && error.isStandIn);

/** The mode by the settings or the prefix of the key; null when only the service knows it. */
export function findSaidMode({ client, settings }: Pick<AppContext, 'client' | 'settings'>): RunMode | null {
  if (settings.service.mode !== undefined) return settings.service.mode;
  const { keyMode } = client();
  return keyMode === 'unknown' ? null : keyMode;
}

/** The mode of a run before the service answers: live unless settings or key name another. */
export const toAssumedMode = (app: Pick<AppContext, 'client' | 'settings'>): RunMode => findSaidMode(app) ?? 'live';

/** The mode of an import, which needs no key: test without one, live with a key of unknown prefix. */
export function toImportMode({ settings, secret }: Pick<AppContext, 'settings' | 'secret'>): RunMode {
  const key = secret('NIGHTSCREEN_API_KEY');
  if (settings.service.mode !== undefined) return settings.service.mode;
  return key === undefined || toKeyMode(key) === 'test' ? 'test' : 'live';
}

/** Stores the account and the key of a run; `run.mode` becomes the mode of the account. */
export async function noteAccount(
  transaction: Transaction,
  { run, app }: RunSession,
  accountId: number | null,
): Promise<void> {
  run.mode = await setRunAccount(transaction, run.runId, accountId);
  await noteRunKey(transaction, run.runId, app.client().keyFingerprint);
}

/** Converts the error of a call: a stop request, a rejected key and an outage become RunHalted; other errors are returned as they are. */
export function toHalt(error: unknown, signal: AbortSignal): unknown {
  if (error instanceof RunHalted) return error;
  if (signal.aborted) return toSignalHalt(signal);
  if (isHalting(error)) return toAccountHalt(error);
  if (error instanceof NightscreenError && isTransient(error)) {
    return new RunHalted('outage', `the service is out of reach: ${error.message}`, error);
  }
  return error;
}

/**
 * The settings that a live key needs before it may search: a monthly cap, a price, and consent to the embedded database when it is used.
 */
export function findLiveProblems(
  { budget }: Pick<RunSettings, 'budget'>,
  usesRefusedEmbedded: boolean,
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
    miss('budget.pricePerSearch', 'is 0: searches by a live key are billed, and a plan shows their cost');
  }
  if (usesRefusedEmbedded) {
    const message =
      'is false: a live key makes no search with the embedded database, which is one disk of one host without a replica. Set DATABASE_URL, or set it to true';
    miss('database.acceptEmbedded', message);
  }
  return problems;
}

/**
 * Throws ConfigError when searches cost money and the settings do not limit the cost or accept the embedded database. A test key needs
 * neither.
 */
export function requireBudget(
  { settings, database, acceptsEmbedded }: Pick<AppContext, 'settings' | 'database' | 'acceptsEmbedded'>,
  mode: RunMode,
): void {
  if (mode !== 'live') return;
  const problems = findLiveProblems(settings, database.dialect === 'embedded' && acceptsEmbedded === false);
  if (problems.length > 0) throw new ConfigError(problems);
}
