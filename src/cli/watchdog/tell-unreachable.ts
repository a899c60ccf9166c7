import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { type Alarm, buildAlarmMessage } from '../../mail/build-alarm.js';
import { deliver } from '../../mail/deliver.js';
import { listRecipients } from '../../mail/recipients.js';
import { limitSending } from '../../runs/mailing/last-words.js';
import type { PingListener } from '../with-pings.js';
import { readNote, removeNote, writeNote } from './unreachable-note.js';

/** No attempt takes longer than this. */
const attemptLimitMs = 5 * 60_000;
const title = 'watchdog: the database is out of reach';

/**
 * Mails directly that the database cannot be looked into, once until it can be again; whatever goes wrong with that is told to `complain`.
 * Gives since when it is so.
 */
export async function tellUnreachable(config: Config, reason: string, listener: PingListener): Promise<Date> {
  const { complain } = listener;
  const { noteFile } = config.settings.watchdog;
  const known = await readNote(noteFile);
  const at = systemClock.now();
  const since = known?.since ?? at;
  if (known?.told) return since;
  const told = await mail(
    config,
    { telling: 'begun', title, reason, openedAt: since, at, actions: begunActions },
    listener,
  );
  try {
    await writeNote(noteFile, { since, told });
  } catch (error) {
    complain(`${noteFile} (watchdog.noteFile) cannot be written, so this is told each time: ${toWords(error)}`);
  }
  return since;
}

const begunActions = [
  'See whether the database is up, and whether this host may reach it: nightscreen doctor',
  'Nobody knows whether the nights run as long as this lasts: look at the host that runs them',
];

/** Mails that the database can be looked into again, where it was told that it could not. */
export async function tellReachable(config: Config, listener: PingListener): Promise<void> {
  const { noteFile } = config.settings.watchdog;
  const known = await readNote(noteFile);
  if (known === null) return;
  const at = systemClock.now();
  const reason = 'the database could not be looked into';
  const actions = ['See how the rosters stand: nightscreen coverage'];
  const alarm: Alarm = { telling: 'over', title, reason, openedAt: known.since, at, actions };
  if (known.told && !(await mail(config, alarm, listener))) return;
  await removeNote(noteFile);
}

/** True once everybody has been told, or there is nobody to tell. */
async function mail(config: Config, alarm: Alarm, { complain, signal }: PingListener): Promise<boolean> {
  const { mail: settings } = config.settings;
  if (!settings) return true;
  const recipients = listRecipients(settings, { kind: 'failure', roster: null, level: 'red', severities: [] });
  const key = ['unreachable', alarm.telling, alarm.openedAt.toISOString()];
  const messages = recipients.map(({ address }) => buildAlarmMessage(alarm, key, address, settings));
  const limit = limitSending(attemptLimitMs, signal);
  try {
    const results = await deliver(messages, settings, config.secret('SMTP_URL'), limit.signal);
    const lost = results.filter(({ kind }) => kind !== 'accepted');
    for (const { said } of lost) complain(`that the database is out of reach could not be mailed: ${said}`);
    return lost.length < results.length || results.length === 0;
  } catch (error) {
    complain(`that the database is out of reach could not be mailed: ${toWords(error)}`);
    return false;
  } finally {
    limit.clear();
  }
}

const toWords = (error: unknown): string => (error instanceof Error ? error.message : String(error));
