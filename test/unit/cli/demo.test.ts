import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { prepareDemoFolder } from '../../../src/cli/commands/demo.js';
import { subtract } from '../../../src/cli/demo-nights.js';
import { ConfigError, RunLockedError } from '../../../src/errors.js';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'nightscreen-demo-folder-'));
});

test('a folder that the demo did not make is refused and left as it is', async () => {
  const folder = join(parent, 'mine');
  mkdirSync(join(folder, 'reports'), { recursive: true });
  writeFileSync(join(folder, 'reports', 'precious'), 'x');
  await expect(prepareDemoFolder(folder)).rejects.toThrow(ConfigError);
  expect(existsSync(join(folder, 'reports', 'precious'))).toBe(true);
});

test('its own folder is emptied at each start, but never under a demo that runs', async () => {
  const folder = join(parent, 'demo');
  const first = await prepareDemoFolder(folder);
  mkdirSync(first.reports);
  await expect(prepareDemoFolder(folder)).rejects.toThrow(RunLockedError);
  expect(existsSync(first.reports)).toBe(true);
  await first.release();
  const second = await prepareDemoFolder(folder);
  expect(existsSync(second.reports)).toBe(false);
  await second.release();
});

test('a change that was found twice but expected once is unexpected once', () => {
  expect(subtract(['a', 'a', 'b'], ['a'])).toEqual(['a', 'b']);
  expect(subtract(['a'], ['a', 'c'])).toEqual([]);
});
