import { countNoun } from '../../reports/text.js';
import { describeFailed } from '../../runs/run-summary.js';
import type { AheadFacts, FailingFacts, Incident } from '../../store/incidents.js';
import type { JobRun } from '../../store/jobs.js';
import type { NightFacts, Nights, RunningFacts } from '../../store/watch-facts.js';
import type { StartFacts } from './expectations.js';

/** Something that is not as it should be, and what to type. */
export interface Finding extends Pick<Incident, 'kind' | 'subject' | 'roster' | 'reason' | 'mark' | 'runId'> {
  actions: readonly string[];
  /** Reported already, with nothing new about it: it is listed, and is no alarm. */
  isKnown: boolean;
}

/** Which of the incidents that are not over this is, if any. A roster may be called `sweep`, or as a job is. */
export const findSame = (
  incidents: readonly Incident[],
  { kind, subject, roster }: Pick<Incident, 'kind' | 'subject' | 'roster'>,
): Incident | undefined =>
  incidents.find((incident) => incident.kind === kind && incident.subject === subject && incident.roster === roster);

const words: Readonly<Record<Incident['kind'], string>> = {
  did_not_run: 'did not run',
  stuck: 'is stuck',
  partial: 'ran, but not all of it is done',
  customers_failing: 'customers cannot be screened',
  canary_failed: 'control searches failed',
  screening_overdue: 'screenings are older than the cadence allows',
  job_failed: 'the job failed',
  job_stuck: 'the job is stuck',
};

const wordsOfClock = 'a clock was ahead';

/** An incident in a few words, as `retail: did not run`; what is kept of a roster among `job_failed` is that a clock was ahead. */
export const describeIncident = ({ kind, subject, roster }: Pick<Incident, 'kind' | 'subject' | 'roster'>): string =>
  `${subject}: ${kind === 'job_failed' && roster !== null ? wordsOfClock : words[kind]}`;

/** What is not as it should be at a moment, against what has been reported and is not over (`open`). */
export function assess(
  {
    rosters,
    running,
    sweep,
    jobs,
  }: {
    rosters: readonly RosterFacts[];
    running: readonly RunningFacts[];
    sweep: SweepFacts;
    jobs: readonly JobFacts[];
  },
  open: readonly Incident[],
  { stuckAfterMs, now }: { stuckAfterMs: number; now: Date },
): readonly Finding[] {
  return [
    ...rosters.flatMap((facts) => assessRoster(facts, open, now)),
    ...assessRunning(running, stuckAfterMs, now),
    ...assessSweep(sweep, open),
    ...assessJobs(jobs, open, now),
  ];
}

/** What was reported and neither is over nor has anything new about it. */
const toCurrentFinding = (
  { kind, subject, roster, runId, reason, mark }: Incident,
  actions: readonly string[],
): Finding => ({
  kind,
  subject,
  roster,
  runId,
  reason,
  mark,
  actions,
  isKnown: false,
});

/** Whether a start that was due is missing. What was reported as missing stays so until something has begun, whatever else begins. */
function isStartMissing({ begun, expected, isWaiting }: StartFacts, reported: Incident | undefined): boolean {
  if (expected !== null && begun !== null && begun.takenAt >= expected.since) return false;
  if (expected !== null && !isWaiting) return true;
  return reported !== undefined && !hasBegunSince(begun, reported);
}

const hasBegunSince = (begun: NightFacts | null, { runId, openedAt }: Incident): boolean =>
  begun !== null && (begun.runId > (runId ?? 0) || begun.takenAt > openedAt);

/** What is reported about the end of a run. */
const endKinds: ReadonlySet<Incident['kind']> = new Set(['partial', 'canary_failed']);

/**
 * What was reported about an end and stands, because no end as late as that has come since: a run that is gone on with has left the state that was
 * reported, and one that is given up for a newer one counts no more.
 */
function findUnanswered(
  { ended }: Pick<Nights, 'ended'>,
  { subject, roster }: Pick<Incident, 'subject' | 'roster'>,
  { open, findings }: { open: readonly Incident[]; findings: readonly Pick<Finding, 'kind'>[] },
): readonly Finding[] {
  const isUnanswered = ({ kind, runId }: Incident): boolean =>
    endKinds.has(kind) && (ended?.runId ?? 0) < (runId ?? 0) && !findings.some((one) => one.kind === kind);
  return open
    .filter((incident) => incident.subject === subject && incident.roster === roster && isUnanswered(incident))
    .map((incident) => toCurrentFinding(incident, ['See whether it is being gone on with: nightscreen runs list']));
}

