import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { printFigure } from '../../helpers/figures.js';

const tsx = createRequire(import.meta.url).resolve('tsx');
const createPaceUrl = new URL('../../../src/client/pace.ts', import.meta.url).href;

/** A process with two paces, one in an outage, whose callers are called off; it prints how long it lasts after that. */
const script = `
  import { createPace } from ${JSON.stringify(createPaceUrl)};
  const stop = new AbortController();
  const entrant = { operation: 'x', isRepeat: false, signal: stop.signal };
  const verdict = { reachability: 'out_of_reach', isRefusedForPace: false, pauseMs: 0 };
  const paces = [createPace({ perSecond: 1_000, concurrency: 1 }), createPace({ perSecond: 1, concurrency: 2 })];
  for (let count = 0; count < 10; count += 1) await paces[0].run(entrant, async (turn) => turn.assess(verdict));
  await paces[1].run(entrant, async () => undefined);
  const waiting = paces.map((pace) => pace.run(entrant, async () => 'served').catch(() => 'left'));
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort();
  const left = await Promise.all(waiting);
  const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  for (const pace of paces) pace.close();
  const closedMs = performance.now();
  process.on('exit', () => console.log(JSON.stringify({ left, timers, lastedMs: performance.now() - closedMs })));
`;

test('a process ends as soon as its paces are closed, in an outage too', async () => {
  const given = ['--import', tsx, '--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, given);
  const { left, timers, lastedMs }: { left: string[]; timers: number; lastedMs: number } = JSON.parse(stdout);
  printFigure(`pace: a process lasts ${lastedMs.toFixed(0)} ms after its paces were closed`);
  expect(left).toEqual(['left', 'left']);
  // The gate's timer to the next probe, five seconds: without it this test would show nothing.
  expect(timers).toBeGreaterThan(0);
  expect(lastedMs).toBeLessThan(500);
});
