import { formatDay, formatTime, toVisibleText } from '../reports/text.js';
import { digestMessageId, type MailMessage, toBody } from './message.js';
import type { MailSettings } from './settings.js';

/** A failure that no report covers. */
export interface Failure {
  /** The task, as `rescreen`. */
  task: string;
  /** Null for a failure that concerns every roster. */
  roster: string | null;
  /** As `did not run`. */
  outcome: string;
  /** Without personal data. */
  reason: string;
  at: Date;
  /** What to type to see more, or to repair it. */
  actions: readonly string[];
}

const mostInSubject = 90;

/** The message to one recipient about a failure; `key` identifies the incident. The same key and recipient have the same Message-ID. */
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
    closing: 'This message is sent once a day for the same reason. It contains no personal data.',
  };
  return {
    messageId: digestMessageId(['failure', ...key, recipient.toLowerCase()], settings.from),
    from: settings.from,
    to: recipient,
    subject: `[RED] ${what}: ${shorten(toVisibleText(first))} - ${formatDay(at, 'UTC')}`,
    date: at,
    ...toBody(lines),
    attachments: [],
  };
}

const shorten = (text: string): string =>
  text.length <= mostInSubject ? text : `${text.slice(0, mostInSubject - 1)}…`;

/** News of an incident: it was found, something of it is new, or it is over. */
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
  /** The host of the watchdog. */
  host?: string;
  /** The organisation whose customers are screened. */
  installation?: string;
}

const closings: Readonly<Record<Alarm['phase'], string>> = {
  begun:
    'The watchdog sends this message once, and a last one when the incident is over. It contains no personal data.',
  again: 'The watchdog sends this message again because the incident has changed. It contains no personal data.',
  over: 'The incident is over. Some work may still be missing: see nightscreen coverage. This message contains no personal data.',
};

/** The message to one recipient about an incident; `key` identifies the news. The same key and recipient have the same Message-ID. */
export function buildAlarmMessage(
  { phase, title, reason, openedAt, at, actions, host, installation }: Alarm,
  key: readonly string[],
  recipient: string,
  settings: Pick<MailSettings, 'from'>,
): MailMessage {
  const what = toVisibleText(title);
  const level = phase === 'over' ? 'RECOVERED' : 'ALARM';
  const was = phase === 'over' ? 'Reason of the alarm: ' : '';
  const lines = {
    headline: `${level}: ${what}`,
    sentences: [toVisibleText(`${was}${reason}`)],
    actions: actions.map(toVisibleText),
    facts: [
      ['Since', formatTime(openedAt)],
      [phase === 'over' ? 'Over' : 'Checked', formatTime(at)],
      ...(installation === undefined ? [] : [['Installation', toVisibleText(installation)] as const]),
      ...(host === undefined ? [] : [['Watchdog on', host] as const]),
    ] as const,
    closing: closings[phase],
  };
  return {
    messageId: digestMessageId(['alarm', ...key, recipient.toLowerCase()], settings.from),
    from: settings.from,
    to: recipient,
    subject: `[${level}] ${what} - ${formatDay(at, 'UTC')}`,
    date: at,
    ...toBody(lines),
    attachments: [],
  };
}
