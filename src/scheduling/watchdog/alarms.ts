import { hostname } from 'node:os';
import { type Alarm, buildAlarmMessage } from '../../mail/failure-message.js';
import { listRecipients, type MailOccasion } from '../../mail/recipients.js';
import { toGiveUpAt } from '../../runs/mail/queue.js';
import { openOrganisation } from '../../runs/session.js';
import type { Workplace } from '../../runs/workplace.js';
import type { Queryable } from '../../store/database/database.js';
import {
  closeIncident,
  holdIncidents,
  type Incident,
  noteToldAgain,
  openIncident,
  readOpenIncidents,
} from '../../store/incidents.js';
import { queueOutbox } from '../../store/outbox.js';
import { describeIncident, type Finding, findSame } from './findings.js';

/** What one look tells: the incidents that it has told of, and what it has closed. */
interface Telling {
  told: ReadonlySet<number>;
  over: readonly Incident[];
  dropped: readonly Incident[];
}

/** What was found at a moment, and when a job or a night was last begun. */
interface Found {
  findings: readonly Finding[];
  now: Date;
  lastBegunAt: Date;
  findWatching: (incident: Incident) => Watching;
}

/** Starts that are missing within this span have one cause; what is missing for longer says nothing about them. */
const oneCauseMs = 24 * 3_600_000;

const isMissedStart = ({ kind }: Pick<Incident, 'kind'>): boolean => kind === 'did_not_run';

/** Notes what is new and queues its mail, in one transaction. Starts that are missing because one scheduler is gone are one mail. */
export async function tellNews(workplace: Workplace, found: Found): Promise<Telling> {
  const { organisationId } = await openOrganisation(workplace);
  const { findings, now, findWatching } = found;
  return workplace.database.transaction(async (transaction) => {
    await holdIncidents(transaction, organisationId);
    const open = await readOpenIncidents(transaction, organisationId);
    const news = compareIncidents(open, findings, findWatching);
    const told = new Set<number>();
    const queue = (alarm: Parameters<typeof queueAlarm>[3]): Promise<void> =>
      queueAlarm(workplace, transaction, organisationId, alarm);
    const begun: Incident[] = [];
    for (const finding of news.begun) begun.push(await openIncident(transaction, organisationId, finding, now));
    for (const [index, incident] of begun.entries()) {
      told.add(incident.incidentId);
      const actions = news.begun[index]?.actions ?? [];
      if (!isMissedStart(incident)) await queue({ incidents: [incident], telling: 'begun', actions });
    }
    const missing = begun.filter(isMissedStart);
    const actions = [...new Set(news.begun.filter(isMissedStart).flatMap((finding) => finding.actions))];
    // Nothing has begun since those were told of.
    const before = open.filter((one) => isMissedStart(one) && isOneCause(one, now) && one.openedAt > found.lastBegunAt);
    if (missing.length > 0) await queue({ incidents: missing, telling: 'begun', actions, toldBefore: before });
    for (const { incident: known, finding } of news.again) {
      const incident = await noteToldAgain(transaction, known.incidentId, finding, now);
      await queue({ incidents: [incident], telling: 'again', actions: finding.actions });
      told.add(incident.incidentId);
    }
    return { told, ...(await close(transaction, queue, news, { organisationId, now })) };
  });
}

async function close(
  transaction: Queryable,
  queue: (alarm: Parameters<typeof queueAlarm>[3]) => Promise<void>,
  news: News,
  { organisationId, now }: { organisationId: number; now: Date },
): Promise<Pick<Telling, 'over' | 'dropped'>> {
  const actions = ['See how the rosters stand: nightscreen coverage'];
  const over: Incident[] = [];
  for (const { incidentId } of news.over) {
    over.push(await closeIncident(transaction, incidentId, { now, isDropped: false }));
  }
  const dropped: Incident[] = [];
  for (const { incidentId } of news.dropped) {
    dropped.push(await closeIncident(transaction, incidentId, { now, isDropped: true }));
  }
  for (const incident of over.filter((one) => !isMissedStart(one))) {
    await queue({ incidents: [incident], telling: 'over', actions });
  }
  const begun = over.filter(isMissedStart);
  const left = (await readOpenIncidents(transaction, organisationId)).filter(
    (one) => isMissedStart(one) && begun.some(({ openedAt }) => isOneCause(one, openedAt)),
  );
  // Those who are still told of one of them hear when the last has begun.
  if (begun.length > 0) await queue({ incidents: begun, telling: 'over', actions, toldBefore: left });
  return { over, dropped };
}

const isOneCause = ({ openedAt }: Incident, moment: Date): boolean =>
  Math.abs(openedAt.getTime() - moment.getTime()) < oneCauseMs;

/** Who watches what an incident is about: this watchdog, another one that has other settings, or nobody any more. */
export type Watching = 'here' | 'elsewhere' | 'nowhere';

/** What there is to tell: what is new, what is new about something known, and what is over; and what is closed without a word. */
interface News {
  begun: readonly Finding[];
  again: readonly { incident: Incident; finding: Finding }[];
  over: readonly Incident[];
  /** That it is over, nobody knows. */
  dropped: readonly Incident[];
}

/** Compares what is found now with the incidents that are not over. */
export function compareIncidents(
  open: readonly Incident[],
  findings: readonly Finding[],
  findWatching: (incident: Incident) => Watching,
): News {
  const pairs = findings.flatMap((finding) => {
    const incident = findSame(open, finding);
    return incident ? [{ incident, finding }] : [];
  });
  const rest = open.filter((incident) => !pairs.some((pair) => pair.incident === incident));
  return {
    begun: findings.filter((finding) => findSame(open, finding) === undefined),
    again: pairs.filter(({ incident, finding }) => !finding.isKnown && incident.mark !== finding.mark),
    over: rest.filter((incident) => findWatching(incident) === 'here'),
    dropped: rest.filter((incident) => findWatching(incident) === 'nowhere'),
  };
}

/** How the keys of alarms in the outbox begin. */
export const alarmKeyPrefix = 'alarm/';

/** What is told of incidents that have one cause, in one mail. */
interface AlarmToQueue extends Pick<Alarm, 'telling' | 'actions'> {
  incidents: readonly Incident[];
  /** Who is told of one of these is not told of the others. */
  toldBefore?: readonly Incident[];
}

/** Queues the mail of an alarm, in the transaction that notes it as told; where no mail is configured it does nothing. */
async function queueAlarm(
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
