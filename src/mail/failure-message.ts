import { formatDay, formatTime, toVisibleText } from '../reports/text.js';
import { digestMessageId, type MailMessage, toBody } from './message.js';
import type { MailSettings } from './settings.js';

/** Something that went wrong without any report that reports it. */
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

/** The message that informs one recipient of a failure; `key` distinguishes incidents, and the same key and recipient have the same Message-ID. */
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
    ...toBody(lines),
    attachments: [],
  };
}

const shorten = (text: string): string =>
  text.length <= mostInSubject ? text : `${text.slice(0, mostInSubject - 1)}…`;

/** An incident to be notified of: that it was found, that there is more of it, or that it is over. */
export interface Alarm {
  phase: 'begun' | 'again' | 'over';
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

const closings: Readonly<Record<Alarm['phase'], string>> = {
  begun: 'The watchdog sends this once, and once more when it is over. It holds no personal data.',
  again:
    'The watchdog has reported this before, and reports it again because something of it is new. It holds no personal data.',
  over: 'This says that the alarm is over, not that nothing was missed meanwhile: see nightscreen coverage. It holds no personal data.',
};

/** The message that informs one recipient of an incident; `key` distinguishes messages, and the same key and recipient have the same Message-ID. */
export function buildAlarmMessage(
  { phase, title, reason, openedAt, at, actions, host, installation }: Alarm,
  key: readonly string[],
  recipient: string,
  settings: Pick<MailSettings, 'from'>,
): MailMessage {
  const what = toVisibleText(title);
  const level = phase === 'over' ? 'RECOVERED' : 'ALARM';
  const was = phase === 'over' ? 'What it was: ' : '';
  const lines = {
    headline: `${level}: ${what}`,
    sentences: [toVisibleText(`${was}${reason}`)],
    actions: actions.map(toVisibleText),
    facts: [
      ['Since', formatTime(openedAt)],
      [phase === 'over' ? 'Over' : 'Looked at', formatTime(at)],
      ...(installation === undefined ? [] : [['Installation', toVisibleText(installation)] as const]),
      ...(host === undefined ? [] : [['Watchdog on', host] as const]),
    ] as const,
    closing: closings[phase],
  };
  return {
    messageId: digestMessageId(['alarm', ...key, recipient.toLowerCase()], settings.from),
    from: settings.from,
    to: recipient,
    subject: `[${level}] ${what} - ${formatDay(at)}`,
    date: at,
    ...toBody(lines),
    attachments: [],
  };
}
