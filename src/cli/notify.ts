import { chooseConfig } from '../config/load-config.js';
import { flagError, readMessage } from '../errors.js';
import type { FailedWork } from '../runs/mail/failures.js';
import type { OpenAppContext } from './app-context.js';
import type { Invocation } from './invocation.js';
import { loadInvocationConfigs } from './session.js';

/** Mails a failure without the outbox, which needs an open database; reports a mail that cannot be sent. */
export async function mailDirectly(invocation: Invocation, failed: FailedWork): Promise<void> {
  try {
    const { organisation } = invocation.options;
    const configs = loadInvocationConfigs(invocation);
    const isOfAll = organisation === undefined && configs.length > 1;
    const concerned = isOfAll ? configs : [chooseConfig(configs, organisation)];
    // The message for the terminal names the other organisations, too.
    const error = isOfAll ? flagError('--organisation', 'is missing, so the command ran for none') : failed.error;
    const { allowLastWords } = await import('../runs/mail/deliver.js');
    const { buildFailureMails, sendDirectly } = await import('../runs/mail/failures.js');
    const sending = concerned.map((config) => {
      const { mail } = config.settings;
      const mails = mail ? buildFailureMails({ ...failed, error }, { ...config.settings, mail }, new Date()) : [];
      return sendDirectly(config, mails, allowLastWords(invocation.signal));
    });
    const [said] = (await Promise.all(sending)).flat();
    if (said !== undefined) throw new Error(said);
  } catch (error) {
    const message = `the failure of ${failed.task} could not be mailed: ${readMessage(error)}`;
    invocation.notify({ level: 'warn', code: 'mail_not_sent', message });
  }
}

/**
 * Sends changes of state to webhooks right after decisions, because a blocked account may wait for them; it waits as
 * long as one answer may take. Unsent changes are reported on standard error and stay queued; the dispositions are
 * stored in any case. A login with a reviewer's documented rights cannot send them, which is no failure.
 */
export async function notifyDecidedStates(
  app: OpenAppContext,
  { notify, signal }: Pick<Invocation, 'notify' | 'signal'>,
): Promise<void> {
  if ((app.settings.webhooks ?? []).length === 0) return;
  const say = (what: string, level: 'info' | 'warn' = 'warn'): void =>
    notify({
      level,
      code: 'webhook_waits',
      message: `${what}; the next run, the job mail of nightscreen schedule, or nightscreen outbox retry sends them`,
    });
  const { notifyStates } = await import('../runs/status.js');
  const { readReviewOrganisation } = await import('../store/organisations.js');
  const { countWaiting, maySendWebhooks } = await import('../store/customers/webhooks.js');
  const { webhookWaitMs } = await import('../webhooks/messages.js');
  try {
    if (!(await maySendWebhooks(app.database))) {
      const { organisationId } = await readReviewOrganisation(app.database, app.settings.organisation);
      const waiting = await countWaiting(app.database, organisationId);
      if (waiting > 0)
        say('the dispositions are stored; this login does not send changes of state to webhooks itself', 'info');
      return;
    }
    const { waiting } = await notifyStates(app, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(webhookWaitMs)]),
    });
    if (waiting > 0) say('the dispositions are stored, but not all changes of state could be sent to webhooks');
  } catch (error) {
    say(
      `the dispositions are stored, but changes of state cannot be sent to webhooks from here (${readMessage(error)})`,
    );
  }
}
