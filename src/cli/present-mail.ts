import type { Mail } from '../runs/mail/deliver.js';
import { exitCodes } from './exit-code.js';
import { formatTable } from './format-table.js';
import type { Outcome } from './invocation.js';

const formatMinute = (time: Date): string => `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** How a mail stands, in words. */
export function describeMailState(mail: Mail): string {
  const { id, state, attempts, nextAttemptAt, lastError, sentAt, dropped } = mail;
  const because = lastError === null ? '' : `: ${lastError}`;
  switch (state) {
    case 'sent':
      return `sent ${sentAt ? formatMinute(sentAt) : ''}, ${attempts.at(-1)?.said ?? ''}`;
    case 'queued': {
      const next = nextAttemptAt ? `, next attempt not before ${formatMinute(nextAttemptAt)}` : '';
      return attempts.length === 0 && lastError === null ? 'waits' : `waits${next}${because}`;
    }
    case 'dropped':
      return `put aside by ${dropped?.by ?? ''} on ${dropped ? formatMinute(dropped.at) : ''}: ${dropped?.reason ?? ''}`;
    case 'refused':
    case 'given_up': {
      const next = `nightscreen mail retry ${id} tries again, nightscreen mail drop ${id} puts it aside`;
      return `${state === 'refused' ? state : 'given up'} (${next})${because}`;
    }
  }
}

/** Mails and messages to webhooks one by one; 3 where one of them was not accepted and somebody has asked for that. */
export function presentMails(mails: readonly Mail[], { isTried }: { isTried: boolean }): Outcome {
  const isWell = mails.every(({ state }) => state === 'sent');
  const rows = mails.map((mail) => [
    mail.id,
    mail.recipient ?? 'the recipients of a report that is not written yet',
    mail.subject ?? (mail.kind === 'webhook' ? 'changes of state' : `run ${mail.run}`),
    describeMailState(mail),
  ]);
  return {
    exitCode: isTried && !isWell ? exitCodes.incomplete : exitCodes.complete,
    document: { schema: 'nightscreen/mail-list/1', mails },
    text: mails.length === 0 ? 'nothing waits\n' : formatTable([['mail', 'to', 'subject', 'state'], ...rows]),
  };
}
