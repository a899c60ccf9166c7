import { randomUUID } from 'node:crypto';
import type { Config } from '../config/load-config.js';
import { ConfigError } from '../errors.js';
import { isSafeUrl } from '../loopback.js';
import { type FailedWork, limitSending } from '../runs/mail/queue.js';
import { tellStates } from '../runs/status.js';
import { readOrganisation } from '../store/organisations.js';
import { countWaiting, maySendWebhooks } from '../store/webhooks.js';
import { webhookPatienceMs } from '../webhooks/messages.js';
import { describeError } from './describe-error.js';
import { toErrorExitCode } from './exit-code.js';
import type { Invocation } from './invocation.js';
import { loadInvocationConfig } from './session.js';
import type { OpenWorkplace } from './workplace.js';

/** The address to ping for the watchdog; null where none is configured. Throws ConfigError when its variable is not set or holds no safe URL. */
export function findPingAddress({ settings, secret, originOf }: Config): string | null {
  const urlEnv = settings.pings.watchdog?.urlEnv;
  if (urlEnv === undefined) return null;
  const path = 'pings.watchdog.urlEnv';
  const address = secret(urlEnv);
  const refuse = (message: string): ConfigError =>
    new ConfigError([{ where: originOf(['pings', 'watchdog', 'urlEnv']), path, message }]);
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
 * Does a look of the watchdog, and pings its monitor before and after it, where one is configured: a success only with exit code 0.
 * A ping that is not taken goes to `complain`, and changes nothing.
 */
export async function withPings<Result extends { exitCode: number; text: string }>(
  config: Config,
  { complain, signal }: PingListener,
  act: () => Promise<Result>,
): Promise<Result> {
  const address = findPingAddress(config);
  if (address === null) return act();
  const { sendPing } = await import('../webhooks/ping.js');
  const runUuid = randomUUID();
  const tell = async (kind: 'start' | 'success' | 'failure', body: string): Promise<void> => {
    const { timeoutMs } = config.settings.pings;
    // A hair longer, so that it is told as what it is.
    const limit = limitSending(timeoutMs + 1_000, signal);
    const trouble = await sendPing(address, { kind, runUuid, body }, timeoutMs, limit.signal);
    limit.clear();
    if (trouble !== null) complain(`the monitor of the watchdog could not be told (${kind}): ${trouble}`);
  };
  await tell('start', 'nightscreen watchdog');
  let result: Result;
  try {
    result = await act();
  } catch (error) {
    await tell('failure', `nightscreen watchdog\nexit code ${toErrorExitCode(error)}\n${describeError(error).code}`);
    throw error;
  }
  const { exitCode, text } = result;
  await tell(
    exitCode === 0 ? 'success' : 'failure',
    ['nightscreen watchdog', `exit code ${exitCode}`, text.trimEnd()].join('\n'),
  );
  return result;
}

/** Mails that work failed without the outbox, because there is none before the database is open; that it cannot be mailed is said on standard error. */
export async function mailDirectly(invocation: Invocation, failed: FailedWork): Promise<void> {
  try {
    const { settings, secret } = loadInvocationConfig(invocation);
    if (!settings.mail) return;
    const { deliver } = await import('../mail/delivery.js');
    const { allowLastWords } = await import('../runs/mail/queue.js');
    const { buildFailureMails } = await import('../runs/mail/deliver.js');
    const mails = buildFailureMails(failed, settings.mail, new Date());
    const results = await deliver(mails, settings.mail, secret('SMTP_URL'), allowLastWords(invocation.signal));
    const [lost] = results.filter(({ kind }) => kind !== 'accepted');
    if (lost) throw new Error(lost.said);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const message = `that ${failed.task} did not run could not be mailed: ${reason}`;
    invocation.notify({ level: 'warn', code: 'mail_not_sent', message });
  }
}

/**
 * Tells webhooks at once what decisions have made of customers' states, because a blocked account may wait for it; for as long as one answer
 * may take. What cannot be told from here is said on standard error and waits, for the decisions are stored whatever becomes of this. A login
 * with the documented rights of a reviewer sends nothing itself, which is no fault.
 */
export async function tellDecidedStates(
  workplace: OpenWorkplace,
  { notify, signal }: Pick<Invocation, 'notify' | 'signal'>,
): Promise<void> {
  if ((workplace.settings.webhooks ?? []).length === 0) return;
  const say = (what: string, level: 'info' | 'warn' = 'warn'): void =>
    notify({
      level,
      code: 'webhook_waits',
      message: `${what}; they wait for the next run, the job mail of nightscreen schedule, or nightscreen status send`,
    });
  try {
    if (!(await maySendWebhooks(workplace.database))) {
      const { organisationId } = await readOrganisation(workplace.database, workplace.settings.organisation);
      const waiting = await countWaiting(workplace.database, organisationId);
      if (waiting > 0)
        say('the decisions are stored; this login does not send changes of state to webhooks itself', 'info');
      return;
    }
    const { waiting } = await tellStates(workplace, AbortSignal.any([signal, AbortSignal.timeout(webhookPatienceMs)]));
    if (waiting > 0) say('the decisions are stored, but not all changes of state could be told to webhooks');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    say(`the decisions are stored, but changes of state cannot be told to webhooks from here (${reason})`);
  }
}
