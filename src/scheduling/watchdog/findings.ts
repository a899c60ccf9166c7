import { countNoun } from '../../reports/text.js';
import { describeFailed } from '../../runs/run-summary.js';
import { type AheadFacts, type FailingFacts, findSame, type Incident } from '../../store/incidents.js';
import type { JobRun } from '../../store/jobs.js';
import type { NightFacts, Nights, RunningFacts } from '../../store/watch-facts.js';
import type { StartFacts } from './expectations.js';

/** A problem, with the commands to type. */
export interface WatchFinding extends Pick<Incident, 'kind' | 'subject' | 'roster' | 'reason' | 'mark' | 'runId'> {
  actions: readonly string[];
  /** Reported before and unchanged: it is listed, but is no alarm. */
  isKnown: boolean;
}

const words: Readonly<Record<Incident['kind'], string>> = {
  did_not_run: 'did not run',
  stuck: 'is stuck',
  partial: 'ran, but is not complete',
  customers_failing: 'customers cannot be screened',
  control_failed: 'control searches failed',
  screening_overdue: 'screenings are overdue',
  job_failed: 'the job failed',
  job_stuck: 'the job is stuck',
  clock_ahead: 'a clock was ahead',
};

/** An incident in a few words, as `retail: did not run`. */
export const describeIncident = ({ kind, subject }: Pick<Incident, 'kind' | 'subject'>): string =>
  `${subject}: ${words[kind]}`;

/** All problems at a moment, compared with the open incidents. */
export function assess(
  {
    rosters,
    running,
    sweep,
    jobs,
    ahead,
  }: {
    rosters: readonly RosterFacts[];
    running: readonly RunningFacts[];
    sweep: WatchedSweep;
    jobs: readonly JobFacts[];
    ahead: readonly AheadFacts[];
  },
  open: readonly Incident[],
  now: Date,
): readonly WatchFinding[] {
  return [
    ...rosters.flatMap((facts) => assessRoster(facts, open, now)),
    ...assessRunning(running, now),
    ...assessSweep(sweep, open),
    ...assessJobs(jobs, open, now),
    ...assessAhead(ahead),
  ];
}

const toCurrentFinding = (
  { kind, subject, roster, runId, reason, mark }: Incident,
  actions: readonly string[],
): WatchFinding => ({ kind, subject, roster, runId, reason, mark, actions, isKnown: false });

/** Whether an expected start is missing. A start that was reported as missing stays so until something has begun. */
function isStartMissing({ begun, expected, isWaiting }: StartFacts, reported: Incident | undefined): boolean {
  if (expected !== null && begun !== null && begun.takenAt >= expected.since) return false;
  if (expected !== null && !isWaiting) return true;
  return reported !== undefined && !hasBegunSince(begun, reported);
}

const hasBegunSince = (begun: NightFacts | null, { runId, openedAt }: Incident): boolean =>
  begun !== null && (begun.runId > (runId ?? 0) || begun.takenAt > openedAt);

const endKinds: ReadonlySet<Incident['kind']> = new Set(['partial', 'control_failed']);

/**
 * Findings about the end of a run that stay, because no later end has come: a run that is resumed has left the reported state, and one that was
 * abandoned for a newer one no longer counts.
 */
function findUnanswered(
  { ended }: Pick<Nights, 'ended'>,
  { subject, roster }: Pick<Incident, 'subject' | 'roster'>,
  { open, findings }: { open: readonly Incident[]; findings: readonly Pick<WatchFinding, 'kind'>[] },
): readonly WatchFinding[] {
  const isUnanswered = ({ kind, runId }: Incident): boolean =>
    endKinds.has(kind) && (ended?.runId ?? 0) < (runId ?? 0) && !findings.some((one) => one.kind === kind);
  return open
    .filter((incident) => incident.subject === subject && incident.roster === roster && isUnanswered(incident))
    .map((incident) => toCurrentFinding(incident, ['See whether it was resumed: nightscreen runs']));
}

/** A run that saves nothing for longer is stuck. */
const stuckAfterMs = 2 * 3_600_000;
/** A process at work on a run or job renews its lock every second; after this silence it has crashed or hangs. */
const longestSilenceMs = 10 * 60_000;

const toMinutes = (ms: number): string => `${Math.floor(ms / 60_000)} minutes`;

