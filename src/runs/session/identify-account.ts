import { toKeyMode } from '../../client/calls/api-key.js';
import type { Client } from '../../client/create-client.js';
import { ConnectionError, NightscreenError, ResponseError } from '../../errors.js';
import { isHalting, isTransient } from '../../screening/screen.js';
import type { Transaction } from '../../store/database/database.js';
import { type Account, ensureAccount, hasAccountAt, type Organisation } from '../../store/organisations.js';
import { noteRunKey, setRunAccount } from '../../store/runs.js';
import type { Workplace } from '../workplace.js';
import { RunHalted, toAccountHalt, toSignalHalt } from './run-halted.js';
import type { RunSession } from './run-session.js';

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
export function findSaidMode({ client, settings }: Pick<Workplace, 'client' | 'settings'>): 'test' | 'live' | null {
  if (settings.service.mode !== undefined) return settings.service.mode;
  const { keyMode } = client();
  return keyMode === 'unknown' ? null : keyMode;
}

/** The mode of a run that begins before the service was asked: live where nothing says otherwise. The service's answer replaces it. */
export const toAssumedMode = (workplace: Pick<Workplace, 'client' | 'settings'>): 'test' | 'live' =>
  findSaidMode(workplace) ?? 'live';

/** The mode that a roster is judged by before any call is made, where there may be no key at all. */
export function toImportMode({ settings, secret }: Pick<Workplace, 'settings' | 'secret'>): 'test' | 'live' {
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