/** Who works on a run or a job renews its lock every second; one that has not for so long has ended without a word, or stands still. */
const longestSilenceMs = 10 * 60_000;

const toMinutes = (ms: number): string => `${Math.floor(ms / 60_000)} minutes`;

/** The runs that are open although nobody works on them, or that have saved nothing for too long. */
export function assessRunning(running: readonly RunningFacts[], stuckAfterMs: number, now: Date): readonly Finding[] {
  return running.flatMap(({ runId, name, roster, owner, silentMs, activeAt }): Finding[] => {
    const shared = { kind: 'stuck', subject: name, roster, runId, isKnown: false } as const;
    const see = `See what it did: nightscreen runs show ${name}`;
    if (silentMs !== null && silentMs >= longestSilenceMs) {
      const reason = `its process (${owner}) was last heard of ${toMinutes(silentMs)} ago, and nobody has gone on with it`;
      const actions = [see, 'See whether that host is up', 'The next start goes on with it: nightscreen rescreen'];
      return [{ ...shared, reason, mark: 'silent', actions }];
    }
    const idleMs = now.getTime() - activeAt.getTime();
    if (silentMs !== null || idleMs < stuckAfterMs) return [];
    const reason = `its process (${owner}) is alive, but it has saved nothing for ${toMinutes(idleMs)}`;
    const actions = [see, 'See whether the service is out of reach: nightscreen doctor'];
    return [{ ...shared, reason, mark: 'idle', actions }];
  });
}

/** What is known of the sweeps of the dossiers. */
export interface SweepFacts extends Nights, StartFacts {
  isPlanned: boolean;
  /** Whether the last one is of these days; what somebody swept once long ago is history where none are planned. */
  isRecent: boolean;
}

/** What to write so that a job is expected no more, for whoever reads that it did not run. */
const toUnplanning = (job: string): string =>
  `Where ${job} is not to be run any more: write jobs.${job}.enabled: false into the configuration, also on the host of the watchdog`;

/** What incidents of sweeps are about. */
const sweepSubject = { subject: 'sweep', roster: null } as const;

const again = 'Sweep again: nightscreen sweep';

/** What is not as it should be with the sweep of the dossiers, against what has been reported and is not over (`open`). */
export function assessSweep(facts: SweepFacts, open: readonly Incident[]): readonly Finding[] {
  if (!facts.isPlanned && !facts.isRecent) return [];
  const findings = [...(facts.isPlanned ? assessSweepStart(facts, open) : []), ...assessSweepEnd(facts.ended)];
  return [...findings, ...findUnanswered(facts, sweepSubject, { open, findings })];
}

function assessSweepStart(facts: SweepFacts, open: readonly Incident[]): readonly Finding[] {
  const { begun, expected } = facts;
  if (!isStartMissing(facts, findSame(open, { kind: 'did_not_run', ...sweepSubject }))) return [];
  const last =
    begun === null ? 'there never was one' : `the last one, ${begun.name}, began at ${begun.takenAt.toISOString()}`;
  const because = expected === null ? '' : `${expected.because}; `;
  const reason = `no sweep of the dossiers has begun: ${because}${last}`;
  const what = { kind: 'did_not_run', reason, mark: 'did_not_run', actions: [again, toUnplanning('sweep')] } as const;
  return [{ ...sweepSubject, runId: begun?.runId ?? null, isKnown: false, ...what }];
}

function assessSweepEnd(ended: NightFacts | null): readonly Finding[] {
  if (ended === null || (ended.state === 'complete' && ended.isProven !== false)) return [];
  const { runId, name, state, reasons } = ended;
  const because = reasons.length > 0 ? reasons.join('; ') : 'it does not say why';
  const reason = `${name} ended ${state}: ${because}; nothing is reported as gone by it`;
  const mark = `${state}: ${because.replace(/\d+/g, '#')}`;
  const actions = [`See what happened: nightscreen runs show ${name}`, again];
  return [{ ...sweepSubject, runId, isKnown: false, kind: 'partial', reason, mark, actions }];
}

/** What is known of a roster. */
export interface RosterFacts extends Nights, StartFacts {
  roster: string;
  /** Null before the roster was ever imported. */
  failing: FailingFacts | null;
  /** Customers whose last valid answer is older than their cadence and its grace, without those whose searches fail. */
  overdue: { customers: number; oldestScreenedAt: Date | null };
}

const see = (night: Pick<NightFacts, 'name'>): string => `See what happened: nightscreen runs show ${night.name}`;
const startAgain = 'Start it again once that is mended: nightscreen rescreen';

/**
 * What is not as it should be with a roster, against what has been reported and is not over (`open`). What a night says it says at its end: until
 * then the one before it stands.
 */
