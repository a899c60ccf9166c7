import type { SchedulePause } from '../../store/jobs.js';
import { exitCodes } from '../exit-code.js';
import { formatTable } from '../format-table.js';
import type { Outcome } from '../invocation.js';
import { describePause } from './control-schedule.js';
import type { ShownJob, ShownRun } from './show-schedule.js';

const toMinute = (moment: Date | null): string =>
  moment === null ? '-' : moment.toISOString().slice(0, 16).replace('T', ' ');

const endings: Readonly<Record<number, string>> = {
  0: 'complete',
  1: 'failed (1)',
  2: 'refused (2)',
  3: 'not all is well (3)',
  4: 'stopped early (4)',
};

function describeOutcome({ state, exitCode, isLate, attempts }: ShownRun): string {
  const words = {
    running: 'running',
    left: 'left by a process that ended; taken up again',
    interrupted: 'interrupted; taken up again',
    missed: 'missed',
    finished: endings[exitCode ?? 0] ?? `exit code ${exitCode}`,
  }[state];
  return [words, ...(isLate ? ['late'] : []), ...(attempts > 1 ? [`${attempts} attempts`] : [])].join(', ');
}

function toRow({ job, schedule, next, runs }: ShownJob): string[] {
  const [last] = runs;
  const plan = schedule === null ? ['not planned', ''] : [schedule.cron, schedule.timezone];
  const start = [job, ...plan, toMinute(next)];
  if (!last) return [...start, 'never', '-', '-', '-', '-'];
  return [
    ...start,
    last.localDate,
    describeOutcome(last),
    toMinute(last.begunAt),
    toMinute(last.endedAt),
    last.owner ?? '-',
  ];
}

/** Why the last time of each job is not complete, and which of its last times were missed. */
function listRemarks({ job, runs }: ShownJob): string[] {
  const [last] = runs;
  const because = last?.because && last.state !== 'missed' ? [`${job} of ${last.localDate}: ${last.because}`] : [];
  const missed = runs.filter(({ state }) => state === 'missed').map(({ occasion }) => occasion);
  return [...because, ...(missed.length > 0 ? [`${job} missed: ${missed.join(', ')}`] : [])];
}

/** What `schedule show` says; times are UTC. */
export function presentSchedule(jobs: readonly ShownJob[], hasRosters: boolean, pause: SchedulePause | null): Outcome {
  const head = ['job', 'cron', 'time zone', 'next (UTC)', 'last', 'outcome', 'begun (UTC)', 'ended (UTC)', 'by'];
  const remarks = [
    ...(pause === null ? [] : [describePause(pause)]),
    ...(jobs.some(({ schedule }) => schedule !== null) ? [] : ['every job is switched off']),
    ...(hasRosters ? [] : ['no roster is configured, so nobody is screened']),
    ...jobs.flatMap(listRemarks),
  ];
  return {
    exitCode: exitCodes.complete,
    document: { schema: 'nightscreen/schedule-state/1', jobs, pause },
    text: [
      jobs.length === 0 ? '' : formatTable([head, ...jobs.map(toRow)]),
      ...(remarks.length > 0 ? [`\n${remarks.join('\n')}\n`] : []),
    ].join(''),
  };
}
