import { countNoun } from '../../reports/text.js';
import { describeFailed } from '../../runs/screening/verdict.js';
import { type AheadFacts, type FailingFacts, findSame, type Incident } from '../../store/operations/incidents.js';
import type { JobRun } from '../../store/operations/jobs.js';
import type { NightFacts, Nights, RunningFacts } from '../../store/operations/watch-facts.js';
import type { StartFacts } from './expectations.js';

/** A problem, with the commands to type. */
export interface WatchFinding extends Pick<Incident, 'kind' | 'subject' | 'roster' | 'reason' | 'mark' | 'runId'> {
  actions: readonly string[];
  /** Reported before and unchanged: it is listed, but is no alarm. */
  isKnown: boolean;
}

/** Each kind in a few words, and what to do. An action is left out when the finding lacks a name that it contains. */
const problems: Readonly<Record<Incident['kind'], { words: string; actions: readonly string[] }>> = {
  did_not_run: {
    words: 'did not run',
    actions: [
      'Check that the scheduler, cron or timer is running, and on which host: nightscreen schedule show',
      'Check settings, key, database and service: nightscreen doctor',
      'Start it now: nightscreen {command}',
      'If {job} should not run any more: write "{job}: off" below jobs in the configuration, also on the host of the watchdog',
    ],
  },
  stuck: {
    words: 'is stuck',
    actions: [
      'See what it did: nightscreen runs show {run}',
      'See whether the host of {silentProcess} is up; the next start resumes the run: nightscreen rescreen',
      'See whether the service is out of reach: nightscreen doctor',
    ],
  },
  partial: {
    words: 'ran, but is not complete',
    actions: [
      'See what happened: nightscreen runs show {run}',
      'Resume it: nightscreen runs resume {stoppedRun}',
      'Start it again when that is repaired: nightscreen {command}',
    ],
  },
  customers_failing: {
    words: 'customers cannot be screened',
    actions: [
      'List them: nightscreen runs show {run} --list failed',
      "Send the service's operators the names and the times of the calls",
    ],
  },
  control_failed: {
    words: 'control searches failed',
    actions: [
      'See what happened: nightscreen runs show {run}',
      "Ask the service's operators; check that the party of the control search is still listed",
      'Start it again when that is repaired: nightscreen rescreen',
    ],
  },
  screening_overdue: {
    words: 'screenings are overdue',
    actions: ['List them: nightscreen coverage --limit 20', 'Screen the customers that are due: nightscreen rescreen'],
  },
  job_failed: {
    words: 'the job failed',
    actions: [
      'See the jobs and how they ended: nightscreen schedule show',
      'Check settings, key and service: nightscreen doctor',
      'Run it again when that is repaired: nightscreen {command}',
    ],
  },
  job_stuck: {
    words: 'the job is stuck',
    actions: [
      'See the jobs and how they ended: nightscreen schedule show',
      'End it: nightscreen schedule cancel {job}',
      'If its code ignores its signal, restart the scheduler on {host}',
    ],
  },
  clock_ahead: {
    words: 'a clock was ahead',
    actions: [
      'Correct the clock of the host that runs the nights (NTP), and check it: nightscreen doctor',
      'The next night searches the customers again that it dated more than an hour ahead',
      'To search all now: nightscreen screen --all --roster {roster}',
    ],
  },
};

/** An incident in a few words, as `retail: did not run`. */
export const describeIncident = ({ kind, subject }: Pick<Incident, 'kind' | 'subject'>): string =>
  `${subject}: ${problems[kind].words}`;

type Subject = Pick<Incident, 'subject' | 'roster'>;

/** What a test knows about a problem. Without a mark, the problem is reported only once. */
interface Details
  extends Partial<Record<'command' | 'job' | 'stoppedRun' | 'silentProcess' | 'host', string | undefined>> {
  reason: string;
  mark?: string;
  run?: { runId: number | null; name: string } | null;
}

