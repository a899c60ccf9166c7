import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { killCli, runCli, runInProcess } from '../helpers/cli-process.js';
import { readRows, testDatabases } from '../helpers/databases.js';
import { makeSeededRandom, printFigure } from '../helpers/figures.js';
import { buildSandboxDossier } from '../helpers/small-world.js';

const databases = testDatabases('postgres');
const dossierCount = 1_000;

test('a sweep that is killed again and again reads at most one page anew each time, and misses nothing', {
  timeout: 180_000,
}, async () => {
  const random = makeSeededRandom(3);
  const dossiers = Array.from({ length: dossierCount }, (_, n) => buildSandboxDossier(n + 1));
  const sandbox = await startSandbox({ world: { watchlist: [], dossiers } });
  try {
    const folder = await mkdtemp(join(tmpdir(), 'nightscreen-sweep-'));
    const sweepAnew = async () => {
      const { url = '' } = await databases.locate();
      const access = { NIGHTSCREEN_BASE_URL: sandbox.url, NIGHTSCREEN_API_KEY: sandbox.privateKey, DATABASE_URL: url };
      return { database: await databases.open({ url }), site: { folder, environment: access } };
    };
    const countPages = (): number => sandbox.ledger().filter(({ path }) => path === '/dossiers').length;
    const sweep = ['sweep', '--no-report', '--json'];
    await runInProcess(sweep, (await sweepAnew()).site);
    const undisturbed = countPages();

    sandbox.setConditions({ path: '/dossiers', latencyMs: { min: 10, max: 30, seed: 3 } });
    const { database, site } = await sweepAnew();
    let kills = 0;
    while (kills < 3) {
      const before = countPages();
      const pages = 1 + Math.floor(random() * 3);
      const isDue = (): boolean => countPages() >= before + pages;
      if (!(await killCli(sweep, site, { isDue, lingerMs: random() * 30 }))) break;
      kills += 1;
      await database.execute('update lease set expires_at = clock_timestamp() where expires_at > acquired_at');
    }
    const last = await runCli(sweep, site);
    expect(last).toMatchObject({ exitCode: 0 });
    expect(kills).toBe(3);
    const pages = countPages() - undisturbed;
    printFigure(
      `a sweep of ${dossierCount} dossiers killed ${kills} times: ${pages} pages read, ${undisturbed} undisturbed`,
    );
    expect(pages).toBeLessThanOrEqual(undisturbed + kills);
    const rows = await readRows(
      database,
      `select (select count(*) from dossier where gone_at is null)::integer as count, bool_and((sweep -> 'proven')::boolean) as proven from run`,
    );
    expect(rows).toEqual([{ count: dossierCount, proven: true }]);
  } finally {
    await sandbox.close();
  }
});
