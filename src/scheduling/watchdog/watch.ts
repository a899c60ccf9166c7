import { ConfigError } from '../../errors.js';
import { toDurationMs } from '../../roster/duration.js';
import { deliverDue } from '../../runs/mailing/deliver-due.js';
import { openOrganisation } from '../../runs/session/run-session.js';
import type { Workplace } from '../../runs/workplace.js';
import { readAhead } from '../../store/ahead-facts.js';
import { readImportedRosters } from '../../store/coverage.js';
import { type Incident, readOpenIncidents } from '../../store/incidents.js';
import type { SchedulePause } from '../../store/job-schedules.js';
import type { WatchSettings } from './expectations.js';
import { type Finding, findSame } from './finding.js';
import { judge } from './judge.js';
import { judgeAhead } from './judge-ahead.js';
import { alarmKeyPrefix } from './queue-alarm.js';
import { readWatchFacts, type WatchFacts } from './read-facts.js';
import { tellNews } from './tell-news.js';
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
  /** The pause of the schedule; null where it is not paused. */
  pause: SchedulePause | null;
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
  const news = await tellNews(workplace, {
    ...{ findings, now, lastBegunAt: findLastBegun(facts) },
    findWatching: (incident) => findWatching(incident, { ...facts, now }),
  });
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
    pause: facts.pause,
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

/** When a job or a night was last begun. */
function findLastBegun({ jobs, rosters, sweep }: WatchFacts): Date {
  const begun = jobs.flatMap(({ runs }) => runs.flatMap(({ attemptAt, begunAt }) => attemptAt ?? begunAt ?? []));
  const nights = [...rosters, sweep].flatMap((night) => night.begun?.takenAt ?? []);
  return new Date(Math.max(0, ...[...begun, ...nights].map((moment) => moment.getTime())));
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
