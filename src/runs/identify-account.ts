import type { Client } from '../client/create-client.js';
import { NightscreenError } from '../errors.js';
import { isHalting, isTransient } from '../screening/screen.js';
import { type Account, ensureAccount, type Organisation } from '../store/organisations.js';
import { RunHalted, toAccountHalt, toSignalHalt } from './run-halted.js';
import type { Workplace } from './workplace.js';

/**
 * Asks the service whose key this is and in which mode, before the first billable call (interface: API keys). Throws ConfigError
 * when the mode is not the one agreed on, RunHalted when the key is rejected or the service is out of reach.
 */
export async function identifyAccount(
  workplace: Workplace,
  organisation: Organisation,
  client: Client,
  signal: AbortSignal,
): Promise<Account> {
  const identity = await client.identify({ signal }).catch((error: unknown) => {
    throw toHalt(error, signal);
  });
  return ensureAccount(
    workplace.database,
    organisation.organisationId,
    { ...identity, baseUrl: workplace.settings.service.baseUrl ?? '' },
    workplace.clock.now(),
  );
}

/** The mode of a key as its prefix says, for as long as the service has not: without a word for test it is taken as live. */
export const toAssumedMode = (client: Client): 'test' | 'live' => (client.keyMode === 'test' ? 'test' : 'live');

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