/** The runs in progress without a living process, or that have saved nothing for too long. */
export function assessRunning(running: readonly RunningFacts[], now: Date): readonly WatchFinding[] {
  return running.flatMap(({ runId, name, roster, owner, silentMs, activeAt }): WatchFinding[] => {
    const shared = { kind: 'stuck', subject: name, roster, runId, isKnown: false } as const;
    const see = `See what it did: nightscreen runs show ${name}`;
    if (silentMs !== null && silentMs >= longestSilenceMs) {
      const reason = `the last sign of its process (${owner}) was ${toMinutes(silentMs)} ago, and no other process has resumed it`;
      const actions = [see, 'See whether that host is up', 'The next start resumes it: nightscreen rescreen'];
      return [{ ...shared, reason, mark: 'silent', actions }];
    }
    const idleMs = now.getTime() - activeAt.getTime();
    if (silentMs !== null || idleMs < stuckAfterMs) return [];
    const reason = `its process (${owner}) is alive, but it has saved nothing for ${toMinutes(idleMs)}`;
    const actions = [see, 'See whether the service is out of reach: nightscreen doctor'];
    return [{ ...shared, reason, mark: 'idle', actions }];
  });
}

/** The facts about the sweeps of dossiers. */
export interface WatchedSweep extends Nights, StartFacts {
  isPlanned: boolean;
  /** Whether the last one is recent; where none are planned, an old sweep is history. */
  isRecent: boolean;
}

/** The configuration that ends the expectation of a job. */
const toUnplanning = (job: string): string =>
  `If ${job} should not run any more: write "${job}: off" below jobs in the configuration, also on the host of the watchdog`;

const sweepSubject = { subject: 'sweep', roster: null } as const;

const again = 'Sweep again: nightscreen sweep';

/** The problems of the sweep of dossiers, compared with the open incidents. */
export function assessSweep(facts: WatchedSweep, open: readonly Incident[]): readonly WatchFinding[] {
  if (!facts.isPlanned && !facts.isRecent) return [];
  const findings = [...(facts.isPlanned ? assessSweepStart(facts, open) : []), ...assessSweepEnd(facts.ended)];
  return [...findings, ...findUnanswered(facts, sweepSubject, { open, findings })];
}

function assessSweepStart(facts: WatchedSweep, open: readonly Incident[]): readonly WatchFinding[] {
  const { begun, expected } = facts;
  if (!isStartMissing(facts, findSame(open, { kind: 'did_not_run', ...sweepSubject }))) return [];
  const last =
    begun === null ? 'there never was one' : `the last one, ${begun.name}, began at ${begun.takenAt.toISOString()}`;
  const because = expected === null ? '' : `${expected.because}; `;
  const reason = `no sweep of the dossiers has begun: ${because}${last}`;
  const what = { kind: 'did_not_run', reason, mark: 'did_not_run', actions: [again, toUnplanning('sweep')] } as const;
  return [{ ...sweepSubject, runId: begun?.runId ?? null, isKnown: false, ...what }];
}

function assessSweepEnd(ended: NightFacts | null): readonly WatchFinding[] {
  if (ended === null || (ended.state === 'complete' && ended.isProven !== false)) return [];
  const { runId, name, state, reasons } = ended;
  const because = reasons.length > 0 ? reasons.join('; ') : 'it gives no reason';
  const reason = `${name} ended ${state}: ${because}; it reports no dossier as removed`;
  const mark = `${state}: ${because.replace(/\d+/g, '#')}`;
  const actions = [`See what happened: nightscreen runs show ${name}`, again];
  return [{ ...sweepSubject, runId, isKnown: false, kind: 'partial', reason, mark, actions }];
}

/** The facts about a roster. */
export interface RosterFacts extends Nights, StartFacts {
  roster: string;
  /** Null before the first import of the roster. */
  failing: FailingFacts | null;
  /** Customers whose last valid answer is older than cadence and grace, without those whose searches fail. */
  overdue: { customers: number; oldestScreenedAt: Date | null };
}

const see = (night: Pick<NightFacts, 'name'>): string => `See what happened: nightscreen runs show ${night.name}`;
const startAgain = 'Start it again when that is repaired: nightscreen rescreen';