const placeholder = /\{(\w+)\}/g;

function toFinding(
  kind: Incident['kind'],
  { subject, roster }: Subject,
  { reason, mark = kind, run = null, ...others }: Details,
): WatchFinding {
  const names = new Map(Object.entries({ ...others, run: run?.name, roster }));
  const isNamed = (action: string): boolean =>
    [...action.matchAll(placeholder)].every(([, name = '']) => typeof names.get(name) === 'string');
  const actions = problems[kind].actions
    .filter(isNamed)
    .map((action) => action.replaceAll(placeholder, (place, name) => names.get(name) ?? place));
  return { kind, subject, roster, runId: run?.runId ?? null, reason, mark, actions, isKnown: false };
}

/** An incident that lasts, as it was reported. */
function keep(reported: Incident): WatchFinding {
  const see = endKinds.has(reported.kind) ? 'nightscreen runs' : 'nightscreen schedule show';
  return { ...reported, actions: [`See whether it was resumed: ${see}`], isKnown: false };
}

/** All problems at a moment, compared with the open incidents. */
export function assess(
  facts: {
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
    ...facts.rosters.flatMap((roster) => assessRoster(roster, open, now)),
    ...assessRunning(facts.running, now),
    ...assessSweep(facts.sweep, open),
    ...assessJobs(facts.jobs, open, now),
    ...assessAhead(facts.ahead),
  ];
}

/** An expected start that is missing. One that was reported as missing stays so until something has begun. */
function assessStart(
  subject: Subject,
  { begun, expected, isWaiting }: Omit<StartFacts, 'begun'> & { begun: LastStart | null },
  { what, ...names }: { what: string; command: string; job?: string },
  open: readonly Incident[],
): readonly WatchFinding[] {
  if (expected !== null && begun !== null && begun.takenAt >= expected.since) return [];
  const reported = findSame(open, { kind: 'did_not_run', ...subject });
  const isKept = reported !== undefined && !hasBegunSince(begun, reported);
  if ((expected === null || isWaiting) && !isKept) return [];
  const because = expected === null ? '' : `${expected.because}; `;
  const last =
    begun === null ? 'there was none before' : `the last one is of ${begun.takenAt.toISOString()} (${begun.name})`;
  return [toFinding('did_not_run', subject, { reason: `${what}: ${because}${last}`, run: begun, ...names })];
}

type LastStart = Pick<NightFacts, 'name' | 'takenAt'> & { runId: number | null };

const hasBegunSince = (begun: LastStart | null, { runId, openedAt }: Incident): boolean =>
  begun !== null && ((begun.runId ?? 0) > (runId ?? 0) || begun.takenAt > openedAt);

/** A run that did not end well. Figures and names of runs in its reasons are no news. */
function toPartial(
  subject: Subject,
  run: NightFacts,
  {
    reasons,
    effect = '',
    ...names
  }: { reasons: readonly string[]; effect?: string; command?: string; stoppedRun?: string },
): WatchFinding {
  const because = reasons.length === 0 ? 'it gives no reason' : reasons.join('; ');
  const reason = `${run.name} ended ${run.state}: ${because}${effect}`;
  return toFinding('partial', subject, { reason, mark: toMark(run.state, because), run, ...names });
}

const toMark = (end: string, because: string): string => `${end}: ${because.replace(/\d+/g, '#')}`;

const endKinds: ReadonlySet<Incident['kind']> = new Set(['partial', 'control_failed']);

/**
 * Adds the findings about the end of a run that stay, because no later end has come: a run that is resumed has left the reported state, and one
 * that was abandoned for a newer one no longer counts.
 */
function addUnanswered(
  findings: readonly WatchFinding[],
  about: Subject,
  { ended }: Pick<Nights, 'ended'>,
  open: readonly Incident[],
): readonly WatchFinding[] {
  const unanswered = open.filter(
    ({ kind, subject, roster, runId }) =>
      endKinds.has(kind) &&
      subject === about.subject &&
      roster === about.roster &&
      (ended?.runId ?? 0) < (runId ?? 0) &&
      !findings.some((one) => one.kind === kind),
  );
  return [...findings, ...unanswered.map(keep)];
}

