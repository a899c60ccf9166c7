import { describe, expect, test } from 'vitest';
import { logEvents } from '../../../src/cli/progress.js';
import { formatLogLine } from '../../../src/cli/session.js';
import { createLogger } from '../../../src/logging.js';
import type { RunEvent } from '../../../src/runs/app-context.js';

type Level = Parameters<typeof createLogger>[0]['level'];

function collectLines(level: Level) {
  const lines: string[] = [];
  return { lines, logger: createLogger({ level, secrets: [], write: (line) => lines.push(line) }) };
}

describe('log lines', () => {
  test('each that belongs to a run names it and its roster, also where the event does not', () => {
    const { lines, logger } = collectLines('debug');
    const runId = '2026-01-01-rescreen-1';
    const events: RunEvent[] = [
      { kind: 'warning', runId: null, code: 'settings_applied', message: 'before any run' },
      { kind: 'run_started', runId, runKind: 'rescreen', roster: 'retail', resumed: false },
      { kind: 'stage_started', runId, stage: 'screen' },
      { kind: 'service', event: { kind: 'rate_lowered', operation: 'aml.search', perSecond: 8 } },
      { kind: 'progress', runId, stage: 'screen', done: 1, total: 2, calls: 1 },
      { kind: 'stage_finished', runId, stage: 'screen', counts: { searches: 2 } },
      { kind: 'run_finished', runId, runKind: 'rescreen', state: 'complete', reasons: [] },
      { kind: 'warning', runId, code: 'mail_waits', message: 'after it' },
      { kind: 'service', event: { kind: 'paused', operation: 'dossiers.list', pauseMs: 10 } },
    ];
    const reporter = logEvents(logger, 10);
    for (const event of events) reporter.emit(event);
    reporter.close();
    const read = lines.map((line) => JSON.parse(line));
    const of = read.map(({ msg, runId: run, roster }) => [msg, run === runId && roster === 'retail']);
    expect(of).toEqual([
      ['warning', false],
      ['run_started', true],
      ['stage_started', true],
      ['rate_lowered', true],
      ['step', true],
      ['progress', true],
      ['stage_finished', true],
      ['run_finished', true],
      ['warning', true],
      ['paused', false],
    ]);
  });

  test('on a screen: time, level, what and the facts; an error with its causes below, nothing that steers the screen', () => {
    const { lines, logger } = collectLines('info');
    logger.info({ runId: 'r-1', message: 'two words', callsPerSecond: 9.5 }, 'progress');
    logger.error({ err: new Error('outer \u001b[2J', { cause: new Error('inner') }) }, 'job_failed');
    const [progress = '', failed = ''] = lines.map(formatLogLine);
    expect(progress).toMatch(/^\d\d:\d\d:\d\d info {2}progress runId=r-1 message="two words" callsPerSecond=9\.5\n$/);
    expect(failed).toMatch(/^\d\d:\d\d:\d\d error job_failed\n {2}outer \[U\+001B\]\[2J\n {2}inner\n$/);
  });
});
