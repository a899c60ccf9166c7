import { formatDay, formatTime, toVisibleText } from '../reports/text.js';
import type { MailMessage } from './mail-message.js';
import { toHtml, toText } from './message-body.js';
import { digestMessageId } from './message-id.js';
import type { MailSettings } from './settings.js';

/** Something that went wrong without any report that tells of it. */
export interface Failure {
  /** What was to be done, as `rescreen`. */
  task: string;
  /** Null for what concerns every roster. */
  roster: string | null;
  /** What became of it, as `did not run`. */
  outcome: string;
  /** Without personal data. */
  reason: string;
  at: Date;
  /** What to type to see more, or to mend it. */
  actions: readonly string[];
}

const mostInSubject = 90;

/** The message that tells one recipient of a failure; `key` tells incidents apart, and the same key and recipient have the same Message-ID. */
export function buildFailureMessage(
  { task, roster, outcome, reason, at, actions }: Failure,
  key: readonly string[],
  recipient: string,
  settings: Pick<MailSettings, 'from'>,
): MailMessage {
  const what = toVisibleText(`${task}${roster === null ? '' : ` of ${roster}`} ${outcome}`);
  const [first = ''] = reason.split('\n');
  const lines = {
    headline: `RED: ${what}`,
    sentences: reason.split('\n').map(toVisibleText),
    details: actions.map(toVisibleText),
    facts: [
      ['Roster', toVisibleText(roster ?? 'all')],
      ['When', formatTime(at)],
    ] as const,
    closing: 'This message is sent once a day for the same reason. It holds no personal data.',
  };
  return {
    messageId: digestMessageId(['failure', ...key, recipient.toLowerCase()], settings.from),
    from: settings.from,
    to: recipient,
    subject: `[RED] ${what}: ${shorten(toVisibleText(first))} - ${formatDay(at)}`,
    date: at,
    text: toText(lines),
    html: toHtml(lines),
    attachments: [],
  };
}

const shorten = (text: string): string =>
  text.length <= mostInSubject ? text : `${text.slice(0, mostInSubject - 1)}…`;
