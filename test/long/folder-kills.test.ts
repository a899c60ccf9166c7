import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { bundleProgram, quickStart } from '../helpers/cli-process.js';

const numberRow = z.object({ n: z.number() });
let folder: string;

beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'nightscreen-open-')), 'data');
});

afterEach(() => rm(join(folder, '..'), { recursive: true, force: true }));

it('the embedded database loses no acknowledged row over kill -9, at any moment from the first start on', async () => {
  const kills = [{ afterMs: 300 }, { afterMs: 1_500 }, { afterRows: 1 }, { afterRows: 40 }, { afterRows: 1_000 }];
  const writer = await bundleProgram(new URL('../helpers/folder-writer.ts', import.meta.url));
  for (const { afterMs, afterRows } of kills) {
    const child = spawn(process.execPath, [...quickStart, writer.path, folder], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    let acknowledged = 0;
    const lines = createInterface({ input: child.stdout }).on('line', (line) => {
      acknowledged = Number(line);
      if (acknowledged === afterRows) child.kill('SIGKILL');
    });
    const timer = afterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), afterMs);
    await Promise.all([once(child, 'exit'), once(lines, 'close')]);
    clearTimeout(timer);
    const database = await openDatabase({ folder }, 'inspector');
    await migrate(database);
    await database.runScript('create table if not exists line (n int primary key, filler text)');
    const [last] = await database.query(numberRow, 'select coalesce(max(n), 0) as n from line');
    const [count] = await database.query(numberRow, 'select count(*) as n from line');
    expect(acknowledged).toBeGreaterThanOrEqual(afterRows ?? 0);
    expect(last?.n).toBeGreaterThanOrEqual(acknowledged);
    expect(last?.n).toBeLessThanOrEqual(acknowledged + 1);
    expect(count).toEqual(last);
    await database.runScript('truncate line');
    await database.close();
  }
  await writer.remove();
}, 120_000);
