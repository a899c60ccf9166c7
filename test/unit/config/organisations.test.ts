import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { Environment } from '../../../src/config/environment.js';
import { type Config, chooseConfig, loadConfigs } from '../../../src/config/load-config.js';
import { ConfigError } from '../../../src/errors.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-organisations-'));
});

function load(text: string, environment: Environment = {}) {
  writeFileSync(join(folder, 'nightscreen.config.yaml'), text);
  return loadConfigs({ environment, folder });
}

function findProblems(work: () => unknown): string[] {
  try {
    work();
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ where, path, message }) => `${where} ${path} ${message}`);
  }
}

const two = `timezone: UTC
service: { mode: test, rate: { perSecond: 40 } }
controls: [{ type: person, name: Both, expect: match }]
mail: { from: desk@bank.example, to: [group@bank.example] }
organisations:
  - name: north
    apiKeyEnv: NORTH_KEY
    timezone: Europe/Oslo
    service: { baseUrl: https://north.example/v1, rate: { perSecond: 5 } }
    rosters: [{ name: retail, csv: { path: north.csv } }]
    mail: { to: [desk@north.example] }
  - name: south
    apiKeyEnv: SOUTH_KEY
    rosters: [{ name: retail, csv: { path: south.csv } }]
    controls: [{ type: entity, name: Own, expect: match }]
    reports: { dir: elsewhere }
`;
const keys = { NORTH_KEY: 'private_sandbox_northnorth', SOUTH_KEY: 'private_sandbox_southsouth' };

test('an entry is the top level overlaid with its own groups: groups merged, lists replaced, paths from the file', () => {
  const [north, south] = load(two, keys);
  expect(north?.settings).toMatchObject({
    organisation: 'north',
    timezone: 'Europe/Oslo',
    service: { mode: 'test', baseUrl: 'https://north.example/v1', rate: { perSecond: 5, concurrency: 8 } },
    controls: [{ name: 'Both' }],
    rosters: [{ name: 'retail', csv: { path: join(folder, 'north.csv') } }],
    mail: { from: 'desk@bank.example', to: ['desk@north.example'] },
    reports: { dir: join(folder, 'reports', 'north') },
  });
  expect(south?.settings).toMatchObject({
    organisation: 'south',
    timezone: 'UTC',
    service: { rate: { perSecond: 40 } },
    controls: [{ name: 'Own' }],
    mail: { to: ['group@bank.example'] },
    reports: { dir: join(folder, 'elsewhere') },
  });
  expect(north?.settingsDigest).toBe(south?.settingsDigest);
});

test('each has its own key, also from a file, under the name by which the code asks for it', () => {
  const file = join(folder, 'south.key');
  writeFileSync(file, `${keys.SOUTH_KEY}\n`);
  const [north, south] = load(two, {
    NIGHTSCREEN_API_KEY: 'private_sandbox_other',
    NORTH_KEY: keys.NORTH_KEY,
    SOUTH_KEY_FILE: file,
  });
  expect([north, south].map((each) => each?.secret('NIGHTSCREEN_API_KEY'))).toEqual(Object.values(keys));
  expect(south?.secrets[0]).toMatchObject({ name: 'NIGHTSCREEN_API_KEY', from: 'SOUTH_KEY_FILE' });
});

test('the mail server and the password of archives are common, unless a variable has the name of the organisation', () => {
  const common = { ...keys, SMTP_URL: 'smtps://mail.example', NIGHTSCREEN_ARCHIVE_PASSWORD: 'common password' };
  const password = join(folder, 'password');
  writeFileSync(password, 'of north alone\n');
  const own = { NORTH_SMTP_URL: 'smtps://north.example', NORTH_NIGHTSCREEN_ARCHIVE_PASSWORD_FILE: password };
  const readAll = (each?: Config) => ['SMTP_URL', 'NIGHTSCREEN_ARCHIVE_PASSWORD'].map((name) => each?.secret(name));
  expect(load(two, { ...common, ...own }).map(readAll)).toEqual([
    ['smtps://north.example', 'of north alone'],
    ['smtps://mail.example', 'common password'],
  ]);
  expect(load(two, { ...common, ...own })[0]?.secrets.map(({ value }) => value)).toContain('of north alone');
  expect(load(two, { ...common, NORTH_SMTP_URL: '' }).map(readAll)[0]).toEqual(Object.values(common).slice(2));
  expect(findProblems(() => load(two, { ...common, NORTH_SMTP_URL: 'https://north.example' }))).toEqual([
    'env NORTH_SMTP_URL  must begin with smtp:// or smtps://',
  ]);
});

test('a key that cannot be used is the problem of its organisation alone', () => {
  const [north, south] = load(two, { ...keys, NORTH_KEY: 'private_live_key', SOUTH_KEY: undefined });
  expect(north?.keyProblems).toMatchObject([{ where: 'env NORTH_KEY' }]);
  expect(north?.secret('NIGHTSCREEN_API_KEY')).toBeUndefined();
  expect(south?.keyProblems).toEqual([]);
});

