import { existsSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../src/files.js';

test('a folder is made, and not tried for ever, where the working folder was removed meanwhile', async () => {
  const before = process.cwd();
  const removed = await realpath(await mkdtemp(join(tmpdir(), 'nightscreen-removed-')));
  process.chdir(removed);
  try {
    expect(process.cwd()).toBe(removed);
    await rm(removed, { recursive: true });
    await makeFolder('./data', 'name another folder');
    expect(existsSync(join(removed, 'data'))).toBe(true);
  } finally {
    process.chdir(before);
    await rm(removed, { recursive: true, force: true });
  }
});
