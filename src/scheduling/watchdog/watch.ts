import { ConfigError } from '../../errors.js';
import { toDurationMs } from '../../roster/duration.js';
import { deliverDue } from '../../runs/mailing/deliver-due.js';
import { openOrganisation } from '../../runs/session/run-session.js';
import type { Workplace } from '../../runs/workplace.js';
import { readAhead } from '../../store/ahead-facts.js';
import { readImportedRosters } from '../../store/coverage.js';
import {
  closeIncident,
  holdIncidents,
  type Incident,
  noteToldAgain,
  openIncident,
  readOpenIncidents,
} from '../../store/incidents.js';
import { compareIncidents } from './compare-incidents.js';
import type { WatchSettings } from './expectations.js';
import { type Finding, findSame } from './finding.js';
import { judge } from './judge.js';
import { judgeAhead } from './judge-ahead.js';
import { alarmKeyPrefix, queueAlarm } from './queue-alarm.js';
import { readWatchFacts, type WatchFacts } from './read-facts.js';
import { findWatching } from './watching.js';

/** What one look found: everything that is not as it should be, with the incident that it belongs to, and what is over. */
export interface Watch {
  at: Date;
  rosters: readonly string[];
  findings: readonly (Finding & { incident: Incident; isNews: boolean })[];
  over: readonly Incident[];
  /** What is closed because nobody watches it any more; whether it is over, nobody knows. */
  dropped: readonly Incident[];
  /** The rosters that no night has begun to screen yet, and of which none was due either. */
  unscreened: readonly string[];
  /** Whether anything stands that is not merely known. */
  isAlarm: boolean;
}

/** What a look hangs on: `noteLooked` is called when all that is left to do is to send; `signal` cuts that short. */
export interface WatchOptions {
  signal?: AbortSignal;
  noteLooked?: () => void;
}

/**
 * Looks once, and tells what is new: each incident once, again when something of it is new, and once when it is over, whoever else looks at
 * the same time and wherever this process dies. Throws ConfigError when there is nothing to watch.
 */
export async function watch(
  workplace: Workplace,
  settings: WatchSettings,
  { signal, noteLooked }: WatchOptions = {},
): Promise<Watch> {
  const { database, clock } = workplace;
  const now = clock.now();
  const { organisationId } = await openOrganisation(workplace);
  const rosters = await chooseRosters(workplace, organisationId);
  const told = await readOpenIncidents(database, organisationId);
  const facts = await readWatchFacts(workplace, organisationId, { ...settings, rosters, open: told, now });
  const findings = [
    ...judge(facts, told, { stuckAfterMs: toDurationMs(settings.watchdog.stuckAfter), now }),
    ...judgeAhead(await readAhead(database, organisationId, rosters, now)),
  ];
  const news = await tellNews(workplace, organisationId, { findings, facts, now });
  const open = await readOpenIncidents(database, organisationId);
  noteLooked?.();
  await send(workplace, signal);
  return {
    at: now,
    rosters,
    findings: findings.flatMap((finding) => {
      const incident = findSame(open, finding);
      return incident ? [{ ...finding, incident, isNews: news.told.has(incident.incidentId) }] : [];
    }),
    over: news.over,
    dropped: news.dropped,
    unscreened: listUnscreened(facts, findings),
    isAlarm: findings.some(({ isKnown }) => !isKnown),
  };
}

const listUnscreened = ({ rosters }: WatchFacts, findings: readonly Finding[]): readonly string[] =>
  rosters
    .filter(({ begun, roster }) => begun === null && !findings.some((finding) => finding.roster === roster))
    .map(({ roster }) => roster);

/** The configured rosters; where none is, those that were ever imported. */
async function chooseRosters({ database, settings }: Workplace, organisationId: number): Promise<readonly string[]> {
  const configured = settings.rosters.map(({ name }) => name);
  const rosters =
    configured.length > 0
      ? configured
      : (await readImportedRosters(database, organisationId)).map(({ roster }) => roster);
  if (rosters.length > 0) return rosters;
  const message = 'there is nothing to watch: no roster is configured, and none was ever imported into this database';
  throw new ConfigError([{ where: 'settings', path: 'rosters', message }]);
}

async function tellNews(
  workplace: Workplace,
  organisationId: number,
  { findings, facts, now }: { findings: readonly Finding[]; facts: WatchFacts; now: Date },
): Promise<{ told: ReadonlySet<number>; over: readonly Incident[]; dropped: readonly Incident[] }> {
  return workplace.database.transaction(async (transaction) => {
    await holdIncidents(transaction, organisationId);
    const news = compareIncidents(await readOpenIncidents(transaction, organisationId), findings, (incident) =>
      findWatching(incident, { ...facts, now }),
    );
    const told = new Set<number>();
    for (const finding of news.begun) {
      const incident = await openIncident(transaction, organisationId, finding, now);
      const { actions } = finding;
      await queueAlarm(workplace, transaction, organisationId, { incident, telling: 'begun', actions });
      told.add(incident.incidentId);
    }
    for (const { incident: known, finding } of news.again) {
      const incident = await noteToldAgain(transaction, known.incidentId, finding, now);
      const { actions } = finding;
      await queueAlarm(workplace, transaction, organisationId, { incident, telling: 'again', actions });
      told.add(incident.incidentId);
    }
    const over: Incident[] = [];
    for (const known of news.over) {
      const incident = await closeIncident(transaction, known.incidentId, { now, isDropped: false });
      const actions = ['See how the rosters stand: nightscreen coverage'];
      await queueAlarm(workplace, transaction, organisationId, { incident, telling: 'over', actions });
      over.push(incident);
    }
    const dropped: Incident[] = [];
    for (const { incidentId } of news.dropped) {
      dropped.push(await closeIncident(transaction, incidentId, { now, isDropped: true }));
    }
    return { told, over, dropped };
  });
}

/** Alarms alone: reports are written and mailed by the host that makes them. What cannot be sent now stays in the outbox. */
async function send(workplace: Workplace, signal: AbortSignal | undefined): Promise<void> {
  try {
    await deliverDue(workplace, signal, alarmKeyPrefix);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    workplace.tell({
      kind: 'warning',
      runId: null,
      code: 'mail_waits',
      message: `alarms are not mailed yet: ${reason}`,
    });
  }
}
