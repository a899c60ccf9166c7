import { hostname } from 'node:os';
import { ConfigError } from '../../errors.js';
import type { Alarm } from '../../mail/failure-message.js';
import type { AppContext } from '../../runs/app-context.js';
import { readRosterGroups } from '../../runs/coverage.js';
import { deliverOrWarn } from '../../runs/mail/deliver.js';
import { buildAlarmMails, queueMails } from '../../runs/mail/failures.js';
import { openOrganisation } from '../../runs/session.js';
import { readImportedRosters } from '../../store/customers/coverage.js';
import type { Queryable } from '../../store/database/database.js';
import {
  findSame,
  type Incident,
  readAhead,
  readFailing,
  readOpenIncidents,
  saveIncidentNews,
  toJobSubject,
  toRosterSubject,
} from '../../store/operations/incidents.js';
import type { JobRun } from '../../store/operations/jobs.js';
import {
  findLastNights,
  type NightFacts,
  type Nights,
  type RunningFacts,
  readRunning,
} from '../../store/operations/watch-facts.js';
import type { JobsSettings } from '../settings.js';
import { readExpectations, type StartFacts } from './expectations.js';
import { assess, describeIncident, type WatchFinding } from './findings.js';

const recentMs = 7 * 24 * 3_600_000;

/**
 * Reads the facts of these rosters and jobs, and notes that they are watched; `open` are the open incidents. `starts`: the jobs whose starts are
 * watched. `subjects`: what this watchdog watches; `watched`: what any watchdog does.
 */
async function readWatchFacts(
  app: AppContext,
  organisationId: number,
  context: { jobs: JobsSettings; rosters: readonly string[]; open: readonly Incident[]; now: Date },
) {
  const { database } = app;
  const { rosters, open, now } = context;
  const expectations = await readExpectations(app, organisationId, context);
  const running = await readRunning(database, organisationId);
  const assessed = { expectations, running, open, now };
  const rosterFacts = await readRosterFacts(app, organisationId, rosters, assessed);
  const sweeps = await findLastNights(database, organisationId, null);
  const isRecent = sweeps.begun !== null && now.getTime() - sweeps.begun.takenAt.getTime() < recentMs;
  const isPlanned = expectations.plans.has('sweep');
  const nights = new Map<string, readonly Pick<Nights, 'ended'>[]>([
    ['rescreen', rosterFacts],
    ['sweep', [sweeps]],
  ]);
  const jobs = toJobFacts(expectations, nights, now);
  return {
    rosters: rosterFacts,
    running,
    ahead: await readAhead(database, organisationId, rosters, now),
    sweep: { ...sweeps, ...expectations.ofJob('sweep'), isPlanned, isRecent },
    jobs,
    starts: [...(isPlanned ? ['sweep'] : []), ...jobs.flatMap(({ job, start }) => (start === null ? [] : [job]))],
    subjects: [...expectations.subjects, ...(isRecent ? [toJobSubject('sweep')] : [])],
    watched: expectations.watched,
    pause: expectations.pause,
  };
}

type Expectations = Awaited<ReturnType<typeof readExpectations>>;
type WatchedFacts = Awaited<ReturnType<typeof readWatchFacts>>;

function toJobFacts(
  { plans, runs, silences, ofJob, sinceOf }: Expectations,
  nights: ReadonlyMap<string, readonly Pick<Nights, 'ended'>[]>,
  now: Date,
) {
  return [...plans].map(([job, { keptSince }]) => {
    const known = runs.get(job) ?? [];
    // Runs of a scheduler that no longer plans the job are history.
    const current = keptSince === null ? known.filter((run) => isSince(run, sinceOf(job))) : known;
    // Only a scheduler notes each start; a timer may leave runs and nothing else.
    const isNoted = keptSince !== null && !nights.has(job);
    return {
      job,
      runs: current,
      silentMs: toSilence(current[0], silences.get(job), now),
      doneAt: findDone(nights.get(job) ?? []),
      start: isNoted ? ofJob(job) : null,
    };
  });
}

