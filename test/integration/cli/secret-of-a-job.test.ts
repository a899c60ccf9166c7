import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { makeInvocation } from '../../helpers/cli-process.js';
import { testDatabases } from '../../helpers/databases.js';

const databases = testDatabases('postgres');
const job = `export default {
  name: 'upload',
  async run({ secret }) {
    const error = new Error('401 for ' + secret('ARCHIVE_TOKEN'));
    error.cause = new Error(encodeURIComponent(secret('ARCHIVE_PASSWORD')));
    throw error;
  },
};
`;

it('a secret that a job of one’s own has asked for is in no line of the log', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-job-secret-'));
  await mkdir(join(folder, 'own-jobs'));
  await writeFile(join(folder, 'own-jobs', 'upload.mjs'), job);
  await writeFile(join(folder, 'nightscreen.config.yaml'), 'scheduler: { jobsFolder: own-jobs }\n');
  await writeFile(join(folder, 'password.txt'), 'planted/pass word\n');
  const { url = '' } = await databases.locate();
  const environment = {
    DATABASE_URL: url,
    ARCHIVE_TOKEN: 'planted-token',
    ARCHIVE_PASSWORD_FILE: join(folder, 'password.txt'),
  };
  const { invocation, terminal } = makeInvocation(folder, environment);
  const words = ['schedule', 'run', 'upload', '--log-level', 'debug'];
  const exitCode = await runCommandLine({ words, environment, folder, terminal: invocation.terminal });
  expect(exitCode).toBe(1);
  expect(terminal.stderr).toContain('401 for [secret]');
  expect(terminal.stderr + terminal.stdout).not.toMatch(/planted/);
});