export function assessRoster(facts: RosterFacts, open: readonly Incident[], now: Date): readonly Finding[] {
  const { roster, begun, ended } = facts;
  const about = { subject: roster, roster };
  const reported = (kind: Finding['kind']): Incident | undefined => findSame(open, { kind, ...about });
  const assessed = [
    assessRosterStart(facts, reported('did_not_run')),
    assessCanaries(facts),
    assessRosterEnd(ended),
    assessAge(facts, now),
    assessFailing(facts, reported('customers_failing'), now),
  ];
  const shared = { ...about, runId: (ended ?? begun)?.runId ?? null, isKnown: false };
  const findings = assessed.flatMap((one) => (one === null ? [] : [{ ...shared, ...one }]));
  return [...findings, ...findUnanswered(facts, about, { open, findings })];
}

type Assessed = Pick<Finding, 'kind' | 'reason' | 'mark' | 'actions'> & Partial<Pick<Finding, 'isKnown' | 'runId'>>;

function assessRosterStart(facts: RosterFacts, reported: Incident | undefined): Assessed | null {
  if (!isStartMissing(facts, reported)) return null;
  const { begun, expected } = facts;
  const last = begun === null ? 'it never has' : `the last one, ${begun.name}, began at ${begun.takenAt.toISOString()}`;
  return {
    kind: 'did_not_run',
    runId: begun?.runId ?? null,
    reason: `no screening of it has begun: ${expected === null ? '' : `${expected.because}; `}${last}`,
    mark: 'did_not_run',
    actions: [
      'See that the scheduler, cron or timer is running, and on which host',
      'Check settings, key, database and service: nightscreen doctor',
      'Screen now: nightscreen rescreen',
    ],
  };
}

/** A control search that fails is reported before its run ends. */
function assessCanaries({ begun, ended }: RosterFacts): Assessed | null {
  const night = [begun, ended].find((one) => one?.hasFailedCanary);
  if (!night) return null;
  return {
    kind: 'canary_failed',
    runId: night.runId,
    reason: `control searches of ${night.name} failed: what the service said cannot be relied on, and whoever it was asked about is not screened`,
    mark: 'canary_failed',
    actions: [see(night), "Ask the service's operators; check that the canary is still listed", startAgain],
  };
}

const partialStates: ReadonlySet<string> = new Set(['incomplete', 'stopped', 'unbalanced', 'refused']);

/** A run that is partial only because of customers who fail, or of control searches, is reported as that. */
function assessRosterEnd(night: NightFacts | null): Assessed | null {
  if (night === null || !partialStates.has(night.state)) return null;
  const { state, reasons, failed, hasFailedCanary, name } = night;
  const others = reasons.filter((reason) => failed === 0 || reason !== describeFailed(failed));
  if (state === 'incomplete' && (hasFailedCanary || (others.length === 0 && reasons.length > 0))) return null;
  const because = others.length === 0 ? 'it does not say why' : others.join('; ');
  return {
    kind: 'partial',
    reason: `${name} ended ${state}: ${because}`,
    // Figures and names of runs are no news.
    mark: `${state}: ${because.replace(/\d+/g, '#')}`,
    actions: [see(night), ...(state === 'stopped' ? [`Go on with it: nightscreen runs resume ${name}`] : [startAgain])],
  };
}

function assessAge({ overdue: { customers, oldestScreenedAt } }: RosterFacts, now: Date): Assessed | null {
  if (customers === 0) return null;
  // By a clock that was ahead: of such a screening nobody knows how old it is.
  const isAhead = oldestScreenedAt !== null && oldestScreenedAt > now;
  const since = oldestScreenedAt === null || isAhead ? '' : `; the oldest is of ${oldestScreenedAt.toISOString()}`;
  return {
    kind: 'screening_overdue',
    reason: `the screening of ${countNoun(customers, 'customer')} is ${isAhead ? 'dated at what is yet to come' : 'older than the cadence allows'}${since}`,
    mark: 'screening_overdue',
    actions: ['See who it is: nightscreen coverage --list 20', 'Screen whoever is due: nightscreen rescreen'],
  };
}

