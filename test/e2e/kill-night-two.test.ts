import { once } from 'node:events';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { Database } from '../../src/store/database.js';
import type { DatabaseLocation } from '../../src/store/open-database.js';
import { collect, runCli, startCli } from '../helpers/cli-process.js';
import { describeOnEachDatabase } from '../helpers/databases.js';
import { demoRoster, loadDemoWorld, readDemoCanaries } from '../helpers/demo-world.js';
import { printFigure } from '../helpers/print-figure.js';

const concurrency = 8;
/** Calls whose outcome a crash can lose: those on the wire and one batch that is not saved yet. */
const unsavedAtMost = concurrency + 32;
/** Searches noted in the ledger ahead of their call. */
const notedAheadAtMost = 2 * concurrency;

const summarySchema = z.object({
  runId: z.string(),
  state: z.string(),
  exitCode: z.number(),
  counts: z.record(z.string(), z.number()),
});

describeOnEachDatabase('kill -9 in the middle of night 2', (open, databases) => {
  it('running again ends in the state of an undisturbed run, and repeats no more than was in flight', {
    timeout: 150_000,
  }, async () => {
    const sandbox = await startSandbox({ world: await loadDemoWorld('before') });
    try {
      const calm = await makeSite(sandbox, await databases.locate());
      const killed = await makeSite(sandbox, await databases.locate());
      for (const site of [calm, killed]) expect((await site.rescreen()).state).toBe('complete');
      sandbox.setWorld(await loadDemoWorld('after'));

      const undisturbed = await calm.rescreen();
      const before = countSearches(sandbox);
      await killMidway(killed, sandbox, before + 120);
      await killMidway(killed, sandbox, before + 300);
      const resumed = await killed.rescreen();

      expect(resumed).toMatchObject({ state: 'complete', exitCode: 0 });
      const { attempts: calmAttempts = 0, ...calmCounts } = undisturbed.counts;
      const { attempts = 0, ...counts } = resumed.counts;
      expect(counts).toEqual(calmCounts);
      expect(await dump(await open(killed.location))).toEqual(await dump(await open(calm.location)));

      const calls = countSearches(sandbox) - before;
      const repeated = calls - calmAttempts;
      printFigure(
        `kill -9 twice (${databases.dialect}): ${calls} calls for ${calmAttempts}, ${repeated} repeated, ledger ${attempts}`,
      );
      // Each start asks the two canaries anew; the ledger is never short of the service's own count.
      expect(repeated).toBeLessThanOrEqual(2 * unsavedAtMost + 4);
      expect(attempts).toBeGreaterThanOrEqual(calls);
      expect(attempts - calls).toBeLessThanOrEqual(2 * notedAheadAtMost);
    } finally {
      await sandbox.close();
    }
  });
});

interface Site {
  location: DatabaseLocation;
  folder: string;
  environment: Record<string, string>;
  rescreen(): Promise<z.infer<typeof summarySchema>>;
}

async function makeSite(sandbox: Sandbox, location: DatabaseLocation): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-site-'));
  const config = {
    service: { baseUrl: sandbox.url, rate: { perSecond: 400, concurrency } },
    screening: { cadenceHours: 0.001 },
    canaries: await readDemoCanaries(),
    rosters: [demoRoster],
    ...(location.folder ? { database: { folder: location.folder } } : {}),
  };
  await writeFile(join(folder, 'nightscreen.config.yaml'), JSON.stringify(config));
  const environment = {
    NIGHTSCREEN_API_KEY: sandbox.privateKey,
    ...(location.url ? { DATABASE_URL: location.url } : {}),
  };
  const rescreen = async () => {
    const { stdout, stderr } = await runCli(['rescreen', '--json'], { folder, environment });
    return summarySchema.parse(JSON.parse(stdout || JSON.stringify({ stderr })));
  };
  return { location, folder, environment, rescreen };
}

const countSearches = (sandbox: Sandbox): number =>
  sandbox.ledger().filter((call) => call.path === '/aml/search').length;

/** Starts a rescreening and kills it as soon as the service has counted so many searches. */
async function killMidway(site: Site, sandbox: Sandbox, searches: number): Promise<void> {
  const child = startCli(['rescreen', '--json'], site);
  const closed = once(child, 'close');
  const stderr = collect(child.stderr);
  child.stdout?.resume();
  while (countSearches(sandbox) < searches) {
    if (child.exitCode !== null) throw new Error(`ended before it could be killed: ${stderr.text()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  child.kill('SIGKILL');
  await closed;
  expect(child.signalCode).toBe('SIGKILL');
}

const rowSchema = z.object({ row: z.unknown() });

/** What the customers' states, outcomes and changes are, without numbers and times that differ from run to run. */
async function dump(database: Database) {
  const states = await database.query(
    rowSchema,
    `select jsonb_build_array(customer.reference, state.state, response.body, state.reported_scores) as row
     from party_state state join party using (party_id) join customer using (customer_id) join response using (response_id)
     order by customer.reference collate "C"`,
  );
  const changes = await database.query(
    rowSchema,
    `select jsonb_build_array(customer.reference, kind, severity, rule, cause, is_baseline, match_id, fields, before, after) as row
     from change_event join party using (party_id) join customer using (customer_id)
     order by customer.reference collate "C", match_id collate "C", change_id`,
  );
  const outcomes = await database.query(
    rowSchema,
    `select jsonb_build_array(customer.reference, run.kind, outcome, outcome_reason) as row
     from screening join run using (run_id) join party using (party_id) join customer using (customer_id)
     order by customer.reference collate "C", run.run_id`,
  );
  expect(states.length).toBe(491);
  return { states, changes, outcomes };
}
