import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatListed } from '../../src/cli/commands/runs.js';
import { guardsSchema } from '../../src/roster/guards.js';
import { toFileRoster } from '../../src/roster/settings.js';
import { listOfRun } from '../../src/runs/describe-run.js';
import { runImport } from '../../src/runs/import/import-run.js';
import { parseRunId } from '../../src/runs/run-reference.js';
import { testDatabases } from '../helpers/databases.js';
import { makeAppContext } from '../helpers/small-world.js';

const { open } = testDatabases('embedded');

it('rejected rows are listed with file, line, column and reason, by file and line, as many as asked for, and never with what they hold', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-listed-'));
  const write = (name: string, rows: readonly string[]) =>
    writeFile(join(folder, name), ['customer_id,type,name,birth_date', ...rows, ''].join('\n'));
  await write('a.csv', ['1,person,Ann Alder,', '2,robot,Ben Birch,', '3,clerk,Cyd Cedar,1970-12-01']);
  await write('b.csv', ['4,person,Dan Dogwood,', ',person,Eve Elm,', '6,person,Fay Fir,', '7,person,Gil Gorse,']);
  const database = await open();
  const app = await makeAppContext(database, { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' });
  const base = toFileRoster('people', '');
  const csv = base.csv && { ...base.csv, path: [join(folder, 'b.csv'), join(folder, 'a.csv')] };
  const roster = { ...base, csv, guards: guardsSchema.parse({ maxRejectShare: 1 }) };
  const { runId } = await runImport(app, roster, new AbortController().signal);
  const all = formatListed(
    await listOfRun(database, { runId: parseRunId(runId) }, { limit: 20, after: null }),
    '/reports/of-the-run',
  );
  expect(all.trim().split('\n')).toEqual([
    'Rejected rows, by file and line',
    expect.stringMatching(/a\.csv, line 3 +type: \S.* +type is neither person nor entity$/),
    expect.stringMatching(/a\.csv, line 4 +type: \S.* +type is neither person nor entity$/),
    expect.stringMatching(/b\.csv, line 3 +customer_id: empty +no customer id$/),
    expect.stringContaining('rejects.csv (of related parties: rejects-parties.csv) in /reports/of-the-run'),
  ]);
  expect(all).not.toMatch(/robot|clerk|Birch|Cedar|1970|Elm/);
  const two = formatListed(await listOfRun(database, { runId: parseRunId(runId) }, { limit: 2, after: null }), null);
  expect(two).toContain('and 1 more: --list rejected --limit 3');
  expect(two).not.toContain('rejects.csv');
  await app.client().close();
});
