import type { Client } from '../../client/create-client.js';
import { ConnectionError, NightscreenError, ResponseError } from '../../errors.js';
import { isHalting, isTransient } from '../../screening/screen.js';
import { type Account, ensureAccount, hasAccountAt, type Organisation } from '../../store/organisations.js';
import type { Workplace } from '../workplace.js';
import { RunHalted, toAccountHalt, toSignalHalt } from './run-halted.js';

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
