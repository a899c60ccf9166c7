import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { runCli } from '../helpers/cli-process.js';
import { seedDatabase } from '../helpers/databases.js';

const secrets = {
  NIGHTSCREEN_API_KEY: 'private_sandbox_planted',
  SMTP_URL: 'smtp://user:planted-password@127.0.0.1',
  NIGHTSCREEN_BASE_URL: 'http://127.0.0.1:1/v1',
};

it('backup and restore from the command line: private, without keys, and refused where it must be', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-cli-backup-'));
  const missing = await runCli(['db', 'backup', 'night.backup'], { folder });
  expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('there is no database at') });
  expect(await runCli(['db', 'migrate', '--check', '--json'], { folder })).toMatchObject({ exitCode: 3 });
  expect(await readdir(folder)).toEqual([]);

  await seedDatabase(folder);
  expect(await runCli(['db', 'migrate', '--check'], { folder })).toMatchObject({ exitCode: 0, stdout: 'up to date\n' });
  await writeFile(join(folder, 'people.csv'), 'customer_id,type,name\nC-1,person,Ada Beispiel\n');
  await runCli(['import', '--file', 'people.csv'], { folder, environment: secrets });
  const backup = await runCli(['db', 'backup', 'night.backup', '--json'], { folder, environment: secrets });
  expect(JSON.parse(backup.stdout)).toMatchObject({ schema: 'nightscreen/backup-written/1', rows: { customer: 1 } });
  const path = join(folder, 'night.backup');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(gunzipSync(await readFile(path)).toString('utf8')).not.toMatch(/planted/);

  await writeFile(join(folder, 'other.yaml'), 'database: { folder: ./other }\n');
  await writeFile(join(folder, 'cut.backup'), (await readFile(path)).subarray(0, 2_000));
  const cut = await runCli(['db', 'restore', 'cut.backup', '--config', 'other.yaml'], { folder });
  expect(cut).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is truncated') });
  expect(await readdir(folder)).not.toContain('other');
  const restored = await runCli(['db', 'restore', 'night.backup', '--config', 'other.yaml'], { folder });
  expect(restored).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^1 +customer$/m) });
}, 180_000);
