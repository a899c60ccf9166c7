import { type Alarm, buildAlarmMessage } from '../../mail/build-alarm.js';
import { listRecipients } from '../../mail/recipients.js';
import { toGiveUpAt } from '../../runs/mailing/mail-times.js';
import type { Workplace } from '../../runs/workplace.js';
import type { Queryable } from '../../store/database.js';
import type { Incident } from '../../store/incidents.js';
import { queueOutbox } from '../../store/outbox.js';
import { describeIncident } from './describe-incident.js';

/** How the keys of alarms in the outbox begin. */
export const alarmKeyPrefix = 'alarm/';

/** What is told of an incident. */
export interface AlarmToQueue extends Pick<Alarm, 'telling' | 'actions'> {
  incident: Incident;
}

/** Queues the mail of an alarm, in the transaction that notes it as told; where no mail is configured it does nothing. */
export async function queueAlarm(
  { settings: { mail }, clock }: Pick<Workplace, 'settings' | 'clock'>,
  transaction: Queryable,
  organisationId: number,
  { incident, telling, actions }: AlarmToQueue,
): Promise<void> {
  if (!mail) return;
  const at = clock.now();
  const { incidentId, roster, timesTold, reason, openedAt } = incident;
  const key = [String(incidentId), telling === 'over' ? 'over' : String(timesTold), openedAt.toISOString()];
  const alarm: Alarm = { telling, title: describeIncident(incident), reason, openedAt, at, actions };
  const recipients = listRecipients(mail, { kind: 'failure', roster, level: 'red', severities: [] });
  const entries = recipients.map(({ address }) => {
    const message = buildAlarmMessage(alarm, key, address, mail);
    const { to: destination, messageId } = message;
    const what = { organisationId, runId: null, kind: 'mail_failure', destination } as const;
    const times = { queuedAt: at, giveUpAt: toGiveUpAt(mail, at) };
    return { ...what, dedupKey: `${alarmKeyPrefix}${messageId}`, content: message, messageId, ...times };
  });
  await queueOutbox(transaction, entries);
}
