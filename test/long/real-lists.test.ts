import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type RosterSettings, rosterSettingsSchema } from '../../src/roster/settings.js';
import type { AppContext } from '../../src/runs/app-context.js';
import { runScreening } from '../../src/runs/screening-run.js';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { loadWorld } from '../../src/sandbox/world.js';
import { testDatabases } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';
import { showRun } from '../helpers/show-run.js';
import { makeAppContext } from '../helpers/small-world.js';

const data = process.env['NIGHTSCREEN_TEST_DATA'];
const cleanPeople = isFullSize ? 2_000 : 500;
const columns = {
  id: 'number',
  name: 'full_name',
  type: { value: 'person' },
  birthDate: 'date_of_birth',
  countries: 'nationality',
} as const;
const title = 'the real OFAC and UN lists: every listed person is a hit, and few clean people are';

it.skipIf(data === undefined)(
  data === undefined ? `${title} (skipped: NIGHTSCREEN_TEST_DATA names no folder with the real lists)` : title,
  { timeout: 240_000 },
  async () => {
    const folder = data ?? '';
    const sandbox = await startSandbox({
      world: await loadWorld({
        watchlists: [join(folder, 'watchlists/ofac'), join(folder, 'watchlists/un/UN_consolidated.xml')],
      }),
    });
    const database = await databases.open();
    const app = await makeAppContext(database, sandbox, {
      settings: {
        service: { baseUrl: sandbox.url, rate: { perSecond: 400, concurrency: 8 } },
        controls: [
          { type: 'person', name: 'Eric Badege', expect: 'match' },
          { type: 'person', name: 'Zzyzx Qwfpg', expect: 'none' },
        ],
      },
    });
    try {
      const listed = await screen(
        app,
        rosterSettingsSchema.parse({
          name: 'listed',
          csv: { path: await numberLines(join(folder, 'rosters/positives_un_untreated.csv')) },
          columns,
        }),
      );
      const clean = await screen(
        app,
        rosterSettingsSchema.parse({
          name: 'clean',
          csv: { path: await numberLines(join(folder, 'rosters/negatives_us.csv'), cleanPeople) },
          columns,
        }),
      );
      const recall = listed.hits / listed.customers;
      const falseHits = clean.hits / clean.customers;
      const perSecond = (listed.searches + clean.searches) / (listed.seconds + clean.seconds);
      printFigure(
        `real lists: ${listed.customers + clean.customers} customers screened, recall ${percent(recall)} of ${listed.customers} listed people, ` +
          `${percent(falseHits)} of ${clean.customers} clean people with a hit, ${Math.round(perSecond)} searches per second`,
      );
      expect(listed.customers).toBe(683);
      expect(clean.customers).toBe(cleanPeople);
      expect(recall).toBeGreaterThanOrEqual(0.99);
      expect(falseHits).toBeLessThan(0.02);
    } finally {
      await sandbox.close();
      await app.client().close();
    }
  },
);

const databases = testDatabases('postgres');

async function screen(app: AppContext, roster: RosterSettings) {
  const begin = performance.now();
  const summary = await runScreening(
    app,
    { kind: 'onboard', roster, selection: 'new', importFirst: true, writeReport: true },
    new AbortController().signal,
  );
  const seconds = (performance.now() - begin) / 1_000;
  expect(summary).toMatchObject({ state: 'complete', counts: { rejected: 0, failed: 0 } });
  const { counts, states } = await showRun(app.database, 'default', summary.runId);
  return { customers: counts?.screened ?? 0, searches: counts?.searches ?? 0, hits: states?.open_alert ?? 0, seconds };
}

/** A copy of the first rows with a column of numbers in front: these files have no customer id. */
async function numberLines(path: string, rows = Number.POSITIVE_INFINITY): Promise<string> {
  const numbered = join(await mkdtemp(join(tmpdir(), 'nightscreen-roster-')), 'roster.csv');
  const [header = '', ...lines] = (await readFile(path, 'utf8'))
    .trimEnd()
    .split('\n')
    .slice(0, rows + 1);
  const body = lines.map((line, index) => `${index + 1},${line}\n`);
  await writeFile(numbered, `number,${header}\n${body.join('')}`);
  return numbered;
}

const percent = (share: number): string => `${(share * 100).toFixed(2)} %`;
