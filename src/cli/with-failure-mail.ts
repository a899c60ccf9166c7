import type { FailedWork } from '../runs/mail/queue.js';
import type { Invocation } from './invocation.js';
import { loadInvocationConfig } from './session.js';

/**
 * Does `work`, which calls `noteOpen` once its database is open. When it fails before, that is mailed directly, because there is no outbox
 * to queue it in; not where somebody sits at the terminal and sees it.
 */
export async function withFailureMail<Result>(
  invocation: Invocation,
  task: string,
  work: (noteOpen: () => void) => Promise<Result>,
): Promise<Result> {
  let isOpen = false;
  try {
    return await work(() => {
      isOpen = true;
    });
  } catch (error) {
    if (!isOpen && !invocation.terminal.isScreen)
      await mailDirectly(invocation, { task, roster: null, error, signal: invocation.signal });
    throw error;
  }
}

/** Mails that work failed without the outbox; that it cannot be mailed is said on standard error. */
export async function mailDirectly(invocation: Invocation, failed: FailedWork): Promise<void> {
  try {
    const { settings, secret } = loadInvocationConfig(invocation);
    if (!settings.mail) return;
    const { deliver } = await import('../mail/deliver.js');
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
