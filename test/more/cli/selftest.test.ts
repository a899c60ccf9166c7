import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { runSelftest } from '../../../src/cli/commands/selftest.js';
import { loadDemoWorld } from '../../../src/cli/demo-nights.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { verifyEvidence } from '../../../src/evidence/verify.js';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { signal } from '../../helpers/small-world.js';

const terminal = {
  writeData: () => Promise.resolve(),
  writeMessage: () => undefined,
  isScreen: false,
  columns: 80,
  hasColours: false,
};
const given = { signal, terminal, options: { quiet: true as const } };

const listSchemas = (database: Database): Promise<readonly string[]> =>
  readColumn(
    database,
    z.string(),
    `select nspname || ' ' || (select count(*) from pg_class where relnamespace = pg_namespace.oid)
     from pg_namespace where nspname !~ '^pg_(toast|temp)' order by 1`,
  );

const listOwnFolders = (): readonly string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('nightscreen-selftest-'));

describeOnEachDatabase('the self-test', (_open, databases) => {
  const site = mkdtempSync(join(tmpdir(), 'nightscreen-site-'));
  let watched: Database | undefined;
  let before: readonly string[] = [];

  async function configure(settings: Readonly<Record<string, string>> = {}) {
    const location = await databases.locateEmpty();
    watched = location.url === undefined ? undefined : await databases.open(location);
    if (watched) before = await listSchemas(watched);
    const environment = {
      NIGHTSCREEN_BASE_URL: 'https://service.invalid/v1',
      NIGHTSCREEN_API_KEY: 'sk_test_of_a_real_account',
      ...(location.url === undefined ? { NIGHTSCREEN_DATA: join(site, 'untouched') } : { DATABASE_URL: location.url }),
      ...settings,
    };
    return loadConfig({ environment, folder: site });
  }

  afterEach(async () => {
    if (watched) expect(await listSchemas(watched)).toEqual(before);
    expect(listOwnFolders()).toEqual([]);
    expect(readdirSync(site).filter((name) => !name.startsWith('out'))).toEqual([]);
  });

  test('all expectations are met, its packs are whole, and nothing is left in the database', async () => {
    const config = await configure();
    const folder = join(site, 'out-met');
    const before = process.cpuUsage();
    const outcome = await runSelftest(given, config, folder);
    const { user, system } = process.cpuUsage(before);
    // At most a minute on a machine that does nothing else.
    expect((user + system) / 1_000_000).toBeLessThan(60);
    expect(outcome.text).toMatch(/^self-test +passed: all \d+ expectations are met\n/);
    expect(outcome).toMatchObject({ exitCode: 0, document: { passed: true, settingsDigest: config.settingsDigest } });
    expect(outcome.document['expectations']).toContainEqual(
      expect.objectContaining({ about: 'changes', found: 'exactly 20 known ones' }),
    );
    const verdict = await verifyEvidence(join(folder, 'evidence'));
    expect(verdict).toMatchObject({ organisation: 'selftest', packs: 8, problems: [] });
    const page = readFileSync(join(folder, 'selftest.html'), 'utf8');
    for (const said of [config.settingsDigest.slice(0, 16), 'nothing about the lists of the service', 'passed: all']) {
      expect(page).toContain(said);
    }
    expect(page).not.toContain('NOT MET');
  });

  // The same on both: once is enough.
  test.runIf(databases.dialect === 'postgres')(
    'expectations that are not met and parts that fail are named on the page, and the exit code is 3',
    async () => {
      const folder = join(site, 'out-failed');
      let loaded = 0;
      const outcome = await runSelftest(given, await configure(), folder, async (state) => {
        loaded += 1;
        if (loaded > 3) throw new Error('the lists are gone');
        const world = await loadDemoWorld(state);
        // A known change that does not take place.
        const isLate = ({ id }: { id: string }): boolean => id === 'amla_iQZDmhbpFd2HXHAMgKj3zLAD';
        return { ...world, watchlist: world.watchlist.filter((entry) => !isLate(entry)) };
      });
      expect(outcome).toMatchObject({ exitCode: 3, document: { passed: false } });
      for (const said of [
        'Known changes, with failures of the service: changes',
        'missing: C-11107 match_added amla_iQZDmhbpFd2HXHAMgKj3zLAD',
        'found the lists are gone',
        'expected 8 packs',
        'Do not rely on this installation',
      ]) {
        expect(outcome.text).toContain(said);
      }
      const page = readFileSync(join(folder, 'selftest.html'), 'utf8');
      expect(page).toContain('missing: C-11107 match_added');
      expect(page.match(/NOT MET/g)).toHaveLength(4);
    },
  );
});
