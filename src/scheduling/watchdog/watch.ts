import { hostname } from 'node:os';
import { ConfigError } from '../../errors.js';
import { type Alarm, buildAlarmMessage } from '../../mail/failure-message.js';
import { listRecipients } from '../../mail/settings.js';
import { toDurationMs } from '../../roster/duration.js';
import type { AppContext } from '../../runs/app-context.js';
import { readRosterGroups } from '../../runs/coverage.js';
import { deliverDue, toGiveUpAt } from '../../runs/mail/deliver.js';
import { openOrganisation } from '../../runs/session.js';
import { readImportedRosters } from '../../store/coverage.js';
import type { Queryable } from '../../store/database/database.js';
import {
  type Incident,
  readAhead,
  readFailing,
  readOpenIncidents,
  saveIncidentNews,
  toJobSubject,
  toRosterSubject,
} from '../../store/incidents.js';
import type { JobRun, SchedulePause } from '../../store/jobs.js';
import { queueOutbox } from '../../store/outbox.js';
import {
  findLastNights,
  type NightFacts,
  type Nights,
  type RunningFacts,
  readRunning,
} from '../../store/watch-facts.js';
import { readExpectations, type StartFacts, type WatchSettings } from './expectations.js';
import { assess, assessAhead, describeIncident, type Finding, findSame } from './findings.js';

/** A sweep that nobody plans is judged for so long. */
const recentMs = 7 * 24 * 3_600_000;

/**
 * Reads everything that is judged at a moment, of these rosters, and notes that they are watched; `open`: what has been reported and is not
 * over. `starts` are the jobs of which it is watched whether they begin; `subjects` is what this watchdog watches, `watched` what any does.
 */
async function readWatchFacts(
  app: AppContext,
  organisationId: number,
  context: WatchSettings & { rosters: readonly string[]; open: readonly Incident[]; now: Date },
) {
  const { database } = app;
  const { rosters, open, now, watchdog } = context;
  const expectations = await readExpectations(app, organisationId, context);
  const running = await readRunning(database, organisationId);
  const agedMs = toDurationMs(watchdog.failingFor);
  const assessed = { expectations, running, open, agedMs, now };
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
    sweep: { ...sweeps, ...expectations.ofJob('sweep'), isPlanned, isRecent },
    jobs,
    starts: [...(isPlanned ? ['sweep'] : []), ...jobs.flatMap(({ job, start }) => (start === null ? [] : [job]))],
    subjects: [...expectations.subjects, ...(isRecent ? [toJobSubject('sweep')] : [])],
    watched: expectations.watched,
    pause: expectations.pause,
  };
}

type Expectations = Awaited<ReturnType<typeof readExpectations>>;
type WatchFacts = Awaited<ReturnType<typeof readWatchFacts>>;

