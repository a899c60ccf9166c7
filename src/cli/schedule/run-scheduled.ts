import { RunLockedError } from '../../errors.js';
import { toLocalTime } from '../../local-time.js';
import {
  keepSchedules,
  mendSchedules,
  readPause,
  runOccasion,
  settleMissed,
  toForgetBefore,
} from '../../runs/scheduled.js';
import type { Job, Workplace } from '../../runs/workplace.js';
import { decideDue, findNextStart } from '../../scheduling/decide-due.js';
import { toDueTimes } from '../../scheduling/due-times.js';
import {
  readStandings,
  type SchedulePlan,
  toDecidingRules,
  toTimeoutMs,
  toTimezone,
} from '../../scheduling/schedule.js';
import type { JobsSettings } from '../../scheduling/settings.js';
import type { JobDue } from '../../store/jobs.js';
import { exitCodes } from '../exit-code.js';
import type { Outcome } from '../invocation.js';
import { type PerformOptions, performJob, toEndingExitCode } from './jobs.js';
import { describePause, type JobsAndPlan } from './plan-schedule.js';

/** What a job that is run once hangs on. */
export type RunOptions = Omit<PerformOptions, 'plan'>;

/** Runs a job for the present date, whatever its schedule says, unless that was done; what failed or stopped is done again. */
export async function runForNow(
  workplace: Workplace,
  plan: JobsAndPlan,
  job: Job,
  signal: AbortSignal,
  options: RunOptions,
): Promise<Outcome> {
  const due = findPresentDue(plan, job, workplace.clock.now());
  const again = [exitCodes.unexpected, exitCodes.refused, exitCodes.stopped];
  return runOnce(workplace, plan, job, { due, isLate: false, again }, signal, options);
}

/** Runs a job if its schedule asks for it and nobody has done it; ends with 0 when there is nothing to do. */
export async function runIfDue(
  workplace: Workplace,
  plan: JobsAndPlan,
  job: Job,
  signal: AbortSignal,
  options: RunOptions,
): Promise<Outcome> {
  const planned = plan.planned.filter((one) => one.job.name === job.name);
  await keepSchedules(
    workplace,
    planned.map(({ schedule }) => ({ job: job.name, schedule })),
    { areAll: false },
  );
  await mendSchedules(workplace);
  const standings = await readStandings(workplace, plan);
  const standing = standings.get(job.name);
  const pause = await readPause(workplace);
  if (pause !== null) return say(job, 'paused', null, describePause(pause));
  if (!standing) return say(job, 'not_due', null, `${job.name} has no schedule`);
  const now = workplace.clock.now();
  const rules = toDecidingRules(plan, { now, freeSince: null });
  const { decision, missed, givenUp } = decideDue(standing, standings, rules);
  await settleMissed(workplace, job.name, { missed, givenUp });
  if (decision.kind === 'wait') {
    const text = `${job.name} of ${decision.due.localDate} waits for ${decision.for}, until ${decision.until.toISOString()}`;
    return say(job, 'waits', decision.due, text);
  }
  if (decision.kind === 'none') {
    const next = findNextStart(standing, now);
    return say(job, 'not_due', null, `${job.name} is not due; next ${next ? next.at.toISOString() : 'never'}`);
  }
  const { due, isLate } = decision;
  try {
    return await runOnce(workplace, plan, job, { due, isLate, again: [] }, signal, options);
  } catch (error) {
    if (error instanceof RunLockedError) return say(job, 'held', due, error.message);
    throw error;
  }
}

interface Once {
  due: JobDue;
  isLate: boolean;
  again: readonly number[];
}

/** Throws RunLockedError when another process runs it. */
async function runOnce(
  workplace: Workplace,
  plan: JobsAndPlan,
  job: Job,
  once: Once,
  signal: AbortSignal,
  options: RunOptions,
): Promise<Outcome> {
  const schedule = plan.planned.find((one) => one.job.name === job.name)?.schedule;
  const isFrequent = schedule !== undefined && !toDueTimes(schedule).isByDate;
  const forgetBefore = isFrequent ? toForgetBefore(workplace.clock.now()) : null;
  const limits = { timeoutMs: toTimeoutMs(job, plan.jobsSettings), canContinue: job.isOwn !== true };
  const slot = { job: job.name, ...once, forgetBefore, limits };
  const answer = await runOccasion(workplace, slot, signal, (run, held) =>
    performJob(workplace, job, run, held, { ...options, plan }),
  );
  const { due } = once;
  const what = `${job.name} of ${due.localDate}`;
  if (answer.kind === 'held') {
    throw new RunLockedError(`${what} is being run by ${answer.holder}`, answer.holder);
  }
  if (answer.kind === 'done') {
    const { exitCode, endedAt, owner, because } = answer.run;
    const end = `${what} was done by ${owner ?? 'nobody'}, ended ${endedAt?.toISOString() ?? 'never'} with exit code ${exitCode ?? '-'}`;
    const text = because === null ? end : `${end}: ${because}`;
    return { ...say(job, 'done_before', due, text), exitCode: exitCode ?? exitCodes.complete };
  }
  const { because, runIds } = answer.ending;
  const exitCode = toEndingExitCode(answer.ending);
  const text = [`${what} ended with exit code ${exitCode}`, ...(because === null ? [] : [because])].join(': ');
  const outcome = say(job, answer.ending.exitCode === undefined ? 'interrupted' : 'ended', due, text);
  const { attempts, isLate } = answer.run;
  return { ...outcome, exitCode, document: { ...outcome.document, exitCode, because, runIds, attempts, late: isLate } };
}

function say(
  { name }: Job,
  outcome: 'paused' | 'ended' | 'interrupted' | 'done_before' | 'not_due' | 'waits' | 'held',
  due: JobDue | null,
  text: string,
): Outcome {
  const document = {
    schema: 'nightscreen/job-run/1',
    job: name,
    date: due?.localDate ?? null,
    dueAt: due?.dueAt ?? null,
  };
  return { exitCode: exitCodes.complete, document: { ...document, outcome, message: text }, text: `${text}\n` };
}

const dayMs = 86_400_000;

/**
 * What a job that is started now stands for: the present date of its time zone, or the last of its times where it has several on a date.
 */
function findPresentDue(
  { planned, jobsSettings }: SchedulePlan & { jobsSettings: JobsSettings },
  job: Job,
  now: Date,
): JobDue {
  const localDate = toLocalTime(now, toTimezone(job, jobsSettings)).date;
  const ofDate = { occasion: localDate, localDate, dueAt: now };
  const schedule = planned.find((one) => one.job.name === job.name)?.schedule;
  if (schedule === undefined) return ofDate;
  const times = toDueTimes(schedule);
  const onDate = times.lastOn(localDate);
  if (onDate?.occasion === localDate) return onDate;
  return (
    times.between(new Date(now.getTime() - dayMs), now).findLast((due) => due.occasion !== due.localDate) ?? ofDate
  );
}