test('the key of one organisation is refused to another, whatever the variable is called', () => {
  const [north, south] = load(two, { NORTH_KEY: keys.NORTH_KEY, SOUTH_KEY: keys.NORTH_KEY });
  expect(north?.keyProblems).toEqual([]);
  const message = 'holds the key of organisation north; each organisation needs its own account';
  expect(south?.keyProblems).toEqual([{ where: 'env SOUTH_KEY', path: '', message }]);
});

test('a variable replaces the top level and nothing that an entry has of its own; each setting names its origin', () => {
  const environment = {
    ...keys,
    NIGHTSCREEN_BASE_URL: 'https://common.example/v1',
    NIGHTSCREEN_REPORTS: '/srv/reports',
  };
  const [north, south] = load(two, environment);
  expect(north?.settings.service.baseUrl).toBe('https://north.example/v1');
  expect(south?.settings.service.baseUrl).toBe('https://common.example/v1');
  expect(north?.settings.reports.dir).toBe('/srv/reports/north');
  expect(south?.settings.reports.dir).toBe(join(folder, 'elsewhere'));
  const originOf = (path: readonly (string | number)[]) => [north?.originOf(path), south?.originOf(path)];
  expect(originOf(['service', 'baseUrl'])).toEqual(['nightscreen.config.yaml:9', 'env NIGHTSCREEN_BASE_URL']);
  expect(originOf(['service', 'mode'])).toEqual(['nightscreen.config.yaml:2', 'nightscreen.config.yaml:2']);
  expect(originOf(['organisation'])).toEqual(['nightscreen.config.yaml:6', 'nightscreen.config.yaml:12']);
  expect(originOf(['run', 'deadline'])).toEqual(['default', 'default']);
});

test('mistakes name their place in the entry, or once that at the top; all are reported at once', () => {
  const text = `service: { mode: tset }
rosters: []
organisations:
  - name: North
    apiKeyEnv: private_sandbox_abcdefgh
    servise: {}
    rosters: [{ name: retail, csv: { path: a.csv }, source: 3 }]
    mail: { to: [a@bank.example] }
    database: { folder: x }
  - { name: south, apiKeyEnv: SOUTH_KEY, service: { rate: { perSecond: -1 } } }
  - 3
`;
  const places = findProblems(() => load(text)).map((problem) => problem.split(' ').slice(0, 2).join(' '));
  expect(places).toEqual([
    'nightscreen.config.yaml:1:18 service.mode',
    'nightscreen.config.yaml:2:1 rosters',
    'nightscreen.config.yaml:4:11 organisations[0].name',
    'nightscreen.config.yaml:5:5 organisations[0].apiKeyEnv',
    'nightscreen.config.yaml:6:5 organisations[0].servise',
    'nightscreen.config.yaml:7:53 organisations[0].rosters[0].source',
    'nightscreen.config.yaml:8:5 organisations[0].mail.from',
    'nightscreen.config.yaml:9:5 organisations[0].database',
    'nightscreen.config.yaml:10:72 organisations[1].service.rate.perSecond',
    'nightscreen.config.yaml:11:5 organisations[2]',
  ]);
});

test('names, keys, folders of reports and addresses of webhooks belong to one organisation each', () => {
  const same = `organisations:
  - { name: north, apiKeyEnv: KEY }
  - { name: north, apiKeyEnv: KEY }
`;
  expect(findProblems(() => load(same))).toEqual([
    'nightscreen.config.yaml:3:13 organisations[1].name organisations[0] has the same; each organisation needs its own',
    'nightscreen.config.yaml:3:31 organisations[1].apiKeyEnv organisations[0] has the same; each organisation needs its own',
  ]);
  const shared = `webhooks: [{ url: "https://bank.example/hook" }]
organisations:
  - { name: south, apiKeyEnv: SOUTH_KEY, reports: { dir: reports/east } }
  - { name: east, apiKeyEnv: EAST_KEY }
`;
  const problems = findProblems(() => load(shared));
  expect(problems).toHaveLength(2);
  expect(problems[0]).toContain('webhooks[0].url https://bank.example/hook also belongs to organisation south');
  expect(problems[1]).toContain('reports.dir');
  for (const text of ['organisations: []', 'organisations: north', 'organisations:']) {
    expect(findProblems(() => load(text))[0]).toContain('organisations');
  }
});

test('a command for one of several names it; the message lists the names', () => {
  const configs = load(two, keys);
  const choose = (name?: string) => findProblems(() => chooseConfig(configs, name));
  expect(choose()).toEqual(['flag --organisation  is missing, and several are configured: name north, south']);
  expect(choose('nroth')).toEqual(['flag --organisation  no organisation is named nroth; did you mean north?']);
  expect(choose('x')).toEqual(['flag --organisation  no organisation is named x; there are: north, south']);
  expect(chooseConfig(configs, 'south').settings.organisation).toBe('south');
  expect(chooseConfig(load('{}')).settings.organisation).toBe('default');
  expect(chooseConfig(load('{}'), 'default').settings.organisation).toBe('default');
});
