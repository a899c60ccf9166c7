import { hostname } from 'node:os';
import { type Alarm, buildAlarmMessage } from '../../mail/build-alarm.js';
import { listRecipients, type MailOccasion } from '../../mail/recipients.js';
import { toGiveUpAt } from '../../runs/mail/queue.js';
import type { Workplace } from '../../runs/workplace.js';
import type { Queryable } from '../../store/database/database.js';
import type { Incident } from '../../store/incidents.js';
import { queueOutbox } from '../../store/outbox.js';
import { describeIncident } from './describe-incident.js';

/** How the keys of alarms in the outbox begin. */
export const alarmKeyPrefix = 'alarm/';

/** What is told of incidents that have one cause, in one mail. */
export interface AlarmToQueue extends Pick<Alarm, 'telling' | 'actions'> {
  incidents: readonly Incident[];
  /** Who is told of one of these is not told of the others. */
  toldBefore?: readonly Incident[];
}

/** Queues the mail of an alarm, in the transaction that notes it as told; where no mail is configured it does nothing. */
export async function queueAlarm(
  { settings: { mail, organisation }, clock }: Pick<Workplace, 'settings' | 'clock'>,
  transaction: Queryable,
  organisationId: number,
  { incidents, telling, actions, toldBefore = [] }: AlarmToQueue,
): Promise<void> {
  const [first] = incidents;
  if (!mail || !first) return;
  const at = clock.now();
  const { incidentId, timesTold, openedAt } = first;
  const key = [String(incidentId), telling === 'over' ? 'over' : String(timesTold), openedAt.toISOString()];
  const alarm: Alarm = {
    telling,
    title: describeIncident({ ...first, subject: incidents.map(({ subject }) => subject).join(', ') }),
    reason: incidents.map(({ reason }) => reason).join('; '),
    openedAt,
    at,
    actions,
    host: hostname(),
    installation: organisation,
  };
  const listAddresses = (some: readonly Incident[]): ReadonlySet<string> =>
    new Set(some.flatMap(({ roster }) => listRecipients(mail, toOccasion(roster)).map(({ address }) => address)));
  const known = listAddresses(toldBefore);
  const entries = [...listAddresses(incidents)]
    .filter((address) => !known.has(address))
    .map((address) => {
      const message = buildAlarmMessage(alarm, key, address, mail);
      const { to: destination, messageId } = message;
      const what = { organisationId, runId: null, kind: 'mail_failure', destination } as const;
      const times = { queuedAt: at, giveUpAt: toGiveUpAt(mail, at) };
      return { ...what, dedupKey: `${alarmKeyPrefix}${messageId}`, content: message, messageId, ...times };
    });
  await queueOutbox(transaction, entries);
}

const toOccasion = (roster: string | null): MailOccasion => ({ kind: 'failure', roster, level: 'red', severities: [] });
