import { ConfigError } from '../../errors.js';
import { countNoun } from '../../reports/text.js';
import { toDurationMs } from '../../roster/duration.js';
import { readRosterGroups } from '../../runs/coverage.js';
import { deliverDue } from '../../runs/mail/deliver.js';
import { openOrganisation } from '../../runs/session.js';
import type { Workplace } from '../../runs/workplace.js';
import { readImportedRosters } from '../../store/coverage.js';
import {
  type AheadFacts,
  type Incident,
  readAhead,
  readFailing,
  readOpenIncidents,
  toJobSubject,
  toRosterSubject,
  type Watched,
} from '../../store/incidents.js';
import type { JobRun, SchedulePause } from '../../store/jobs.js';
import {
  findLastNights,
  findLastSweeps,
  type NightFacts,
  type Nights,
  type RunningFacts,
  readRunning,
} from '../../store/watch-facts.js';
import { alarmKeyPrefix, tellNews, type Watching } from './alarms.js';
import { type Expectations, readExpectations, type StartFacts, type WatchSettings } from './expectations.js';
import { type Finding, findSame } from './findings.js';
import { type JudgedFacts, judge, type RosterFacts } from './judge.js';
import { type JobFacts, judgedByRuns } from './judge-jobs.js';

/** What is judged at a moment, and what is watched: by this watchdog (`subjects`), and by any. */
interface WatchFacts extends JudgedFacts {
  /** The jobs of which it is watched whether they begin. */
  starts: readonly string[];
  subjects: readonly string[];
  watched: readonly Watched[];
  pause: Expectations['pause'];
}

/** A sweep that nobody plans is judged for so long. */
const recentMs = 7 * 24 * 3_600_000;

/** Reads everything that is judged at a moment, of these rosters, and notes that they are watched; `open`: what has been told of and is not over. */
async function readWatchFacts(
  workplace: Pick<Workplace, 'database' | 'settings'>,
  organisationId: number,
  context: WatchSettings & { rosters: readonly string[]; open: readonly Incident[]; now: Date },
): Promise<WatchFacts> {
  const { database } = workplace;
  const { rosters, open, now, watchdog } = context;
  const expectations = await readExpectations(workplace, organisationId, context);
  const running = await readRunning(database, organisationId);
  const agedMs = toDurationMs(watchdog.failingFor);
  const judged = { expectations, running, open, agedMs, now };
  const rosterFacts = await readRosterFacts(workplace, organisationId, rosters, judged);
  const sweeps = await findLastSweeps(database, organisationId);
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
    sweep: { ...sweeps, ...expectations.ofJob('sweep'), isPlanned, isRecent },
    jobs,
    starts: [...(isPlanned ? ['sweep'] : []), ...jobs.flatMap(({ job, start }) => (start === null ? [] : [job]))],
    subjects: [...expectations.subjects, ...(isRecent ? [toJobSubject('sweep')] : [])],
    watched: expectations.watched,
    pause: expectations.pause,
  };
}

