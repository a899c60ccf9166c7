import { formatDay, formatTime, toVisibleText } from '../reports/text.js';
import type { MailMessage } from './mail-message.js';
import { toHtml, toText } from './message-body.js';
import { digestMessageId } from './message-id.js';
import type { MailSettings } from './settings.js';

/** An incident to be told of: that it was found, that there is more of it, or that it is over. */
export interface Alarm {
  telling: 'begun' | 'again' | 'over';
  /** As `retail: did not run`. */
  title: string;
  /** Without personal data. */
  reason: string;
  openedAt: Date;
  at: Date;
  /** What to type. */
  actions: readonly string[];
  /** Of the watchdog. */
  host?: string;
  /** The organisation whose customers are screened. */
  installation?: string;
}

const closings: Readonly<Record<Alarm['telling'], string>> = {
  begun: 'The watchdog sends this once, and once more when it is over. It holds no personal data.',
  again:
    'The watchdog has told of this before, and tells it again because something of it is new. It holds no personal data.',
  over: 'This says that the alarm is over, not that nothing was missed meanwhile: see nightscreen coverage. It holds no personal data.',
};

/** The message that tells one recipient of an incident; `key` tells tellings apart, and the same key and recipient have the same Message-ID. */
export function buildAlarmMessage(
  { telling, title, reason, openedAt, at, actions, host, installation }: Alarm,
  key: readonly string[],
  recipient: string,
  settings: Pick<MailSettings, 'from'>,
): MailMessage {
  const what = toVisibleText(title);
  const level = telling === 'over' ? 'RECOVERED' : 'ALARM';
  const was = telling === 'over' ? 'What it was: ' : '';
  const lines = {
    headline: `${level}: ${what}`,
    sentences: [toVisibleText(`${was}${reason}`)],
    actions: actions.map(toVisibleText),
    facts: [
      ['Since', formatTime(openedAt)],
      [telling === 'over' ? 'Over' : 'Looked at', formatTime(at)],
      ...(installation === undefined ? [] : [['Installation', toVisibleText(installation)] as const]),
      ...(host === undefined ? [] : [['Watchdog on', host] as const]),
    ] as const,
    closing: closings[telling],
  };
  return {
    messageId: digestMessageId(['alarm', ...key, recipient.toLowerCase()], settings.from),
    from: settings.from,
    to: recipient,
    subject: `[${level}] ${what} - ${formatDay(at)}`,
    date: at,
    text: toText(lines),
    html: toHtml(lines),
    attachments: [],
  };
}
