import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { prepareDemoFolder } from '../../../src/cli/commands/demo.js';
import { describeError } from '../../../src/cli/describe-error.js';
import { findUnknownVariables } from '../../../src/config/environment.js';
import { loadConfig } from '../../../src/config/load-config.js';
import { ConfigError } from '../../../src/errors.js';
import { findFolderProblem } from '../../../src/files.js';
import { toDatabaseError } from '../../../src/store/database/database.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-refusals-'));
});

test('a folder that cannot be made is refused in plain words, and nothing is made', async () => {
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect(findFolderProblem(join(file, 'reports', 'deep'))).toBe(`${file} is a file where a folder belongs`);
  expect(findFolderProblem(join(folder, 'reports', 'deep'))).toBeNull();
  expect(existsSync(join(folder, 'reports'))).toBe(false);
  await expect(prepareDemoFolder(join(file, 'demo'))).rejects.toThrow(ConfigError);
});

test('a control character in an address or a path is refused where it stands', () => {
  const text = 'service:\n  baseUrl: "https://service.example/v1\\0"\nreports:\n  dir: "a\\u009bb"\n';
  writeFileSync(join(folder, 'nightscreen.config.yaml'), text);
  expect(() => loadConfig({ environment: {}, folder })).toThrow(
    /yaml:2:12: service\.baseUrl: holds a control character \(U\+0000\).*\n.*yaml:4:8: reports\.dir: holds .* \(U\+009B\)/,
  );
});

test('the line break at the end of a variable is none of its value', () => {
  writeFileSync(join(folder, 'nightscreen.config.yaml'), 'timezone: UTC\n');
  expect(loadConfig({ environment: { NIGHTSCREEN_REPORTS: '/r\n' }, folder }).settings.reports.dir).toBe('/r');
});

test('variables that nothing reads are found, with the one that was meant', () => {
  writeFileSync(join(folder, 'nightscreen.config.yaml'), 'timezone: UTC\n');
  const { settings } = loadConfig({ environment: {}, folder });
  const environment = {
    NIGHTSCREEN_API_KY: 'x',
    NIGHTSCREEN_DATABASE_URL: 'x',
    NIGHTSCREEN_API_KEY_FILE: 'x',
    NIGHTSCREEN_TEST_DATA: 'x',
  };
  expect(findUnknownVariables(environment, settings)).toEqual([
    { name: 'NIGHTSCREEN_API_KY', meant: 'NIGHTSCREEN_API_KEY' },
    { name: 'NIGHTSCREEN_DATABASE_URL', meant: 'DATABASE_URL' },
  ]);
});

test('a configuration that is wrong is told together with the variables that nothing reads', () => {
  const text = 'webhooks: [{ url: "ftp://x", secretEnv: NIGHTSCREEN_OWN_SECRET }]\n';
  writeFileSync(join(folder, 'nightscreen.config.yaml'), text);
  const environment = { NIGHTSCREEN_API_KY: 'x', NIGHTSCREEN_OWN_SECRET: 'x', NIGHTSCREEN_ODD: 'x' };
  const refuse = (): unknown => loadConfig({ environment, folder });
  expect(refuse).toThrow(/^env NIGHTSCREEN_API_KY: unknown variable \(did you mean NIGHTSCREEN_API_KEY\?\): correct/m);
  expect(refuse).toThrow(/^env NIGHTSCREEN_ODD: unknown variable: correct/m);
  expect(refuse).toThrow(/yaml:1:19: webhooks\[0\]\.url: /);
  expect(refuse).not.toThrow(/OWN_SECRET/);
  // What stands behind a break of the YAML may name a variable.
  writeFileSync(join(folder, 'nightscreen.config.yaml'), 'a: [\nwebhooks: }\n');
  expect(refuse).toThrow(/did you mean NIGHTSCREEN_API_KEY/);
  expect(refuse).not.toThrow(/OWN_SECRET|ODD/);
});

test.each([
  ['25006', 'refused', 'is read-only'],
  ['53300', 'refused', 'no connection left'],
  ['08P01', 'no more connections allowed (max_client_conn)', 'no connection left'],
])('a database that refuses with SQLSTATE %s (%s) leaves advice', (code, message, words) => {
  const error = toDatabaseError(Object.assign(new Error(message), { code, severity: 'FATAL' }));
  expect(describeError(error).next).toContain(words);
});