/** A run that saves nothing for longer is stuck. */
const stuckAfterMs = 2 * 3_600_000;
/** A process at work on a run or job renews its lock every second; after this silence it has crashed or hangs. */
const longestSilenceMs = 10 * 60_000;

const toMinutes = (ms: number): string => `${Math.floor(ms / 60_000)} minutes`;

/** The runs in progress without a living process, or that have saved nothing for too long. */
export function assessRunning(running: readonly RunningFacts[], now: Date): readonly WatchFinding[] {
  return running.flatMap((run) => {
    const { name, roster, owner, silentMs, activeAt } = run;
    const subject = { subject: name, roster };
    if (silentMs !== null && silentMs >= longestSilenceMs) {
      const reason = `the last sign of its process (${owner}) was ${toMinutes(silentMs)} ago, and no other process has resumed it`;
      return [toFinding('stuck', subject, { reason, mark: 'silent', run, silentProcess: owner })];
    }
    const idleMs = now.getTime() - activeAt.getTime();
    if (silentMs !== null || idleMs < stuckAfterMs) return [];
    const reason = `its process (${owner}) is alive, but it has saved nothing for ${toMinutes(idleMs)}`;
    return [toFinding('stuck', subject, { reason, mark: 'idle', run })];
  });
}

export interface WatchedSweep extends Nights, StartFacts {
  isPlanned: boolean;
  /** Whether the last one is recent; where none are planned, an old sweep is history. */
  isRecent: boolean;
}

/** The problems of the sweep of dossiers, compared with the open incidents. */
export function assessSweep(facts: WatchedSweep, open: readonly Incident[]): readonly WatchFinding[] {
  const { ended, isPlanned, isRecent } = facts;
  if (!isPlanned && !isRecent) return [];
  const subject = toSubject('sweep');
  const start = { what: 'no sweep of the dossiers has begun', command: 'sweep', job: 'sweep' };
  const findings = isPlanned ? [...assessStart(subject, facts, start, open)] : [];
  if (ended !== null && (ended.state !== 'complete' || ended.isProven === false)) {
    const effect = '; it reports no dossier as removed';
    findings.push(toPartial(subject, ended, { reasons: ended.reasons, effect, command: 'sweep' }));
  }
  return addUnanswered(findings, subject, facts, open);
}

export interface RosterFacts extends Nights, StartFacts {
  roster: string;
  /** Null before the first import of the roster. */
  failing: FailingFacts | null;
  /** Customers whose last valid answer is older than cadence and grace, without those whose searches fail. */
  overdue: { customers: number; oldestScreenedAt: Date | null };
}

/** The problems of a roster, compared with the open incidents. A night reports at its end; until then the one before it counts. */
export function assessRoster(facts: RosterFacts, open: readonly Incident[], now: Date): readonly WatchFinding[] {
  const subject = { subject: facts.roster, roster: facts.roster };
  const start = { what: 'no screening of it has begun', command: 'rescreen' };
  const findings = [
    ...assessStart(subject, facts, start, open),
    ...assessControls(facts, subject),
    ...assessEnd(facts, subject),
    ...assessAge(facts, subject, now),
    ...assessFailing(facts, findSame(open, { kind: 'customers_failing', ...subject }), now),
  ];
  return addUnanswered(findings, subject, facts, open);
}

/** A failed control search is reported before its run ends. */
function assessControls({ begun, ended }: RosterFacts, subject: Subject): readonly WatchFinding[] {
  const run = [begun, ended].find((one) => one?.hasFailedControl);
  if (!run) return [];
  const reason = `control searches of ${run.name} failed: the answers of the service are not reliable, and the customers that were searched are not screened`;
  return [toFinding('control_failed', subject, { reason, run })];
}