/** The problems of a roster, compared with the open incidents. A night reports at its end; until then the one before it counts. */
export function assessRoster(facts: RosterFacts, open: readonly Incident[], now: Date): readonly WatchFinding[] {
  const { roster, begun, ended } = facts;
  const about = { subject: roster, roster };
  const reported = (kind: WatchFinding['kind']): Incident | undefined => findSame(open, { kind, ...about });
  const assessed = [
    assessRosterStart(facts, reported('did_not_run')),
    assessControls(facts),
    assessRosterEnd(ended),
    assessAge(facts, now),
    assessFailing(facts, reported('customers_failing'), now),
  ];
  const shared = { ...about, runId: (ended ?? begun)?.runId ?? null, isKnown: false };
  const findings = assessed.flatMap((one) => (one === null ? [] : [{ ...shared, ...one }]));
  return [...findings, ...findUnanswered(facts, about, { open, findings })];
}

type JobAssessment = Pick<WatchFinding, 'kind' | 'reason' | 'mark' | 'actions'> &
  Partial<Pick<WatchFinding, 'isKnown' | 'runId'>>;

function assessRosterStart(facts: RosterFacts, reported: Incident | undefined): JobAssessment | null {
  if (!isStartMissing(facts, reported)) return null;
  const { begun, expected } = facts;
  const last =
    begun === null ? 'there was none before' : `the last one, ${begun.name}, began at ${begun.takenAt.toISOString()}`;
  return {
    kind: 'did_not_run',
    runId: begun?.runId ?? null,
    reason: `no screening of it has begun: ${expected === null ? '' : `${expected.because}; `}${last}`,
    mark: 'did_not_run',
    actions: [
      'Check that the scheduler, cron or timer is running, and on which host',
      'Check settings, key, database and service: nightscreen doctor',
      'Screen now: nightscreen rescreen',
    ],
  };
}

/** A failed control search is reported before its run ends. */
function assessControls({ begun, ended }: RosterFacts): JobAssessment | null {
  const night = [begun, ended].find((one) => one?.hasFailedControl);
  if (!night) return null;
  return {
    kind: 'control_failed',
    runId: night.runId,
    reason: `control searches of ${night.name} failed: the answers of the service are not reliable, and the customers that were searched are not screened`,
    mark: 'control_failed',
    actions: [
      see(night),
      "Ask the service's operators; check that the party of the control search is still listed",
      startAgain,
    ],
  };
}

const partialStates: ReadonlySet<string> = new Set(['incomplete', 'stopped', 'unbalanced', 'refused']);

/** A run that is partial only because of failing customers or control searches has its own finding. */
function assessRosterEnd(night: NightFacts | null): JobAssessment | null {
  if (night === null || !partialStates.has(night.state)) return null;
  const { state, reasons, failed, hasFailedControl, name } = night;
  const others = reasons.filter((reason) => failed === 0 || reason !== describeFailed(failed));
  if (state === 'incomplete' && (hasFailedControl || (others.length === 0 && reasons.length > 0))) return null;
  const because = others.length === 0 ? 'it gives no reason' : others.join('; ');
  return {
    kind: 'partial',
    reason: `${name} ended ${state}: ${because}`,
    // Figures and names of runs are no news.
    mark: `${state}: ${because.replace(/\d+/g, '#')}`,
    actions: [see(night), ...(state === 'stopped' ? [`Resume it: nightscreen runs resume ${name}`] : [startAgain])],
  };
}

function assessAge({ overdue: { customers, oldestScreenedAt } }: RosterFacts, now: Date): JobAssessment | null {
  if (customers === 0) return null;
  // The age of a screening by a clock that was ahead is unknown.
  const isAhead = oldestScreenedAt !== null && oldestScreenedAt > now;
  const since = oldestScreenedAt === null || isAhead ? '' : `; the oldest is of ${oldestScreenedAt.toISOString()}`;
  return {
    kind: 'screening_overdue',
    reason: `the screening of ${countNoun(customers, 'customer')} is ${isAhead ? 'dated in the future' : 'older than the screening frequency allows'}${since}`,
    mark: 'screening_overdue',
    actions: ['List them: nightscreen coverage --limit 20', 'Screen the customers that are due: nightscreen rescreen'],
  };
}