/** Who fails every night is reported when that is new and when it has lasted for too long, and else listed as known. */
function assessFailing({ failing, ended }: RosterFacts, reported: Incident | undefined, now: Date): Assessed | null {
  // What a failed control search took back says nothing about the customers.
  if (ended?.hasFailedCanary && reported) {
    const { kind, runId, reason, mark } = reported;
    return { kind, runId, reason, mark, isKnown: true, actions: [] };
  }
  if (ended === null || ended.hasFailedCanary || !failing?.run || failing.customers === 0) return null;
  const { customers, newly, aged, since, run } = failing;
  const lookedAt = Math.max(run.runId, ended.runId);
  const isNew = reported === undefined || newly > 0 || aged > 0;
  const parts = [
    `${countNoun(customers, 'customer')} cannot be screened though the service answers others`,
    ...(newly > 0 ? [`${newly} of them newly`] : []),
    ...(aged > 0 ? [`${aged} without a valid answer for longer than watchdog.failingFor allows`] : []),
    ...(since === null ? [] : [`the longest since ${since.toISOString()}`]),
  ];
  return {
    kind: 'customers_failing',
    runId: lookedAt,
    reason: parts.join('; '),
    mark: isNew ? `${lookedAt}/${newly}/${aged}/${now.toISOString().slice(0, 10)}` : reported.mark,
    // Until another run has looked, what has just been reported stands.
    isKnown: !isNew && reported.runId !== lookedAt,
    actions: [
      `See who it is: nightscreen runs show ${run.name} --list failed`,
      "Give the service's operators the names and the times of the calls",
    ],
  };
}

/** What is known of a job of the scheduler. */
export interface JobFacts {
  job: string;
  /** What became of its last times, newest first. */
  runs: readonly JobRun[];
  /** How long ago the process was last heard of that began the newest and has not ended it; null where none is missing. */
  silentMs: number | null;
  /** When what it does was last begun and has ended, by whatever command; null where only the job itself can know. */
  doneAt: Date | null;
  /** Null where nobody notes its starts, and for those whose runs are judged by themselves. */
  start: Omit<StartFacts, 'begun'> | null;
}

/** The jobs whose runs are judged by themselves. */
const assessedByRuns: ReadonlySet<string> = new Set(['rescreen', 'sweep']);
/** These exit codes say that there may be no run that says the same. */
const runlessExitCodes: ReadonlySet<number> = new Set([1, 2]);
/** These let a job be begun again for the same date. */
const repeatable: ReadonlySet<number> = new Set([1, 2, 4]);
const reportMissedForMs = 24 * 3_600_000;

/**
 * The jobs of the scheduler that were not begun, failed or were refused the last time they came to an end, or whose process is gone. While one
 * is under way, what was reported about it stands.
 */
export function assessJobs(jobs: readonly JobFacts[], open: readonly Incident[], now: Date): readonly Finding[] {
  return jobs.flatMap((facts) => {
    const reported = (kind: Finding['kind']): Incident | undefined =>
      findSame(open, { kind, subject: facts.job, roster: null });
    const stuck = assessJobStuck(facts, reported('job_stuck'), now);
    if (stuck.length > 0) return stuck;
    return [...assessJobStart(facts, reported('did_not_run')), ...assessJobEnd(facts, reported('job_failed'), now)];
  });
}

/** A job that has exceeded its timeout, whether its process still renews its lease or has stopped waiting for it; until a later attempt ends. */
function assessJobStuck(
  { job, runs: [newest], silentMs }: JobFacts,
  reported: Incident | undefined,
  now: Date,
): readonly Finding[] {
  if (newest === undefined) return [];
  const { state, dueAt, deadlineAt, isTimedOut, owner, because } = newest;
  const isRunning = state === 'running';
  const isOverdue = isRunning && silentMs === null && deadlineAt !== null && deadlineAt <= now;
  if (!isTimedOut && !isOverdue) return reported && isRunning ? [toCurrentFinding(reported, [seeJobs])] : [];
  const host = owner?.split(':')[0] ?? 'an unknown host';
  const what = isTimedOut
    ? (because ?? 'it exceeded its timeout')
    : `it has exceeded its timeout since ${deadlineAt?.toISOString()} and still runs`;
  return [
    {
      ...{ kind: 'job_stuck', subject: job, roster: null, runId: null, mark: 'job_stuck', isKnown: false },
      reason: `the job ${job} that was due at ${dueAt.toISOString()} is stuck on the host ${host} (process ${owner ?? 'unknown'}): ${what}`,
      actions: [
        seeJobs,
        ...(isRunning ? [`End it: nightscreen schedule cancel ${job}`] : []),
        `Where its code ignores its signal, restart the scheduler on ${host}`,
      ],
    },
  ];
}

