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
import { compareIncidents, type News, type Watching } from './compare-incidents.js';
import type { Finding } from './finding.js';
import { queueAlarm } from './queue-alarm.js';

/** What one look tells: the incidents that it has told of, and what it has closed. */
export interface Telling {
  told: ReadonlySet<number>;
  over: readonly Incident[];
  dropped: readonly Incident[];
}

/** What was found at a moment, and when a job or a night was last begun. */
export interface Found {
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