/** Customers that fail every night are reported when they are new and when they fail for too long, and are otherwise listed as known. */
function assessFailing(
  { failing, ended }: RosterFacts,
  reported: Incident | undefined,
  now: Date,
): JobAssessment | null {
  // A failed control search voided the answers, so it says nothing about the customers.
  if (ended?.hasFailedControl && reported) {
    const { kind, runId, reason, mark } = reported;
    return { kind, runId, reason, mark, isKnown: true, actions: [] };
  }
  if (ended === null || ended.hasFailedControl || !failing?.run || failing.customers === 0) return null;
  const { customers, newly, aged, since, run } = failing;
  const lookedAt = Math.max(run.runId, ended.runId);
  const isNew = reported === undefined || newly > 0 || aged > 0;
  const parts = [
    `${countNoun(customers, 'customer')} cannot be screened though the service answers others`,
    ...(newly > 0 ? [`${newly} of them newly`] : []),
    ...(aged > 0 ? [`${aged} without a valid answer for longer than a week`] : []),
    ...(since === null ? [] : [`the longest since ${since.toISOString()}`]),
  ];
  return {
    kind: 'customers_failing',
    runId: lookedAt,
    reason: parts.join('; '),
    mark: isNew ? `${lookedAt}/${newly}/${aged}/${now.toISOString().slice(0, 10)}` : reported.mark,
    // Until another run has looked, this stays news.
    isKnown: !isNew && reported.runId !== lookedAt,
    actions: [
      `List them: nightscreen runs show ${run.name} --list failed`,
      "Send the service's operators the names and the times of the calls",
    ],
  };
}

/** The facts about a job of the scheduler. */
export interface JobFacts {
  job: string;
  /** Its last runs, newest first. */
  runs: readonly JobRun[];
  /** The age of the last heartbeat of the process that began the newest run and has not ended it; null for none. */
  silentMs: number | null;
  /** When its work was last begun and has ended, by any command; null when only the job itself shows that. */
  doneAt: Date | null;
  /** Null when its starts are not noted, and for jobs whose runs are assessed. */
  start: Omit<StartFacts, 'begun'> | null;
}

/** The jobs whose runs are assessed instead. */
const assessedByRuns: ReadonlySet<string> = new Set(['rescreen', 'sweep']);
/** With these exit codes there may be no run that reports the failure. */
const runlessExitCodes: ReadonlySet<number> = new Set([1, 2]);
/** After these exit codes a job may be run again for the same date. */
const repeatable: ReadonlySet<number> = new Set([1, 2, 4]);
const reportMissedForMs = 24 * 3_600_000;

/**
 * The jobs of the scheduler that did not start, that failed or were refused at their last end, or whose process has gone silent. While a job is
 * in progress, what was reported of it stays.
 */
export function assessJobs(jobs: readonly JobFacts[], open: readonly Incident[], now: Date): readonly WatchFinding[] {
  return jobs.flatMap((facts) => {
    const reported = (kind: WatchFinding['kind']): Incident | undefined =>
      findSame(open, { kind, subject: facts.job, roster: null });
    const stuck = assessJobStuck(facts, reported('job_stuck'), now);
    if (stuck.length > 0) return stuck;
    return [...assessJobStart(facts, reported('did_not_run')), ...assessJobEnd(facts, reported('job_failed'), now)];
  });
}

/** A job past its timeout, whether its process still renews the lease or has stopped waiting; until a later attempt ends. */
function assessJobStuck(
  { job, runs: [newest], silentMs }: JobFacts,
  reported: Incident | undefined,
  now: Date,
): readonly WatchFinding[] {
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
      kind: 'job_stuck',
      subject: job,
      roster: null,
      runId: null,
      mark: 'job_stuck',
      isKnown: false,
      reason: `the job ${job} that was due at ${dueAt.toISOString()} is stuck on the host ${host} (process ${owner ?? 'unknown'}): ${what}`,
      actions: [
        seeJobs,
        ...(isRunning ? [`End it: nightscreen schedule cancel ${job}`] : []),
        `If its code ignores its signal, restart the scheduler on ${host}`,
      ],
    },
  ];
}