const partialStates: ReadonlySet<string> = new Set(['incomplete', 'stopped', 'unbalanced', 'refused']);

/** A run that is partial only because of failing customers or control searches has its own finding. */
function assessEnd({ ended: night }: RosterFacts, subject: Subject): readonly WatchFinding[] {
  if (night === null || !partialStates.has(night.state)) return [];
  const { state, reasons, failed, hasFailedControl } = night;
  const others = reasons.filter((reason) => failed === 0 || reason !== describeFailed(failed));
  if (state === 'incomplete' && (hasFailedControl || (others.length === 0 && reasons.length > 0))) return [];
  const names = state === 'stopped' ? { stoppedRun: night.name } : { command: 'rescreen' };
  return [toPartial(subject, night, { reasons: others, ...names })];
}

function assessAge(
  { begun, ended, overdue: { customers, oldestScreenedAt } }: RosterFacts,
  subject: Subject,
  now: Date,
): readonly WatchFinding[] {
  if (customers === 0) return [];
  // The age of a screening by a clock that was ahead is unknown.
  const isAhead = oldestScreenedAt !== null && oldestScreenedAt > now;
  const since = oldestScreenedAt === null || isAhead ? '' : `; the oldest is of ${oldestScreenedAt.toISOString()}`;
  const age = isAhead ? 'dated in the future' : 'older than the screening frequency allows';
  const reason = `the screening of ${countNoun(customers, 'customer')} is ${age}${since}`;
  return [toFinding('screening_overdue', subject, { reason, run: ended ?? begun })];
}

/** Customers that fail every night are reported when they are new and when they fail for too long, and are otherwise listed as known. */
function assessFailing(
  { roster, failing, ended }: RosterFacts,
  reported: Incident | undefined,
  now: Date,
): readonly WatchFinding[] {
  // A failed control search voided the answers, so it says nothing about the customers.
  if (ended?.hasFailedControl) return reported ? [{ ...reported, actions: [], isKnown: true }] : [];
  if (ended === null || !failing?.run || failing.customers === 0) return [];
  const { customers, newly, aged, since, run } = failing;
  const runId = Math.max(run.runId, ended.runId);
  const isNew = reported === undefined || newly > 0 || aged > 0;
  const parts = [`${countNoun(customers, 'customer')} cannot be screened though the service answers others`];
  if (newly > 0) parts.push(`${newly} of them newly`);
  if (aged > 0) parts.push(`${aged} without a valid answer for longer than a week`);
  if (since !== null) parts.push(`the longest since ${since.toISOString()}`);
  const mark = isNew ? `${runId}/${newly}/${aged}/${now.toISOString().slice(0, 10)}` : reported.mark;
  const finding = toFinding('customers_failing', { subject: roster, roster }, { reason: parts.join('; '), mark, run });
  // Until another run has looked, this stays news.
  return [{ ...finding, runId, isKnown: !isNew && reported.runId !== runId }];
}

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

const toSubject = (job: string): Subject => ({ subject: job, roster: null });

/**
 * The jobs of the scheduler that did not start, that failed or were refused at their last end, or whose process has gone silent. While a job is
 * in progress, what was reported of it stays.
 */
