import { expect, it } from 'vitest';
import { followInterruption } from '../../../src/cli/schedule/keep-schedule.js';
import type { ScheduleEvent } from '../../../src/scheduling/scheduler.js';
import type { JobRun } from '../../../src/store/operations/jobs.js';

const moment = new Date('2026-11-22T02:00:00Z');
const run: JobRun = {
  jobRunId: 1,
  job: 'rescreen',
  dueSlot: '2026-11-22',
  localDate: '2026-11-22',
  dueAt: moment,
  state: 'running',
  isLate: false,
  attempts: 1,
  owner: 'host:1:a',
  begunAt: moment,
  endedAt: null,
  exitCode: null,
  because: null,
  runIds: [],
  attemptAt: null,
  deadlineAt: null,
  isTimedOut: false,
  cancelledBy: null,
};
const begun: ScheduleEvent = { kind: 'begun', run };
const ended: ScheduleEvent = { kind: 'ended', run, exitCode: 0, because: null, runIds: [] };
const interrupted: ScheduleEvent = { kind: 'interrupted', run, because: 'it was asked to stop' };
const blocked: ScheduleEvent = { kind: 'blocked', error: new Error('gone'), retryMs: 1, sinceMs: 0 };

const follow = (...steps: readonly (ScheduleEvent | 'stop')[]): boolean => {
  const stopping = new AbortController();
  const interruption = followInterruption(stopping.signal);
  for (const step of steps) {
    if (step === 'stop') stopping.abort();
    else interruption.note(step);
  }
  return interruption.hasHappened();
};

it('a job that is told as interrupted by the stop, or whose end could not be noted then, was cut off', () => {
  expect(follow(begun, 'stop', interrupted)).toBe(true);
  expect(follow(begun, 'stop', blocked)).toBe(true);
});

it('nothing is cut off where no job was under way, or where it happened before anybody asked to stop', () => {
  expect(follow('stop', blocked)).toBe(false);
  expect(follow(begun, ended, 'stop', blocked)).toBe(false);
  expect(follow(begun, 'stop', ended)).toBe(false);
  expect(follow(begun, blocked, begun, interrupted, 'stop', blocked)).toBe(false);
});
