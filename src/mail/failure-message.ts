import { formatDay, formatMinute, keep, replaceInstants, toSentence, toVisibleText } from '../reports/text.js';
import { type MailMessage, type MessageLines, nameOrganisation, toMessage } from './message.js';
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

/** The sender, the reviewers' time zone, in which a mail gives its times, and the organisation whose customers are screened. */
type MailFrame = Pick<MailSettings, 'from'> & { timezone: string; organisation: string };

/** Reasons come from logs and errors, where instants are in ISO 8601. */
const inZone = (text: string, timezone: string): string =>
  replaceInstants(text, (instant) => formatMinute(instant, timezone));

/** The message to one recipient about a failure; `key` identifies the incident. The same key and recipient have the same Message-ID. */
export function buildFailureMessage(
  { task, roster, outcome, reason, at, actions }: Failure,
  key: readonly string[],
  recipient: string,
  { from, timezone, organisation }: MailFrame,
): MailMessage {
  const reasons = inZone(reason, timezone).split('\n').map(toVisibleText);
  const what = toVisibleText(`${task}${roster === null ? '' : ` of ${roster}`} ${outcome}`);
  const [first = ''] = reasons;
  const lines = {
    headline: `RED: ${what}`,
    sentences: reasons.map(toSentence),
    details: [],
    actions,
    facts: keep<MessageLines['facts'][number]>(
      ['Roster', roster ?? 'all'],
      ['Organisation', organisation],
      ['When', formatMinute(at, timezone)],
      ['Times in', timezone],
    ),
    closing: 'This message is sent once a day for the same reason. It contains no personal data.',
  };
  const subject = `[RED] ${what}: ${shorten(first)} - ${formatPlace(at, { timezone, organisation })}`;
  return toMessage(['failure', ...key, ...toKey(organisation)], { from, to: recipient, subject, date: at }, lines);
}

/** The day, and the organisation where there can be several, whose recipients can be the same. */
const formatPlace = (at: Date, { timezone, organisation }: Omit<MailFrame, 'from'>): string =>
  [...toKey(organisation), formatDay(at, timezone)].join(', ');

const toKey = (organisation: string): readonly string[] =>
  [nameOrganisation(organisation)].filter((name) => name !== '');

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
}

const closings: Readonly<Record<Alarm['phase'], string>> = {
  begun:
    'The watchdog sends this message once, and a last one when the incident is over. It contains no personal data.',
  again: 'The watchdog sends this message again because the incident has changed. It contains no personal data.',
  over: 'The incident is over. Some work may still be missing: see nightscreen coverage. This message contains no personal data.',
};

/** The message to one recipient about an incident; `key` identifies the news. The same key and recipient have the same Message-ID. */
export function buildAlarmMessage(
  { phase, title, reason, openedAt, at, actions, host }: Alarm,
  key: readonly string[],
  recipient: string,
  { from, timezone, organisation }: MailFrame,
): MailMessage {
  const what = toVisibleText(inZone(title, timezone));
  const level = phase === 'over' ? 'RECOVERED' : 'ALARM';
  const was = phase === 'over' ? 'Reason of the alarm: ' : '';
  const lines = {
    headline: `${level}: ${what}`,
    sentences: [toSentence(`${was}${inZone(reason, timezone)}`)],
    details: [],
    actions,
    facts: keep<MessageLines['facts'][number]>(
      ['Since', formatMinute(openedAt, timezone)],
      [phase === 'over' ? 'Over' : 'Checked', formatMinute(at, timezone)],
      ['Times in', timezone],
      ['Organisation', organisation],
      host !== undefined && ['Watchdog on', host],
    ),
    closing: closings[phase],
  };
  const subject = `[${level}] ${what} - ${formatPlace(at, { timezone, organisation })}`;
  return toMessage(['alarm', ...key, ...toKey(organisation)], { from, to: recipient, subject, date: at }, lines);
}
