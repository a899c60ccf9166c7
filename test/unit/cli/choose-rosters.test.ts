import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { chooseRoster } from '../../../src/cli/options.js';
import { ConfigError } from '../../../src/errors.js';
import { readRoster } from '../../../src/roster/read-roster.js';
import { rosterSettingsSchema } from '../../../src/roster/settings.js';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-choose-'));
  file = join(folder, 'rejects.csv');
  await writeFile(file, 'number,legal_name,rejected_line,rejected_column,rejected_reason\n7,Ada Beispiel,3,,\n');
});

const core = rosterSettingsSchema.parse({
  name: 'core',
  postgres: { urlEnv: 'CORE_DATABASE_URL', query: 'select * from people' },
  columns: { id: 'number', name: 'legal_name', type: { value: 'person' } },
  parties: [{ postgres: { urlEnv: 'CORE_DATABASE_URL', query: 'select * from officers' } }],
});
const branch = rosterSettingsSchema.parse({ name: 'branch', csv: { path: 'b.csv', delimiter: ';' } });

it('the mended rejects of a database are read from their file, under the columns of the roster', async () => {
  const chosen = chooseRoster([core], { roster: 'core', delta: file });
  expect(chosen).toMatchObject({ name: 'core', columns: core.columns, parties: core.parties });
  const reading = await readRoster(chosen, () => undefined);
  const rows: unknown[] = [];
  for await (const batch of reading.rows) rows.push(...batch);
  expect(rows).toMatchObject([{ kind: 'customer', customer: { reference: '7' } }]);
});

it('a part of a roster of files is written as the roster is', () => {
  const chosen = chooseRoster([branch], { roster: 'branch', delta: file });
  expect(chosen.csv).toMatchObject({ path: file, delimiter: ';' });
});

it('a whole file never stands for a database', () => {
  expect(() => chooseRoster([core], { roster: 'core', file })).toThrow('flag --file: roster core is read from a data');
});

it.each(['file', 'delta'])('a file that is not there is told under the flag that was typed: --%s', (flag) => {
  const choose = () => chooseRoster([core], { roster: 'core', [flag]: join(folder, 'gone.csv') });
  expect(choose).toThrow(`flag --${flag}: no file at `);
});

it.each(['file', 'delta'])(
  '--%s without --roster is of the only configured roster, and of `default` where none is',
  (flag) => {
    expect(chooseRoster([branch], { [flag]: file })).toMatchObject({
      name: 'branch',
      csv: { path: file, delimiter: ';' },
    });
    expect(chooseRoster([], { [flag]: file })).toMatchObject({ name: 'default', csv: { path: file } });
  },
);

it.each(['file', 'delta'])(
  '--%s without --roster asks whose it is where several are configured, and names them',
  (flag) => {
    const choose = () => chooseRoster([core, branch], { [flag]: file });
    expect(choose).toThrow(ConfigError);
    expect(choose).toThrow(
      `flag --roster: several rosters are configured: name the roster of the file in --${flag}: core, branch`,
    );
  },
);