/** What is known of the jobs that are planned; `nights` by the job that makes them. */
function toJobFacts(
  { plans, runs, silences, ofJob, sinceOf }: Expectations,
  nights: ReadonlyMap<string, readonly Pick<Nights, 'ended'>[]>,
  now: Date,
) {
  return [...plans].map(([job, { keptSince }]) => {
    const known = runs.get(job) ?? [];
    // What a scheduler did that no longer plans the job is history.
    const current = keptSince === null ? known.filter((run) => isSince(run, sinceOf(job))) : known;
    // Only a scheduler notes each start; what a timer runs may leave runs and nothing else.
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

/**
 * Looks once, and reports what is new: each incident once, again when something of it is new, and once when it is over, whoever else looks at
 * the same time and wherever this process dies. `noteLooked` is called when all that is left to do is to send; `signal` cuts that short.
 * Throws ConfigError when there is nothing to watch.
 */
export async function watch(
  app: AppContext,
  settings: WatchSettings,
  { signal, noteLooked }: { signal?: AbortSignal; noteLooked?: () => void } = {},
): Promise<Watch> {
  const { database, clock } = app;
  const now = clock.now();
  const { organisationId } = await openOrganisation(app);
  const rosters = await chooseRosters(app, organisationId);
  const reported = await readOpenIncidents(database, organisationId);
  const facts = await readWatchFacts(app, organisationId, { ...settings, rosters, open: reported, now });
  const findings = [
    ...assess(facts, reported, { stuckAfterMs: toDurationMs(settings.watchdog.stuckAfter), now }),
    ...assessAhead(await readAhead(database, organisationId, rosters, now)),
  ];
  const news = await reportNews(app, organisationId, findings, { facts, now });
  const open = await readOpenIncidents(database, organisationId);
  noteLooked?.();
  await send(app, signal);
  return {
    at: now,
    rosters,
    findings: findings.flatMap((finding) => {
      const incident = findSame(open, finding);
      return incident ? [{ ...finding, incident, isNews: news.reported.has(incident.incidentId) }] : [];
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

/** When a job or a night was last begun. */
function findLastBegun({ jobs, rosters, sweep }: WatchFacts): Date {
  const begun = jobs.flatMap(({ runs }) => runs.flatMap(({ attemptAt, begunAt }) => attemptAt ?? begunAt ?? []));
  const nights = [...rosters, sweep].flatMap((night) => night.begun?.takenAt ?? []);
  return new Date(Math.max(0, ...[...begun, ...nights].map((moment) => moment.getTime())));
}

/** Alarms alone: reports are written and mailed by the host that makes them. What cannot be sent now stays in the outbox. */
async function send(app: AppContext, signal: AbortSignal | undefined): Promise<void> {
  try {
    await deliverDue(app, signal, alarmKeyPrefix);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    app.emit({
      kind: 'warning',
      runId: null,
      code: 'mail_waits',
      message: `alarms are not mailed yet: ${reason}`,
    });
  }
}

/** Whoever has other settings looks at least this often, or has been switched off. */
const forgottenAfterMs = 24 * 3_600_000;

/** Who watches what an incident is about: this watchdog, another one that has other settings, or nobody any more. */
export function findWatching(
  { kind, subject, roster }: Pick<Incident, 'kind' | 'subject' | 'roster'>,
  { starts, subjects, watched, now }: Pick<WatchFacts, 'starts' | 'subjects' | 'watched'> & { now: Date },
): 'here' | 'elsewhere' | 'nowhere' {
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

/** Reads what is known of each roster; `open` is what has been reported and is not over, `agedMs` how long a customer may fail. */
async function readRosterFacts(
  app: Pick<AppContext, 'database' | 'settings'>,
  organisationId: number,
  rosters: readonly string[],
  context: {
    expectations: Pick<Expectations, 'ofRoster'>;
    running: readonly RunningFacts[];
    open: readonly Incident[];
    agedMs: number;
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
  { reported, ageAt, agedMs, now }: { reported: Incident | undefined; ageAt: Date; agedMs: number; now: Date },
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

/** Starts that are missing within this span have one cause; what is missing for longer says nothing about them. */
const oneCauseMs = 24 * 3_600_000;

const isMissedStart = ({ kind }: Pick<Incident, 'kind'>): boolean => kind === 'did_not_run';

/**
 * Notes what is new and queues its mail, in one transaction. Starts that are missing because one scheduler is gone are one mail. Gives
 * the incidents that it has reported, and what it has closed.
 */
async function reportNews(
  app: AppContext,
  organisationId: number,
  findings: readonly Finding[],
  { facts, now }: { facts: WatchFacts; now: Date },
) {
  return app.database.transaction(async (transaction) => {
    const open = await readOpenIncidents(transaction, organisationId, { isHeld: true });
    const news = compareIncidents(open, findings, (incident) => findWatching(incident, { ...facts, now }));
    const saved = await saveIncidentNews(transaction, organisationId, news, now);
    const queue = (alarm: Parameters<typeof queueAlarm>[3]): Promise<void> =>
      queueAlarm(app, transaction, organisationId, alarm);
    for (const [index, incident] of saved.begun.entries()) {
      const actions = news.begun[index]?.actions ?? [];
      if (!isMissedStart(incident)) await queue({ incidents: [incident], phase: 'begun', actions });
    }
    const missing = saved.begun.filter(isMissedStart);
    const actions = [...new Set(news.begun.filter(isMissedStart).flatMap((finding) => finding.actions))];
    // Nothing has begun since those were reported.
    const lastBegunAt = findLastBegun(facts);
    const before = open.filter((one) => isMissedStart(one) && isOneCause(one, now) && one.openedAt > lastBegunAt);
    if (missing.length > 0) await queue({ incidents: missing, phase: 'begun', actions, reportedBefore: before });
    for (const [index, incident] of saved.again.entries()) {
      const again = news.again[index]?.finding.actions ?? [];
      await queue({ incidents: [incident], phase: 'again', actions: again });
    }
    const { over, dropped } = saved;
    const afterwards = ['See how the rosters stand: nightscreen coverage'];
    for (const incident of over.filter((one) => !isMissedStart(one))) {
      await queue({ incidents: [incident], phase: 'over', actions: afterwards });
    }
    const started = over.filter(isMissedStart);
    const left = (await readOpenIncidents(transaction, organisationId)).filter(
      (one) => isMissedStart(one) && started.some(({ openedAt }) => isOneCause(one, openedAt)),
    );
    // Those who are still notified of one of them hear when the last has begun.
    if (started.length > 0)
      await queue({ incidents: started, phase: 'over', actions: afterwards, reportedBefore: left });
    return { reported: new Set([...saved.begun, ...saved.again].map(({ incidentId }) => incidentId)), over, dropped };
  });
}

const isOneCause = ({ openedAt }: Incident, moment: Date): boolean =>
  Math.abs(openedAt.getTime() - moment.getTime()) < oneCauseMs;

/**
 * Compares what is found now with the incidents that are not over: what is new, what is new about something known, what is over, and what is
 * closed without a word (`dropped`), because nobody knows whether it is over.
 */
export function compareIncidents(
  open: readonly Incident[],
  findings: readonly Finding[],
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

/** How the keys of alarms in the outbox begin. */
const alarmKeyPrefix = 'alarm/';

/**
 * Queues one mail about incidents that have one cause, in the transaction that notes them as reported; where no mail is configured it does
 * nothing. Who is notified of one of `reportedBefore` is not notified of the others.
 */
async function queueAlarm(
  { settings: { mail, organisation }, clock }: Pick<AppContext, 'settings' | 'clock'>,
  transaction: Queryable,
  organisationId: number,
  {
    incidents,
    phase,
    actions,
    reportedBefore = [],
  }: Pick<Alarm, 'phase' | 'actions'> & { incidents: readonly Incident[]; reportedBefore?: readonly Incident[] },
): Promise<void> {
  const [first] = incidents;
  if (!mail || !first) return;
  const at = clock.now();
  const { incidentId, timesReported, openedAt } = first;
  const key = [String(incidentId), phase === 'over' ? 'over' : String(timesReported), openedAt.toISOString()];
  const alarm: Alarm = {
    phase,
    title: describeIncident({ ...first, subject: incidents.map(({ subject }) => subject).join(', ') }),
    reason: incidents.map(({ reason }) => reason).join('; '),
    openedAt,
    at,
    actions,
    host: hostname(),
    installation: organisation,
  };
  const listAddresses = (some: readonly Incident[]): ReadonlySet<string> =>
    new Set(
      some
        .flatMap(({ roster }) => listRecipients(mail, { kind: 'failure', roster, level: 'red', severities: [] }))
        .map(({ address }) => address),
    );
  const known = listAddresses(reportedBefore);
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
