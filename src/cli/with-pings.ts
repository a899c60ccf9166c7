import { randomUUID } from 'node:crypto';
import type { Config } from '../config/load-config.js';
import { ConfigError } from '../errors.js';
import { isSafeUrl } from '../loopback.js';
import { limitSending } from '../runs/mail/queue.js';
import type { PingedWork } from '../webhooks/ping-settings.js';
import { describeError } from './describe-error.js';
import { toErrorExitCode } from './exit-code.js';

/** How work ended that is pinged for. */
export interface PingedEnd {
  exitCode: number;
  /** Without personal data. */
  lines: readonly string[];
}

/** The address to ping for some work; null where none is configured. Throws ConfigError when its variable is not set or holds no safe URL. */
export function findPingAddress({ settings, secret, originOf }: Config, work: PingedWork): string | null {
  const urlEnv = settings.pings[work]?.urlEnv;
  if (urlEnv === undefined) return null;
  const path = `pings.${work}.urlEnv`;
  const address = secret(urlEnv);
  const refuse = (message: string): ConfigError =>
    new ConfigError([{ where: originOf(['pings', work, 'urlEnv']), path, message }]);
  if (address === undefined) throw refuse(`names ${urlEnv}, which is not set (nor is ${urlEnv}_FILE)`);
  if (!URL.canParse(address) || !isSafeUrl(new URL(address))) {
    throw refuse(`names ${urlEnv}, which must hold a URL with https:// (http:// is allowed to this machine only)`);
  }
  return address;
}

/** Who hears of pings: `complain` of those that were not taken; once `signal` is aborted each has a moment only. */
export interface PingListener {
  complain: (message: string) => void;
  signal: AbortSignal;
}

/**
 * Does work, and tells its monitor that it began and how it ended, where one is configured: a success only with exit code 0. A ping that is
 * not taken is told to `complain`, and changes nothing.
 */
export async function withPings<Result>(
  config: Config,
  work: PingedWork,
  { complain, signal }: PingListener,
  act: () => Promise<Result>,
  toEnd: (result: Result) => PingedEnd,
): Promise<Result> {
  const address = findPingAddress(config, work);
  if (address === null) return act();
  const { sendPing } = await import('../webhooks/send-ping.js');
  const runUuid = randomUUID();
  const tell = async (kind: 'start' | 'success' | 'failure', body: string): Promise<void> => {
    const { timeoutMs } = config.settings.pings;
    // A hair longer, so that it is told as what it is.
    const limit = limitSending(timeoutMs + 1_000, signal);
    const trouble = await sendPing(address, { kind, runUuid, body }, timeoutMs, limit.signal);
    limit.clear();
    if (trouble !== null) complain(`the monitor of ${work} could not be told (${kind}): ${trouble}`);
  };
  await tell('start', `nightscreen ${work}`);
  let result: Result;
  try {
    result = await act();
  } catch (error) {
    await tell('failure', `nightscreen ${work}\nexit code ${toErrorExitCode(error)}\n${describeError(error).code}`);
    throw error;
  }
  const { exitCode, lines } = toEnd(result);
  await tell(
    exitCode === 0 ? 'success' : 'failure',
    [`nightscreen ${work}`, `exit code ${exitCode}`, ...lines].join('\n'),
  );
  return result;
}
