import fc from 'fast-check';
import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import {
  describeProgress,
  describeRunning,
  logEvents,
  ProgressMeter,
  SlidingRate,
  showProgress,
} from '../../../src/cli/progress.js';
import { LastRun, type RunEvent } from '../../../src/runs/app-context.js';

const runId = '2026-01-01-rescreen-1';
const begin: readonly RunEvent[] = [
  { kind: 'run_started', runId, runKind: 'rescreen', roster: 'retail', resumed: true, found: { matches: 10, hits: 2 } },
  { kind: 'stage_started', runId, stage: 'screen' },
];
const step = (done: number, calls = done): RunEvent => {
  return { kind: 'progress', runId, stage: 'screen', done, total: 1_000, calls, found: { matches: done, hits: 1 } };
};

/** A meter over `perSecond` calls for so many seconds, and the clock it reads. */
function play(seconds: number, perSecond: number) {
  const clock = { ms: 0 };
  const meter = new ProgressMeter(50, () => clock.ms);
  for (const event of begin) meter.note(event);
  for (let count = 1; count <= seconds * perSecond; count += 1) {
    clock.ms += 1_000 / perSecond;
    meter.note(step(count));
  }
  return { meter, clock };
}

it('the rate of the last ten seconds is measured against the limit, and the time left follows from it', () => {
  const { meter } = play(12, 50);
  expect(meter.figures).toMatchObject({ done: 600, waitingFor: { kind: 'rate' }, found: { matches: 610, hits: 3 } });
  expect(meter.figures?.callsPerSecond).toBeCloseTo(50, 0);
  expect(meter.figures?.secondsLeft).toBe(8);
  expect(play(12, 20).meter.figures?.waitingFor).toEqual({ kind: 'answers' });
});

it('an import tells how many rows it reads a second, and how long the rest of the file takes', () => {
  const meter = new ProgressMeter(50, () => 0);
  for (const event of begin.slice(0, 1)) meter.note(event);
  meter.note({ kind: 'stage_started', runId, stage: 'import' });
  const reading = { perSecond: 81_000, doneBytes: 5_000, totalBytes: 9_000, leftMs: 6_200 };
  meter.note({ kind: 'progress', runId, stage: 'import', done: 412_000, total: null, reading });
  const { figures } = meter;
  expect(figures && describeProgress(figures, 100)).toBe('import    412,000  81,000 rows per s  7 s left');
});

it('what holds a run up is named with how long: an outage, a pause, the database', () => {
  const { meter, clock } = play(12, 50);
  meter.note({ kind: 'service', event: { kind: 'paused', operation: 'aml.search', pauseMs: 90_000 } });
  clock.ms += 30_000;
  expect(meter.figures).toMatchObject({ waitingFor: { kind: 'pause', seconds: 60 }, secondsLeft: null });
  meter.note({ kind: 'service', event: { kind: 'outage_began', operation: 'aml.search', probeInMs: 5_000 } });
  clock.ms += 61_000;
  expect(meter.figures?.waitingFor).toEqual({ kind: 'outage', seconds: 61 });
  meter.note({ kind: 'service', event: { kind: 'outage_ended', operation: 'aml.search', lastedMs: 61_000 } });
  meter.note({ kind: 'database_wait', isWaiting: true });
  expect(meter.figures?.waitingFor).toEqual({ kind: 'database', seconds: 2 });
});

it('a line is never wider than it may be, and names trouble first', () => {
  const { meter } = play(12, 50);
  const { figures } = meter;
  if (figures === null) throw new Error('no figures');
  expect(describeProgress(figures, 200)).toBe(
    'screen    600 of 1,000  50.0/50 per s  8 s left  610 matches, 3 hits  waits for the rate',
  );
  const troubled = { ...figures, waitingFor: { kind: 'outage', seconds: 75 } } as const;
  expect(describeProgress(troubled, 60)).toMatch(/^screen {4}600 of 1,000 {2}service unreachable for 1 min/);
  fc.assert(
    fc.property(fc.nat(300), (width) => describeProgress(figures, width).length <= width),
    { numRuns: 50 },
  );
});

