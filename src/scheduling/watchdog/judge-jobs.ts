import { countNoun } from '../../reports/text.js';
import type { Incident } from '../../store/incidents.js';
import type { JobRun } from '../../store/jobs.js';
import { type StartFacts, toUnplanning } from './expectations.js';
import { type Finding, findSame, toStanding } from './findings.js';

/** What is known of a job of the scheduler. */
export interface JobFacts {
  job: string;
  /** What became of its last times, newest first. */
  runs: readonly JobRun[];
  /** How long ago the process was last heard of that began the newest and has not ended it; null where none is missing. */
  silentMs: number | null;
  /** When what it does was last begun and has ended, by whatever command; null where only the job itself can tell. */
  doneAt: Date | null;
  /** Null where nobody notes its starts, and for those whose runs are judged by themselves. */
  start: Omit<StartFacts, 'begun'> | null;
}

/** The jobs whose runs are judged by themselves. */
export const judgedByRuns: ReadonlySet<string> = new Set(['rescreen', 'sweep']);
/** These exit codes say that there may be no run that says the same. */
const runlessExitCodes: ReadonlySet<number> = new Set([1, 2]);
/** These let a job be begun again for the same date. */
const repeatable: ReadonlySet<number> = new Set([1, 2, 4]);
/** Who runs a job renews its lock every second. */
const longestSilenceMs = 10 * 60_000;
const tellMissedMs = 24 * 3_600_000;

/**
 * The jobs of the scheduler that were not begun, failed or were refused the last time they came to an end, or whose process is gone. While one
 * is under way, what was told of it stands.
 */
export function judgeJobs(jobs: readonly JobFacts[], open: readonly Incident[], now: Date): readonly Finding[] {
  return jobs.flatMap((facts) => {
    const told = (kind: Finding['kind']): Incident | undefined =>
      findSame(open, { kind, subject: facts.job, roster: null });
    const stuck = judgeStuck(facts, told('job_stuck'), now);
    if (stuck.length > 0) return stuck;
    return [...judgeStart(facts, told('did_not_run')), ...judgeEnd(facts, told('job_failed'), now)];
  });
}

/** A job that has exceeded its timeout, whether its process still renews its lease or has stopped waiting for it; until a later attempt ends. */
function judgeStuck(
  { job, runs: [newest], silentMs }: JobFacts,
  told: Incident | undefined,
  now: Date,
): readonly Finding[] {
  if (newest === undefined) return [];
  const { state, dueAt, deadlineAt, isTimedOut, owner, because } = newest;
  const isRunning = state === 'running';
  const isOverdue = isRunning && silentMs === null && deadlineAt !== null && deadlineAt <= now;
  if (!isTimedOut && !isOverdue) return told && isRunning ? [toStanding(told, [seeJobs])] : [];
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

function judgeStart({ job, runs: [newest], start }: JobFacts, told: Incident | undefined): readonly Finding[] {
  if (start === null) return [];
  const { expected, isWaiting } = start;
  if (expected !== null && newest !== undefined && newest.dueAt >= expected.since) return [];
  if (expected === null || isWaiting) {
    const isMissing = told !== undefined && (newest === undefined || newest.dueAt <= told.openedAt);
    return isMissing ? [toStanding(told, [seeJobs, toUnplanning(job)])] : [];
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

function judgeEnd(facts: JobFacts, told: Incident | undefined, now: Date): readonly Finding[] {
  const { job, runs, silentMs } = facts;
  const [newest] = runs;
  if (newest === undefined) return [];
  if (newest.state === 'running' && !judgedByRuns.has(job) && silentMs !== null && silentMs >= longestSilenceMs) {
    const minutes = Math.floor(silentMs / 60_000);
    const why = `its process (${newest.owner ?? 'unknown'}) was last heard of ${minutes} minutes ago`;
    return [toFinding(newest, { what: 'was left', why, mark: 'left', canRepeat: true })];
  }
  if (told && (newest.state === 'running' || newest.state === 'interrupted')) return [toStanding(told, [seeJobs])];
  const ended = runs.find(({ state }) => state === 'finished' || state === 'missed');
  if (ended?.state === 'finished' && isTelling(ended) && !isDoneSince(facts, ended.endedAt)) return [toFailed(ended)];
  const isAnswered = newest.state === 'missed' && isDoneSince(facts, newest.dueAt);
  return isAnswered ? [] : judgeMissed(runs, now);
}

const isDoneSince = ({ doneAt }: JobFacts, since: Date | null): boolean =>
  doneAt !== null && since !== null && doneAt > since;

/** What nobody began: of the newest until it is made up for, of those that a newer one has overtaken for a day after that was noted. */
function judgeMissed(runs: readonly JobRun[], now: Date): readonly Finding[] {
  const isTold = ({ state, endedAt }: JobRun, index: number): boolean =>
    state === 'missed' && (index === 0 || (endedAt !== null && now.getTime() - endedAt.getTime() < tellMissedMs));
  const missed = runs.filter(isTold);
  const [last] = missed;
  if (last === undefined) return [];
  const others = missed.length > 1 ? `, as ${countNoun(missed.length - 1, 'time')} before it` : '';
  const why = `${last.because ?? 'the log says more'}${others}`;
  return [
    toFinding(last, { what: 'was not begun', why, mark: `missed ${last.occasion}`, canRepeat: last === runs[0] }),
  ];
}

/** Runs say by their state what 3 and 4 mean; those of other jobs that stopped are no nights. */
function isTelling({ job, exitCode, runIds }: JobRun): boolean {
  if (exitCode === null || exitCode === 0) return false;
  return runlessExitCodes.has(exitCode) || runIds.length === 0 || (exitCode === 4 && !judgedByRuns.has(job));
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