function assessJobStart(
  { job, runs: [newest], start }: JobFacts,
  reported: Incident | undefined,
): readonly WatchFinding[] {
  if (start === null) return [];
  const { expected, isWaiting } = start;
  if (expected !== null && newest !== undefined && newest.dueAt >= expected.since) return [];
  if (expected === null || isWaiting) {
    const isMissing = reported !== undefined && (newest === undefined || newest.dueAt <= reported.openedAt);
    return isMissing ? [toCurrentFinding(reported, [seeJobs, toUnplanning(job)])] : [];
  }
  const last =
    newest === undefined
      ? 'there was none before'
      : `the last one was due at ${newest.dueAt.toISOString()}${newest.owner === null ? '' : `, by ${newest.owner}`}`;
  const reason = `the job ${job} did not start: ${expected.because}; ${last}`;
  const actions = ['Check that the scheduler is running, and on which host', seeJobs, toUnplanning(job)];
  const about = { subject: job, roster: null, runId: null, isKnown: false };
  return [{ ...about, kind: 'did_not_run', reason, mark: 'did_not_run', actions }];
}

function assessJobEnd(facts: JobFacts, reported: Incident | undefined, now: Date): readonly WatchFinding[] {
  const { job, runs, silentMs } = facts;
  const [newest] = runs;
  if (newest === undefined) return [];
  if (newest.state === 'running' && !assessedByRuns.has(job) && silentMs !== null && silentMs >= longestSilenceMs) {
    const minutes = Math.floor(silentMs / 60_000);
    const why = `the last sign of its process (${newest.owner ?? 'unknown'}) was ${minutes} minutes ago`;
    return [toFinding(newest, { what: 'was interrupted', why, mark: 'left', canRepeat: true })];
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

/** Missed starts: the newest until it is made up for, older ones for a day after they were noted. */
function assessMissed(runs: readonly JobRun[], now: Date): readonly WatchFinding[] {
  const isReported = ({ state, endedAt }: JobRun, index: number): boolean =>
    state === 'missed' && (index === 0 || (endedAt !== null && now.getTime() - endedAt.getTime() < reportMissedForMs));
  const missed = runs.filter(isReported);
  const [last] = missed;
  if (last === undefined) return [];
  const others = missed.length > 1 ? `, as ${countNoun(missed.length - 1, 'time')} before it` : '';
  const why = `${last.because ?? 'the log says more'}${others}`;
  return [toFinding(last, { what: 'did not start', why, mark: `missed ${last.dueSlot}`, canRepeat: last === runs[0] })];
}

/** The state of a run explains exit codes 3 and 4; a stopped job that makes no nights has no such run. */
function isConclusive({ job, exitCode, runIds }: JobRun): boolean {
  if (exitCode === null || exitCode === 0) return false;
  return runlessExitCodes.has(exitCode) || runIds.length === 0 || (exitCode === 4 && !assessedByRuns.has(job));
}

function toFailed(run: JobRun): WatchFinding {
  const why = run.because ?? 'the log says more';
  const mark = `finished ${run.exitCode}: ${why.replace(/\d+/g, '#')}`;
  const canRepeat = repeatable.has(run.exitCode ?? 0);
  return toFinding(run, { what: `ended with exit code ${run.exitCode}`, why, mark, canRepeat });
}

const seeJobs = 'See the jobs and how they ended: nightscreen schedule show';

function toFinding(
  { job, dueAt }: JobRun,
  { what, why, mark, canRepeat }: { what: string; why: string; mark: string; canRepeat: boolean },
): WatchFinding {
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
      ...(canRepeat ? [`Run it again when that is repaired: nightscreen schedule run ${job}`] : []),
    ],
  };
}

/** The rosters with a run or a screening dated in the future: a clock was ahead, and the time of these screenings is unknown. */
export function assessAhead(rosters: readonly AheadFacts[]): readonly WatchFinding[] {
  return rosters.map(({ roster, run, startedAt, customers, latestScreenedAt }) => {
    const began = startedAt === null ? [] : [`${run} began at ${startedAt.toISOString()}, which is in the future`];
    const who = `${countNoun(customers, 'customer')} screened in the future`;
    const screened = latestScreenedAt === null ? [] : [`${who}, up to ${latestScreenedAt.toISOString()}`];
    return {
      kind: 'clock_ahead',
      subject: roster,
      roster,
      runId: null,
      reason: [...began, ...screened].join('; '),
      mark: customers > 0 ? 'screened ahead' : 'begun ahead',
      isKnown: false,
      actions: [
        'Correct the clock of the host that runs the nights (NTP), and check it: nightscreen doctor',
        `The next night searches the customers again that it dated more than an hour ahead; to search all now: nightscreen screen --all --roster ${roster}`,
      ],
    };
  });
}
