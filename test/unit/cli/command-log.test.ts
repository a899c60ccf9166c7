import { describe, expect, test } from 'vitest';
import { describeError } from '../../../src/cli/describe-error.js';
import { logEvents } from '../../../src/cli/progress.js';
import { openCommandLog } from '../../../src/cli/run-command-line.js';
import { ReportError, RosterError } from '../../../src/errors.js';
import { createLogger } from '../../../src/logging.js';
import { LastRun } from '../../../src/runs/app-context.js';

type CommandLog = ReturnType<typeof openCommandLog>;

const runId = '2026-01-01-screen-1';

/** What is written when a command ends, having begun a run or not. */
function end(
  act: (log: CommandLog) => void,
  {
    isScreen = false,
    state = 'none',
    reasons = [] as readonly string[],
    isQuiet = false,
    level = 'info' as Parameters<typeof createLogger>[0]['level'],
  } = {},
): string {
  let said = '';
  const lastRun = new LastRun();
  if (state !== 'none') {
    lastRun.note({ kind: 'run_started', runId, runKind: 'screen', roster: 'retail', resumed: false });
    if (state === 'finished') {
      lastRun.note({ kind: 'run_finished', runId, runKind: 'screen', state: 'refused', reasons });
    }
  }
  const writeMessage = (text: string): void => {
    said += text;
  };
  const terminal = { writeData: async () => {}, writeMessage, isScreen, columns: 80, hasColours: false };
  const present = (text: string): string => text.replaceAll('planted', '[secret]');
  act(openCommandLog({ terminal, lastRun, present, findLevel: () => level, isQuiet }));
  return said;
}

const error = new ReportError('report_exists', 'planted: a "different" report');
const fail = (log: CommandLog): void => log.failed(describeError(error), error);

describe('where standard error is no screen', () => {
  test('a failure is one line of level error that names the run, its roster and whether it finished', () => {
    for (const [state, isFinished] of [
      ['going', false],
      ['finished', true],
    ] as const) {
      const line = JSON.parse(end(fail, { state }));
      const run = { runId, roster: 'retail', isFinished };
      const said = { code: 'report_exists', message: '[secret]: a "different" report', msg: 'command_failed' };
      expect(line).toMatchObject({ level: 'error', time: expect.any(String), ...run, ...said });
      expect(line).not.toHaveProperty('err');
    }
  });

  test('before any run it is one line as well; with the log off it is words', () => {
    const said = { level: 'error', code: 'report_exists', message: '[secret]: a "different" report' };
    expect(JSON.parse(end(fail))).toMatchObject({ ...said, msg: 'command_failed' });
    expect(end(fail, { state: 'going', level: 'silent' })).toMatch(
      /^nightscreen: .*\n {2}run: {3}\S+ of retail has not/,
    );
  });

  test('what the end of its run said is not said again, unless nothing was shown of it', () => {
    const refused = new RosterError('roster_held', 'the roster is held');
    const refuse =
      (level: 'info' | 'error', isQuiet = false) =>
      (isScreen: boolean): string =>
        end((log) => log.failed(describeError(refused), refused), {
          state: 'finished',
          reasons: [refused.message],
          level,
          isQuiet,
          isScreen,
        });
    for (const isScreen of [true, false]) {
      expect(refuse('info')(isScreen)).toContain(`${runId} ended for the reason above`);
      expect(refuse('info')(isScreen)).not.toContain('is held');
      expect(refuse('error', true)(isScreen)).toContain('the roster is held');
    }
    expect(refuse('error')(false)).toContain('the roster is held');
  });

  test('an error that a line of its roster has reported is not reported again, but an equal one is', () => {
    const failed = new RosterError('roster_unreadable', 'no such file');
    const event = { kind: 'roster_failed', roster: 'retail', runId: null, code: failed.code } as const;
    let lines = '';
    const logger = createLogger({ level: 'info', secrets: [], write: (line) => (lines += line) });
    logEvents(logger, 10).emit({ ...event, message: failed.message, error: failed });
    const next = 'correct the file or the query and start again; nothing was spent';
    expect(JSON.parse(lines)).toMatchObject({ msg: 'roster_failed', message: 'no such file', next });
    expect(lines).not.toContain('stack');
    const report = (error: RosterError) => (log: CommandLog) => log.failed(describeError(error), error);
    expect(end(report(failed))).toBe('');
    expect(end(report(failed), { isScreen: true })).toContain('no such file');
    expect(end(report(new RosterError(failed.code, failed.message)))).toContain('no such file');
  });

  test('at level debug the stack is in the line, not under it', () => {
    const line = JSON.parse(end(fail, { state: 'going', level: 'debug' }));
    expect(line.err.stack).toMatch(/^ {4}at /m);
  });

  test('that it is asked to end is a line as well, and so is that this takes too long', () => {
    const [asked = '', overdue = ''] = end(
      (log) => {
        log.stopping('SIGTERM');
        log.overdue();
      },
      { state: 'going' },
    ).split('\n');
    const run = { runId, roster: 'retail' };
    expect(JSON.parse(asked)).toMatchObject({ level: 'warn', msg: 'stopping', signal: 'SIGTERM', ...run });
    expect(JSON.parse(overdue)).toMatchObject({ level: 'error', msg: 'stop_overdue', ...run });
  });
});

test('on a screen there are words alone, which say that the run has not finished', () => {
  const said = end(fail, { isScreen: true, state: 'going' });
  expect(said).toMatch(/^nightscreen: .*\[report_exists\]\n {2}run: {3}2026-01-01-screen-1 of retail has not finished/);
  expect(end(fail, { isScreen: true, state: 'finished' })).not.toContain('has not finished');
  expect(end((log) => log.stopping('SIGINT'), { isScreen: true })).toBe(
    '\nnightscreen: SIGINT: finishing the current work; a second signal ends the process at once\n',
  );
});

test('what is to be known beside the result is a line with its run and a stable code, and words on a screen', () => {
  const warn = (log: CommandLog): void =>
    log.notify({ level: 'warn', code: 'ping_not_taken', message: 'planted: lost' });
  const wait = (log: CommandLog): void => log.notify({ level: 'info', code: 'database_taken', message: 'waits' });
  const said = { level: 'warn', msg: 'warning', code: 'ping_not_taken', message: '[secret]: lost' };
  expect(JSON.parse(end(warn, { state: 'going' }))).toMatchObject({ ...said, runId, roster: 'retail' });
  expect(JSON.parse(end(wait))).toMatchObject({ level: 'info', msg: 'notice', code: 'database_taken' });
  expect(end(wait, { level: 'warn' })).toBe('');
  expect(end(warn, { level: 'silent' })).toBe('');
  expect(end(warn, { isScreen: true })).toBe('nightscreen: [secret]: lost\n');
});