it('another process learns the run, its stage, how far it is and when that ends, and nothing once it has ended', () => {
  const now = new Date('2026-01-01T17:01:30Z');
  const lastRun = new LastRun();
  const { meter, clock } = play(12, 50);
  expect(describeRunning(lastRun, meter.figures, now)).toBeNull();
  for (const event of begin) lastRun.note(event);
  const run = `${runId} of retail`;
  expect(describeRunning(lastRun, null, now)).toBe(run);
  expect(describeRunning(lastRun, meter.figures, now)).toBe(
    `${run}, stage screen, 600 of 1,000, until about 2026-01-01T17:02:00.000Z`,
  );
  meter.note({ kind: 'service', event: { kind: 'outage_began', operation: 'aml.search', probeInMs: 5_000 } });
  clock.ms += 61_000;
  expect(describeRunning(lastRun, meter.figures, now)).toBe(
    `${run}, stage screen, 600 of 1,000, service unreachable for 1 min 1 s`,
  );
  meter.note({ kind: 'stage_started', runId, stage: 'report' });
  expect(describeRunning(lastRun, meter.figures, now)).toBe(`${run}, stage report, service unreachable for 1 min 1 s`);
  lastRun.note({ kind: 'run_finished', runId, runKind: 'rescreen', state: 'complete', reasons: [] });
  expect(describeRunning(lastRun, null, now)).toBeNull();
});

it('a rate never exceeds the calls of its window, however they come', () => {
  const gaps = fc.array(fc.nat(3_000), { minLength: 1, maxLength: 200 });
  fc.assert(
    fc.property(gaps, (gapsMs) => {
      const rate = new SlidingRate(10_000);
      let nowMs = 0;
      rate.note(0, 0);
      for (const [index, gapMs] of gapsMs.entries()) {
        nowMs += gapMs;
        rate.note(nowMs, index + 1);
      }
      const perSecond = rate.perSecond(nowMs);
      return perSecond >= 0 && perSecond * Math.min(nowMs, 10_000) <= gapsMs.length * 1_000 + 1e-6;
    }),
  );
});

/** Progress on a screen of so many columns, and all that it has written. */
function showOnScreen(columns: number) {
  let written = '';
  const terminal = {
    writeData: async () => undefined,
    writeMessage: (text: string) => {
      written += text;
    },
    isScreen: true,
    columns,
    hasColours: false,
  };
  return { ...showProgress(terminal, 50), readWritten: () => written };
}

it('a screen gets one line redrawn within its width, and what happened stays above it', () => {
  const { emit, close, readWritten } = showOnScreen(40);
  for (const event of [...begin, step(1)]) emit(event);
  emit({ kind: 'warning', runId, code: 'x', message: 'careful' });
  close();
  const written = readWritten();
  const drawn = written.split('\r\u001b[2K');
  expect(drawn.every((line) => line.includes('\n') || line.length < 40)).toBe(true);
  expect(written).toContain('run 2026-01-01-rescreen-1 resumes\n');
  expect(drawn.at(-1)).toBe('warning   careful\n');
});

it('without a screen a line with the same figures is logged every so often and at the end', () => {
  vi.useFakeTimers();
  try {
    const lines: Record<string, unknown>[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const { emit, close } = logEvents(logger, 50);
    for (const event of [...begin, step(7)]) emit(event);
    vi.advanceTimersByTime(60_000);
    expect(lines.filter(({ msg }) => msg === 'progress')).toHaveLength(2);
    expect(lines.at(-1)).toMatchObject({ done: 7, total: 1_000, matches: 17, hits: 3, limitPerSecond: 50 });
    emit(step(9));
    close();
    expect(lines.at(-1)).toMatchObject({ msg: 'progress', done: 9 });
  } finally {
    vi.useRealTimers();
  }
});

it('a plan says how long its searches take at the permitted rate', () => {
  const { emit, close, readWritten } = showOnScreen(120);
  for (const searches of [2_000, 5_000_000]) {
    emit({ kind: 'stage_finished', runId, stage: 'plan', counts: { inScope: 9, planned: 9, searches, new: 9 } });
  }
  close();
  expect(readWritten().trim().split('\n')).toEqual([
    'plan      in scope 9, planned 9, searches 2,000; never screened: 9',
    'plan      in scope 9, planned 9, searches 5,000,000; at 50 calls/s at least 27 h 47 min; never screened: 9',
  ]);
});

it('the reasons of a run are written once: by its summary, or here where it has none', () => {
  const { emit, close, readWritten } = showOnScreen(80);
  const ended = { kind: 'run_finished', runId, runKind: 'rescreen' } as const;
  emit({ ...ended, state: 'incomplete', reasons: ['one customer failed'] });
  emit({ ...ended, state: 'refused', reasons: ['the roster is held', '- too few rows'] });
  close();
  expect(readWritten()).toBe(`partial   ${runId}\nrefused   the roster is held\n          - too few rows\n`);
});
