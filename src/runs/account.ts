import type { Client } from '../client/client.js';
import { toKeyMode } from '../client/credentials.js';
import { ConfigError, type ConfigProblem, ConnectionError, NightscreenError, ResponseError } from '../errors.js';
import { isHalting, isTransient } from '../screening/screen.js';
import type { Transaction } from '../store/database/database.js';
import { type Account, ensureAccount, hasAccountAt, type Organisation } from '../store/organisations.js';
import { noteRunKey, setRunAccount } from '../store/runs.js';
import type { RunMode } from '../vocabulary.js';
import { RunHalted, toAccountHalt, toSignalHalt } from './halt.js';
import type { RunSession } from './session.js';
import type { RunSettings, Workplace } from './workplace.js';

/**
 * Asks the service whose key this is and in which mode, before the first billable call (interface: API keys). Throws ConfigError
 * when the mode is not the one agreed on, RunHalted when the key is rejected, the service is out of reach (`outage`), or nothing that
 * answers like it is at an address where it never was before (`address`), which no waiting can mend.
 */
export async function identifyAccount(
  workplace: Workplace,
  organisation: Organisation,
  client: Client,
  signal: AbortSignal,
): Promise<Account> {
  const { database, clock, settings } = workplace;
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
export function findSaidMode({ client, settings }: Pick<Workplace, 'client' | 'settings'>): RunMode | null {
  if (settings.service.mode !== undefined) return settings.service.mode;
  const { keyMode } = client();
  return keyMode === 'unknown' ? null : keyMode;
}

/** The mode of a run that begins before the service was asked: live where nothing says otherwise. The service's answer replaces it. */
export const toAssumedMode = (workplace: Pick<Workplace, 'client' | 'settings'>): RunMode =>
  findSaidMode(workplace) ?? 'live';

/** The mode that a roster is judged by before any call is made, where there may be no key at all. */
export function toImportMode({ settings, secret }: Pick<Workplace, 'settings' | 'secret'>): RunMode {
  const key = secret('NIGHTSCREEN_API_KEY');
  if (settings.service.mode !== undefined) return settings.service.mode;
  return key === undefined || toKeyMode(key) === 'test' ? 'test' : 'live';
}

/** Notes whose account a run works under; from then on the run has the mode that the service says, whatever the key looked like. */
export async function noteAccount(
  transaction: Transaction,
  { run, workplace }: RunSession,
  accountId: number | null,
): Promise<void> {
  run.mode = await setRunAccount(transaction, run.runId, accountId);
  await noteRunKey(transaction, run.runId, workplace.client().keyFingerprint, workplace.clock.now());
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

/** What a budget lacks before a live key may search: a cap for the month and a price. */
export function findBudgetProblems({ budget }: Pick<RunSettings, 'budget'>): readonly ConfigProblem[] {
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
    miss('budget.pricePerSearch', 'is 0: searches by a live key are billed, and a plan is told in money');
  }
  return problems;
}

/** What a live key says where the database is the embedded one and nobody has accepted that. */
export const embeddedProblem: ConfigProblem = {
  where: 'settings',
  path: 'database.acceptEmbedded',
  message:
    'is false: a live key makes no search with the embedded database, which is one disk of one host without a replica; set DATABASE_URL, or set it to true',
};

/**
 * Throws ConfigError when searches would cost money and nobody has said how much may be spent, or that the embedded database is good enough
 * to keep what they find; a test key needs neither.
 */
export function requireBudget(
  { settings, database, acceptsEmbedded }: Pick<Workplace, 'settings' | 'database' | 'acceptsEmbedded'>,
  mode: RunMode,
): void {
  if (mode !== 'live') return;
  const isRefused = database.dialect === 'embedded' && acceptsEmbedded === false;
  const problems = [...findBudgetProblems(settings), ...(isRefused ? [embeddedProblem] : [])];
  if (problems.length > 0) throw new ConfigError(problems);
}