const isSince = ({ endedAt, begunAt, dueAt }: JobRun, since: Date): boolean => (endedAt ?? begunAt ?? dueAt) >= since;

function toSilence(newest: JobRun | undefined, silentMs: number | null | undefined, now: Date): number | null {
  if (newest?.state !== 'running' || silentMs === null) return null;
  return silentMs ?? now.getTime() - (newest.begunAt ?? newest.dueAt).getTime();
}

/** When the last ended night of each was begun, the earliest of them; null while one has none. */
function findDone(nights: readonly Pick<Nights, 'ended'>[]): Date | null {
  const moments = nights.flatMap(({ ended }) => ended?.takenAt.getTime() ?? []);
  return moments.length === 0 || moments.length < nights.length ? null : new Date(Math.min(...moments));
}

/** The result of one look: all problems with their incidents, and the incidents that are over. */
export type Watch = Awaited<ReturnType<typeof watch>>;

/**
 * Looks once and reports the news: each incident once, again when something of it is new, and once when it is over, also when several watchdogs
 * look at once or this process dies. `noteLooked` is called when only sending is left; `signal` ends that early. Throws ConfigError when there is
 * nothing to watch.
 */
export async function watch(
  app: AppContext,
  { jobs }: { jobs: JobsSettings },
  { signal, noteLooked }: { signal?: AbortSignal; noteLooked?: () => void } = {},
) {
  const { database, clock } = app;
  const now = clock.now();
  const { organisationId } = await openOrganisation(app);
  const rosters = await chooseRosters(app, organisationId);
  const reported = await readOpenIncidents(database, organisationId);
  const facts = await readWatchFacts(app, organisationId, { jobs, rosters, open: reported, now });
  const findings = assess(facts, reported, now);
  const news = await reportNews(app, organisationId, findings, { facts, now });
  const open = await readOpenIncidents(database, organisationId);
  noteLooked?.();
  // Only alarms: the host of a report mails the report.
  await deliverOrWarn(app, 'alarms are', { signal, keyPrefix: 'alarm/' });
  return {
    at: now,
    rosters,
    findings: findings.flatMap((finding) => {
      const incident = findSame(open, finding);
      return incident ? [{ ...finding, incident, isNews: news.reported.has(incident.incidentId) }] : [];
    }),
    over: news.over,
    /** Closed because no watchdog watches them any more; whether they are over is unknown. */
    dropped: news.dropped,
    /** The rosters without any night so far, of which none was due. */
    unscreened: listUnscreened(facts, findings),
    pause: facts.pause,
    /** Whether anything is wrong that was not already known. */
    isAlarm: findings.some(({ isKnown }) => !isKnown),
  };
}

const listUnscreened = ({ rosters }: WatchedFacts, findings: readonly WatchFinding[]): readonly string[] =>
  rosters
    .filter(({ begun, roster }) => begun === null && !findings.some((finding) => finding.roster === roster))
    .map(({ roster }) => roster);

async function chooseRosters({ database, settings }: AppContext, organisationId: number): Promise<readonly string[]> {
  const configured = settings.rosters.map(({ name }) => name);
  const rosters =
    configured.length > 0
      ? configured
      : (await readImportedRosters(database, organisationId)).map(({ roster }) => roster);
  if (rosters.length > 0) return rosters;
  const message = 'there is nothing to watch: no roster is configured, and none was ever imported into this database';
  throw new ConfigError([{ where: 'settings', path: 'rosters', message }]);
}

/** A watchdog with other settings looks at least this often, or has been switched off. */
const forgottenAfterMs = 24 * 3_600_000;

