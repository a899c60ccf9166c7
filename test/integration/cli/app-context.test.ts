import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { buildAppContext } from '../../../src/cli/app-context.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { makeFakeClock } from '../../helpers/clocks.js';
import { testDatabases } from '../../helpers/databases.js';

const databases = testDatabases('postgres');

it.each([
  [
    'is known from the schedule that is written down',
    'timezone: Asia/Tokyo\njobs: { rescreen: "30 3 * * *" }',
    '2031-03-05T18:30:00Z',
  ],
  [
    'is the one after tonight in a night that a timer starts a moment early',
    'jobs: { rescreen: "0 2 * * *" }',
    '2031-03-06T02:00:00Z',
  ],
  ['is not known when the schedule is switched off', 'jobs: { rescreen: off }', undefined],
  ['is not known without a schedule, although the scheduler has one of its own', 'timezone: Asia/Tokyo', undefined],
])('the next rescreening %s', async (_, schedule, time) => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-app-'));
  await writeFile(join(folder, 'nightscreen.config.yaml'), `${schedule}\n`);
  const { url = '' } = await databases.locate();
  const config = loadConfig({ environment: { DATABASE_URL: url }, folder });
  const clock = makeFakeClock(Date.UTC(2031, 2, 5, 1, 59, 30));
  const app = await buildAppContext({ config, clock, command: 'test', emit: () => undefined });
  try {
    expect(app.nextRescreening?.()).toEqual(time === undefined ? null : new Date(time));
  } finally {
    await app.close();
  }
});

it('on the embedded database two people cannot be asked for, and nothing is opened', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-app-'));
  await writeFile(join(folder, 'nightscreen.config.yaml'), 'review:\n  fourEyes: [critical]\n');
  const config = loadConfig({ environment: {}, folder });
  const opening = buildAppContext({ config, command: 'test', emit: () => undefined });
  await expect(opening).rejects.toThrow(
    /config.yaml:2.*review.fourEyes: needs a database with a login for each reviewer/s,
  );
  expect(await readdir(folder)).toEqual(['nightscreen.config.yaml']);
});