function assessJobStart({ job, runs: [newest], start }: JobFacts, reported: Incident | undefined): readonly Finding[] {
  if (start === null) return [];
  const { expected, isWaiting } = start;
  if (expected !== null && newest !== undefined && newest.dueAt >= expected.since) return [];
  if (expected === null || isWaiting) {
    const isMissing = reported !== undefined && (newest === undefined || newest.dueAt <= reported.openedAt);
    return isMissing ? [toCurrentFinding(reported, [seeJobs, toUnplanning(job)])] : [];
  }
  const last =
    newest === undefined
      ? 'it never was'
      : `the last one was due at ${newest.dueAt.toISOString()}${newest.owner === null ? '' : `, by ${newest.owner}`}`;
  const reason = `the job ${job} was not begun: ${expected.because}; ${last}`;
  const actions = ['See that the scheduler is running, and on which host', seeJobs, toUnplanning(job)];
  const about = { subject: job, roster: null, runId: null, isKnown: false };
  return [{ ...about, kind: 'did_not_run', reason, mark: 'did_not_run', actions }];
}

function assessJobEnd(facts: JobFacts, reported: Incident | undefined, now: Date): readonly Finding[] {
  const { job, runs, silentMs } = facts;
  const [newest] = runs;
  if (newest === undefined) return [];
  if (newest.state === 'running' && !assessedByRuns.has(job) && silentMs !== null && silentMs >= longestSilenceMs) {
    const minutes = Math.floor(silentMs / 60_000);
    const why = `its process (${newest.owner ?? 'unknown'}) was last heard of ${minutes} minutes ago`;
    return [toFinding(newest, { what: 'was left', why, mark: 'left', canRepeat: true })];
  }
  if (reported && (newest.state === 'running' || newest.state === 'interrupted'))
    return [toCurrentFinding(reported, [seeJobs])];
  const ended = runs.find(({ state }) => state === 'finished' || state === 'missed');
  if (ended?.state === 'finished' && isConclusive(ended) && !isDoneSince(facts, ended.endedAt))
    return [toFailed(ended)];
  const isAnswered = newest.state === 'missed' && isDoneSince(facts, newest.dueAt);
  return isAnswered ? [] : assessMissed(runs, now);
}

const isDoneSince = ({ doneAt }: JobFacts, since: Date | null): boolean =>
  doneAt !== null && since !== null && doneAt > since;

/** What nobody began: of the newest until it is made up for, of those that a newer one has overtaken for a day after that was noted. */
function assessMissed(runs: readonly JobRun[], now: Date): readonly Finding[] {
  const isReported = ({ state, endedAt }: JobRun, index: number): boolean =>
    state === 'missed' && (index === 0 || (endedAt !== null && now.getTime() - endedAt.getTime() < reportMissedForMs));
  const missed = runs.filter(isReported);
  const [last] = missed;
  if (last === undefined) return [];
  const others = missed.length > 1 ? `, as ${countNoun(missed.length - 1, 'time')} before it` : '';
  const why = `${last.because ?? 'the log says more'}${others}`;
  return [toFinding(last, { what: 'was not begun', why, mark: `missed ${last.dueSlot}`, canRepeat: last === runs[0] })];
}

/** Runs say by their state what 3 and 4 mean; those of other jobs that stopped are no nights. */
function isConclusive({ job, exitCode, runIds }: JobRun): boolean {
  if (exitCode === null || exitCode === 0) return false;
  return runlessExitCodes.has(exitCode) || runIds.length === 0 || (exitCode === 4 && !assessedByRuns.has(job));
}

function toFailed(run: JobRun): Finding {
  const why = run.because ?? 'the log says more';
  const mark = `finished ${run.exitCode}: ${why.replace(/\d+/g, '#')}`;
  const canRepeat = repeatable.has(run.exitCode ?? 0);
  return toFinding(run, { what: `ended with exit code ${run.exitCode}`, why, mark, canRepeat });
}

const seeJobs = 'See the jobs and how they ended: nightscreen schedule show';

function toFinding(
  { job, dueAt }: JobRun,
  { what, why, mark, canRepeat }: { what: string; why: string; mark: string; canRepeat: boolean },
): Finding {
  return {
    kind: 'job_failed',
    subject: job,
    roster: null,
    runId: null,
    reason: `the job ${job} that was due at ${dueAt.toISOString()} ${what}: ${why}`,
    mark,
    isKnown: false,
    actions: [
      seeJobs,
      'Check settings, key and service: nightscreen doctor',
      ...(canRepeat ? [`Run it again once that is mended: nightscreen schedule run ${job}`] : []),
    ],
  };
}

/**
 * The rosters that were begun or screened at what is yet to come: a clock was ahead, and of who was screened by it nobody knows when. It is
 * kept among `job_failed`, with a roster, which no job has.
 */
export function assessAhead(rosters: readonly AheadFacts[]): readonly Finding[] {
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