/** What is known of the jobs that are planned; `nights` by the job that makes them. */
function toJobFacts(
  { plans, runs, silences, ofJob, sinceOf }: Expectations,
  nights: ReadonlyMap<string, readonly Pick<Nights, 'ended'>[]>,
  now: Date,
): readonly JobFacts[] {
  return [...plans].map(([job, { keptSince }]): JobFacts => {
    const known = runs.get(job) ?? [];
    // What a scheduler did that no longer plans the job is history.
    const current = keptSince === null ? known.filter((run) => isSince(run, sinceOf(job))) : known;
    // Only a scheduler notes each start; what a timer runs may leave runs and nothing else.
    const isNoted = keptSince !== null && !judgedByRuns.has(job);
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

/** When the last of them was begun that has ended, where each has. */
function findDone(nights: readonly Pick<Nights, 'ended'>[]): Date | null {
  const moments = nights.flatMap(({ ended }) => ended?.takenAt.getTime() ?? []);
  return moments.length === 0 || moments.length < nights.length ? null : new Date(Math.min(...moments));
}

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
interface WatchOptions {
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

/**
 * The rosters that were begun or screened at what is yet to come: a clock was ahead, and of who was screened by it nobody knows when. It is
 * kept among `job_failed`, with a roster, which no job has.
 */
export function judgeAhead(rosters: readonly AheadFacts[]): readonly Finding[] {
  return rosters.map(({ roster, run, startedAt, customers, latestScreenedAt }) => {
    const began = startedAt === null ? [] : [`${run} began at ${startedAt.toISOString()}, which is yet to come`];
    const who = `${countNoun(customers, 'customer')} screened at what is yet to come`;
    const screened = latestScreenedAt === null ? [] : [`${who}, up to ${latestScreenedAt.toISOString()}`];
    return {
      kind: 'job_failed',
      subject: roster,
      roster,
      runId: null,
      reason: [...began, ...screened].join('; '),
      mark: customers > 0 ? 'screened ahead' : 'begun ahead',
      isKnown: false,
      actions: [
        'Set the clock of the host that runs the nights (NTP), and see that it stays so: nightscreen doctor',
        `The next night asks anew about whom it dated more than an hour ahead; about everybody, now: nightscreen screen --all --roster ${roster}`,
      ],
    };
  });
}

/** Whoever has other settings looks at least this often, or has been switched off. */
const forgottenAfterMs = 24 * 3_600_000;

/** What this watchdog watches at a moment, of which jobs the starts as well, and what anybody did. */
interface WatchingContext {
  starts: readonly string[];
  subjects: readonly string[];
  watched: readonly Watched[];
  now: Date;
}

/** Says who watches what an incident is about. */
export function findWatching(
  { kind, subject, roster }: Pick<Incident, 'kind' | 'subject' | 'roster'>,
  { starts, subjects, watched, now }: WatchingContext,
): Watching {
  // Every open run is looked at, whoever began it.
  if (kind === 'stuck') return 'here';
  const what = roster === null ? toJobSubject(subject) : toRosterSubject(roster);
  if (roster === null && kind === 'did_not_run' && !starts.includes(subject)) {
    // A timer begins it now, and nobody notes that.
    if (subjects.includes(what)) return 'nowhere';
  } else if (subjects.includes(what)) return 'here';
  const last = watched.find((one) => one.subject === what)?.lastWatchedAt;
  return last !== undefined && last.getTime() > now.getTime() - forgottenAfterMs ? 'elsewhere' : 'nowhere';
}

/** What rosters are judged against at a moment. */
interface RosterContext {
  expectations: Pick<Expectations, 'ofRoster'>;
  running: readonly RunningFacts[];
  /** What has been told of and is not over. */
  open: readonly Incident[];
  /** How long a customer may fail. */
  agedMs: number;
  now: Date;
}

/** Reads what is known of each roster. */
async function readRosterFacts(
  workplace: Pick<Workplace, 'database' | 'settings'>,
  organisationId: number,
  rosters: readonly string[],
  context: RosterContext,
): Promise<readonly RosterFacts[]> {
  const { database } = workplace;
  const imported = await readImportedRosters(database, organisationId);
  const nights = new Map<string, Nights>();
  for (const roster of rosters) nights.set(roster, await findLastNights(database, organisationId, roster));
  const facts: RosterFacts[] = [];
  for (const [roster, { begun, ended }] of nights) {
    const { expected, isWaiting } = context.expectations.ofRoster(roster);
    const start = { begun, expected, isWaiting: isWaiting || context.running.some((run) => isOtherNight(run, roster)) };
    const others = [...nights].flatMap(([other, { begun: night }]) => (other === roster ? [] : (night ?? [])));
    const rosterId = imported.find((one) => one.roster === roster)?.rosterId ?? null;
    const told = findSame(context.open, { kind: 'customers_failing', subject: roster, roster });
    const ageAt = findAgeMoment(start, others, context);
    facts.push({ roster, ended, ...start, ...(await readCustomers(workplace, rosterId, { ...context, told, ageAt })) });
  }
  return facts;
}

const isOtherNight = (run: RunningFacts, roster: string): boolean =>
  run.kind === 'rescreen' && run.silentMs === null && run.roster !== roster;

async function readCustomers(
  workplace: Pick<Workplace, 'database' | 'settings'>,
  rosterId: number | null,
  { told, ageAt, agedMs, now }: { told: Incident | undefined; ageAt: Date; agedMs: number; now: Date },
): Promise<Pick<RosterFacts, 'failing' | 'overdue'>> {
  if (rosterId === null) return { failing: null, overdue: { customers: 0, oldestScreenedAt: null } };
  const { accountId, groups } = await readRosterGroups(workplace, rosterId, ageAt);
  const late = groups.filter(({ standing, failedBecause }) => standing === 'overdue' && failedBecause === null);
  const dates = late.flatMap(({ oldestScreenedAt }) => oldestScreenedAt?.getTime() ?? []);
  const since = told && { runId: told.runId ?? 0, at: told.toldAt };
  return {
    failing:
      accountId === null
        ? null
        : await readFailing(workplace.database, { rosterId, accountId }, { told: since ?? null, agedMs, now }),
    overdue: {
      customers: late.reduce((sum, { customers }) => sum + customers, 0),
      oldestScreenedAt: dates.length === 0 ? null : new Date(Math.min(...dates)),
    },
  };
}

/** No night that lasts longer makes anybody's screening younger. */
const longestNightMs = 24 * 3_600_000;

/**
 * The moment at which the ages of a roster's screenings are judged: while a night that began in time is under way, its own or the one of
 * another roster that it waits for (`others`), the beginning of that, since it answers who grows too old meanwhile; else now.
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