/** Who watches the subject of an incident: this watchdog, another one with other settings, or none. */
export function findWatching(
  { kind, subject, roster }: Pick<Incident, 'kind' | 'subject' | 'roster'>,
  { starts, subjects, watched, now }: Pick<WatchedFacts, 'starts' | 'subjects' | 'watched'> & { now: Date },
): 'here' | 'elsewhere' | 'nowhere' {
  // Every run in progress is watched, whoever began it.
  if (kind === 'stuck') return 'here';
  const what = roster === null ? toJobSubject(subject) : toRosterSubject(roster);
  if (roster === null && kind === 'did_not_run' && !starts.includes(subject)) {
    // A timer starts it now, which notes no starts.
    if (subjects.includes(what)) return 'nowhere';
  } else if (subjects.includes(what)) return 'here';
  const last = watched.find((one) => one.subject === what)?.lastWatchedAt;
  return last !== undefined && last.getTime() > now.getTime() - forgottenAfterMs ? 'elsewhere' : 'nowhere';
}

async function readRosterFacts(
  app: Pick<AppContext, 'database' | 'settings'>,
  organisationId: number,
  rosters: readonly string[],
  context: {
    expectations: Pick<Expectations, 'ofRoster'>;
    running: readonly RunningFacts[];
    open: readonly Incident[];
    now: Date;
  },
) {
  const { database } = app;
  const imported = await readImportedRosters(database, organisationId);
  const nights = new Map<string, Nights>();
  for (const roster of rosters) nights.set(roster, await findLastNights(database, organisationId, roster));
  const facts = [];
  for (const [roster, { begun, ended }] of nights) {
    const { expected, isWaiting } = context.expectations.ofRoster(roster);
    const start = { begun, expected, isWaiting: isWaiting || context.running.some((run) => isOtherNight(run, roster)) };
    const others = [...nights].flatMap(([other, { begun: night }]) => (other === roster ? [] : (night ?? [])));
    const rosterId = imported.find((one) => one.roster === roster)?.rosterId ?? null;
    const reported = findSame(context.open, { kind: 'customers_failing', subject: roster, roster });
    const ageAt = findAgeMoment(start, others, context);
    facts.push({ roster, ended, ...start, ...(await readCustomers(app, rosterId, { ...context, reported, ageAt })) });
  }
  return facts;
}

const isOtherNight = (run: RunningFacts, roster: string): boolean =>
  run.kind === 'rescreen' && run.silentMs === null && run.roster !== roster;

async function readCustomers(
  app: Pick<AppContext, 'database' | 'settings'>,
  rosterId: number | null,
  { reported, ageAt, now }: { reported: Incident | undefined; ageAt: Date; now: Date },
) {
  if (rosterId === null) return { failing: null, overdue: { customers: 0, oldestScreenedAt: null } };
  const { accountId, groups } = await readRosterGroups(app, rosterId, ageAt);
  const late = groups.filter(({ status, failedBecause }) => status === 'overdue' && failedBecause === null);
  const dates = late.flatMap(({ oldestScreenedAt }) => oldestScreenedAt?.getTime() ?? []);
  const since = reported && { runId: reported.runId ?? 0, at: reported.reportedAt };
  return {
    failing:
      accountId === null
        ? null
        : await readFailing(app.database, { rosterId, accountId }, { reported: since ?? null, agedMs, now }),
    overdue: {
      customers: late.reduce((sum, { customers }) => sum + customers, 0),
      oldestScreenedAt: dates.length === 0 ? null : new Date(Math.min(...dates)),
    },
  };
}

/** Who has failed for longer is reported once more. */
const agedMs = 7 * 24 * 3_600_000;

/** A longer night makes no screening younger. */
const longestNightMs = 24 * 3_600_000;

/**
 * The moment for the ages of a roster's screenings. While a night that began in time is in progress (its own, or in `others` one that it waits
 * for), the beginning of that night, because it will screen the customers that become overdue meanwhile; otherwise now.
 */
export function findAgeMoment(
  { begun, expected, isWaiting }: StartFacts,
  others: readonly NightFacts[],
  { running, now }: { running: readonly RunningFacts[]; now: Date },
): Date {
  const isAlive = (night: NightFacts): boolean =>
    running.some(({ runId, silentMs }) => runId === night.runId && silentMs === null);
  const isInTime = ({ takenAt }: NightFacts): boolean =>
    takenAt <= now &&
    takenAt.getTime() > now.getTime() - longestNightMs &&
    (expected === null || takenAt >= expected.since);
  const answering = [...(begun ? [begun] : []), ...(isWaiting ? others : [])].filter(
    (night) => isAlive(night) && isInTime(night),
  );
  return new Date(Math.min(now.getTime(), ...answering.map(({ takenAt }) => takenAt.getTime())));
}