export function assessJobs(jobs: readonly JobFacts[], open: readonly Incident[], now: Date): readonly WatchFinding[] {
  return jobs.flatMap((facts) => {
    const subject = toSubject(facts.job);
    const stuck = assessJobStuck(facts, findSame(open, { kind: 'job_stuck', ...subject }), now);
    if (stuck.length > 0) return stuck;
    const end = assessJobEnd(facts, findSame(open, { kind: 'job_failed', ...subject }), now);
    return [...assessJobStart(facts, open), ...end];
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
  if (!isTimedOut && !isOverdue) return reported && isRunning ? [keep(reported)] : [];
  const host = owner?.split(':')[0] ?? 'an unknown host';
  const what = isTimedOut
    ? (because ?? 'it exceeded its timeout')
    : `it has exceeded its timeout since ${deadlineAt?.toISOString()} and still runs`;
  const reason = `the job ${job} that was due at ${dueAt.toISOString()} is stuck on the host ${host} (process ${owner ?? 'unknown'}): ${what}`;
  return [toFinding('job_stuck', toSubject(job), { reason, host, job: isRunning ? job : undefined })];
}

function assessJobStart({ job, runs: [newest], start }: JobFacts, open: readonly Incident[]): readonly WatchFinding[] {
  if (start === null) return [];
  const begun = newest ? { runId: null, name: newest.owner ?? newest.state, takenAt: newest.dueAt } : null;
  const names = { what: `the job ${job} did not start`, command: `schedule run ${job}`, job };
  return assessStart(toSubject(job), { ...start, begun }, names, open);
}

function assessJobEnd(facts: JobFacts, reported: Incident | undefined, now: Date): readonly WatchFinding[] {
  const { job, runs, silentMs } = facts;
  const [newest] = runs;
  if (newest === undefined) return [];
  if (newest.state === 'running' && !assessedByRuns.has(job) && silentMs !== null && silentMs >= longestSilenceMs) {
    const why = `the last sign of its process (${newest.owner ?? 'unknown'}) was ${toMinutes(silentMs)} ago`;
    return [toFailed(newest, { what: `was interrupted: ${why}`, mark: 'left', canRepeat: true })];
  }
  if (reported && (newest.state === 'running' || newest.state === 'interrupted')) return [keep(reported)];
  const ended = runs.find(({ state }) => state === 'finished' || state === 'missed');
  if (ended?.state === 'finished' && isConclusive(ended) && !isDoneSince(facts, ended.endedAt)) {
    const why = ended.because ?? logSaysMore;
    const what = `ended with exit code ${ended.exitCode}: ${why}`;
    const mark = toMark(`finished ${ended.exitCode}`, why);
    return [toFailed(ended, { what, mark, canRepeat: repeatable.has(ended.exitCode ?? 0) })];
  }
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
  const what = `did not start: ${last.because ?? logSaysMore}${others}`;
  return [toFailed(last, { what, mark: `missed ${last.dueSlot}`, canRepeat: last === runs[0] })];
}

/** The state of a run explains exit codes 3 and 4; a stopped job that makes no nights has no such run. */
function isConclusive({ job, exitCode, runIds }: JobRun): boolean {
  if (exitCode === null || exitCode === 0) return false;
  return runlessExitCodes.has(exitCode) || runIds.length === 0 || (exitCode === 4 && !assessedByRuns.has(job));
}

const logSaysMore = 'the log says more';

function toFailed(
  { job, dueAt }: JobRun,
  { what, mark, canRepeat }: { what: string; mark: string; canRepeat: boolean },
): WatchFinding {
  const reason = `the job ${job} that was due at ${dueAt.toISOString()} ${what}`;
  const command = canRepeat ? `schedule run ${job}` : undefined;
  return toFinding('job_failed', toSubject(job), { reason, mark, command });
}

/** The rosters with a run or a screening dated in the future: a clock was ahead, and the time of these screenings is unknown. */
export function assessAhead(rosters: readonly AheadFacts[]): readonly WatchFinding[] {
  return rosters.map(({ roster, run, startedAt, customers, latestScreenedAt }) => {
    const parts = startedAt === null ? [] : [`${run} began at ${startedAt.toISOString()}, which is in the future`];
    if (latestScreenedAt !== null) {
      const who = `${countNoun(customers, 'customer')} screened in the future`;
      parts.push(`${who}, up to ${latestScreenedAt.toISOString()}`);
    }
    const mark = customers > 0 ? 'screened ahead' : 'begun ahead';
    return toFinding('clock_ahead', { subject: roster, roster }, { reason: parts.join('; '), mark });
  });
}
