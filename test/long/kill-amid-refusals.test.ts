import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { makeCliSite, runCli, startCli } from '../helpers/cli-process.js';
import { printFigure } from '../helpers/figures.js';
import { listSearches } from '../helpers/small-site.js';
import { makeCustomerNames, toCsv, watchlist } from '../helpers/small-world.js';

const concurrency = 32;
const configuration = `service:
  rate: { perSecond: 100, concurrency: ${concurrency} }
rosters:
  - name: people
    csv: { path: people.csv }
`;
const summary = z.object({ state: z.string(), counts: z.object({ screened: z.number(), attempts: z.number() }) });
const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
afterAll(() => sandbox.close());

test('a run that is killed while every second answer is a refusal leaves no call out of the ledger', async () => {
  const names = makeCustomerNames(200);
  const site = await makeCliSite({ 'people.csv': toCsv(names), 'nightscreen.config.yaml': configuration }, sandbox);
  const countSearches = (): number => listSearches(sandbox).length;
  sandbox.setConditions({ path: '/aml/search', refuse: { share: 0.5, seed: 3 } });
  const child = startCli(['rescreen', '--json'], site);
  const closed = once(child, 'close');
  child.stdout?.resume();
  child.stderr?.resume();
  while (countSearches() < 150 && child.exitCode === null) await delay(5);
  child.kill('SIGKILL');
  await closed;
  sandbox.setConditions({});
  const { stdout, stderr } = await runCli(['rescreen', '--json'], site);
  expect(stdout, stderr).not.toBe('');
  const { state, counts } = summary.parse(JSON.parse(stdout));
  const surplus = counts.attempts - countSearches();
  printFigure(
    `killed amid 50 % refusals: the ledger has ${counts.attempts} calls, the service counted ${countSearches()}`,
  );
  expect({ state, screened: counts.screened }).toEqual({ state: 'complete', screened: names.length });
  expect(surplus).toBeGreaterThanOrEqual(0);
  // What was on its way, and what comes within 40 ms.
  expect(surplus).toBeLessThanOrEqual(2 * concurrency);
}, 60_000);