/** Stores the news and queues its mail, in one transaction; gives the reported and the closed incidents. */
async function reportNews(
  app: AppContext,
  organisationId: number,
  findings: readonly WatchFinding[],
  { facts, now }: { facts: WatchedFacts; now: Date },
) {
  return app.database.transaction(async (transaction) => {
    const open = await readOpenIncidents(transaction, organisationId, { isHeld: true });
    const news = compareIncidents(open, findings, (incident) => findWatching(incident, { ...facts, now }));
    const { begun, again, over, dropped } = await saveIncidentNews(transaction, organisationId, news, now);
    const actionsOf = (incident: Incident): readonly string[] =>
      findSame(findings, incident)?.actions ?? ['See the coverage of the rosters: nightscreen coverage'];
    const queue = async (phase: Alarm['phase'], incidents: readonly Incident[]): Promise<void> => {
      // When one scheduler is down, many starts are missing: they share a mail.
      const starts = incidents.filter(({ kind }) => kind === 'did_not_run');
      const others = incidents.filter(({ kind }) => kind !== 'did_not_run');
      for (const group of [...others.map((one) => [one]), starts]) {
        const actions = [...new Set(group.flatMap(actionsOf))];
        await queueAlarm(app, transaction, organisationId, { incidents: group, phase, actions });
      }
    };
    await queue('begun', begun);
    await queue('again', again);
    await queue('over', over);
    return { reported: new Set([...begun, ...again].map(({ incidentId }) => incidentId)), over, dropped };
  });
}

/**
 * Compares the findings with the open incidents: new ones, known ones with news, those that are over, and those that are closed without a report
 * (`dropped`), because their state is unknown.
 */
export function compareIncidents(
  open: readonly Incident[],
  findings: readonly WatchFinding[],
  watchingOf: (incident: Incident) => ReturnType<typeof findWatching>,
) {
  const pairs = findings.flatMap((finding) => {
    const incident = findSame(open, finding);
    return incident ? [{ incident, finding }] : [];
  });
  const rest = open.filter((incident) => !pairs.some((pair) => pair.incident === incident));
  return {
    begun: findings.filter((finding) => findSame(open, finding) === undefined),
    again: pairs.filter(({ incident, finding }) => !finding.isKnown && incident.mark !== finding.mark),
    over: rest.filter((incident) => watchingOf(incident) === 'here'),
    dropped: rest.filter((incident) => watchingOf(incident) === 'nowhere'),
  };
}

/**
 * Queues one mail about incidents with one cause, in the transaction that notes them as reported; without configured mail it does nothing.
 */
async function queueAlarm(
  app: AppContext,
  transaction: Queryable,
  organisationId: number,
  { incidents, phase, actions }: Pick<Alarm, 'phase' | 'actions'> & { incidents: readonly Incident[] },
): Promise<void> {
  const { mail } = app.settings;
  const [first] = incidents;
  if (!mail || !first) return;
  const { incidentId, timesReported, openedAt } = first;
  const key = [String(incidentId), phase === 'over' ? 'over' : String(timesReported), openedAt.toISOString()];
  const alarm: Alarm = {
    phase,
    title: describeIncident({ ...first, subject: incidents.map(({ subject }) => subject).join(', ') }),
    reason: incidents.map(({ reason }) => reason).join('; '),
    openedAt,
    at: app.clock.now(),
    actions,
    host: hostname(),
  };
  const rosters = incidents.map(({ roster }) => roster);
  const mails = buildAlarmMails(alarm, key, rosters, { ...app.settings, mail });
  await queueMails(app, transaction, { organisationId, runId: null }, mails, 'alarm');
}
