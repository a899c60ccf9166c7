import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { describeConfig } from '../../../src/cli/commands/config.js';
import { type Config, type ConfigSources, loadConfig } from '../../../src/config/load-config.js';
import { ConfigError } from '../../../src/errors.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-config-'));
});

function load(text: string | null, sources: Partial<ConfigSources> = {}): Config {
  if (text !== null) writeFileSync(join(folder, 'nightscreen.config.yaml'), text);
  return loadConfig({ environment: {}, folder, ...sources });
}

function findProblems(text: string | null, sources: Partial<ConfigSources> = {}): string[] {
  try {
    load(text, sources);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ where, path, message }) => `${where} ${path} ${message}`);
  }
}

describe('mistakes', () => {
  test('every mistake is reported at once, each with its line and column', () => {
    const text = `service:
  baseUrl: http://example.com/v1
  rate: { perSecnd: 10, concurrency: "8" }
rosters:
  - { name: retail, csv: { path: a.csv } }
  - { name: retail, csv: { path: b.csv } }
controls:
  - { type: persn, name: "", expect: match }
reports:
jobs:
  rescreen: "0 25 * * *"
timezone: Europe/Kopenhagen
sweeep: {}
`;
    const problems = findProblems(text, { environment: { NIGHTSCREEN_LOG_LEVEL: 'loud' } });
    const places = [
      'env NIGHTSCREEN_LOG_LEVEL log.level',
      'nightscreen.config.yaml:2:12 service.baseUrl',
      'nightscreen.config.yaml:3:11 service.rate.perSecnd',
      'nightscreen.config.yaml:3:38 service.rate.concurrency',
      'nightscreen.config.yaml:6:13 rosters[1].name',
      'nightscreen.config.yaml:8:13 controls[0].type',
      'nightscreen.config.yaml:8:26 controls[0].name',
      'nightscreen.config.yaml:9:1 reports',
      'nightscreen.config.yaml:11:13 jobs.rescreen',
      'nightscreen.config.yaml:12:11 timezone',
      'nightscreen.config.yaml:13:1 sweeep',
    ];
    expect(problems).toHaveLength(places.length);
    for (const [index, place] of places.entries()) expect(problems[index]).toContain(`${place} `);
  });

  test('control searches are read, and a name that is nearly theirs is recognised', () => {
    const list = '[{ type: person, name: Zephyrine Ottakringer-Mbaluka, expect: none }]';
    const { settings, originOf } = load(`# names\ncontrols: ${list}\n`);
    expect(settings.controls).toMatchObject([{ expect: 'none' }]);
    expect(originOf(['controls'])).toBe('nightscreen.config.yaml:2');
    expect(findProblems('controls: 1\n')[0]).toMatch('nightscreen.config.yaml:1:11 controls must be a list');
    expect(findProblems('contrls: []\n')[0]).toContain('did you mean controls?');
  });

  test('an unknown setting that is nearly right names the right one', () => {
    expect(findProblems('sweeep: {}\n')[0]).toContain('did you mean sweep?');
    expect(findProblems('service: { rate: { persecond: 1 } }\n')[0]).toContain('did you mean perSecond?');
    expect(findProblems('entirely: 1\n')[0]).toContain('known here: timezone, service');
    expect(findProblems('metrics: { pushgateway: "https://push.example" }\n')).toEqual([
      'nightscreen.config.yaml:1:12 metrics.pushgateway unknown setting; known here: hosts',
    ]);
  });

  test('a half-written file gives its broken place and the mistakes before it, nothing after it', () => {
    const text = 'service:\n  mood: test\nrosters:\n  - name: retail\n    csv: { path: "ros';
    const problems = findProblems(text);
    expect(problems[0]).toMatch(/^nightscreen\.config\.yaml:2:3 service\.mood unknown setting/);
    expect(problems[1]).toMatch(/^nightscreen\.config\.yaml:5:\d+ {2}broken YAML/);
    expect(problems.filter((problem) => !problem.includes('broken YAML'))).toHaveLength(1);
  });

  const layers = Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`)}]`);
  test.each([
    ['an alias of its own list', 'rosters: &a [*a]\n', '1:1 ', 'names a group around it'],
    ['a circle of two', 'service: &a\n  rate: &b\n    perSecond: 1\n    x: *a\n', '1:1 ', 'names a group around it'],
    ['aliases of aliases', ['a0: &a0 [x]', ...layers, ''].join('\n'), '1:1 ', 'repeat too much'],
    ['100,000 brackets', `service: ${'['.repeat(100_000)}${']'.repeat(100_000)}\n`, '1', 'nested too deeply'],
    ['2,000 groups', `a: 1\nservice: ${'{a: '.repeat(2_000)}1${'}'.repeat(2_000)}\n`, '2', 'nested too deeply'],
    ['2,000 list marks', `${'- '.repeat(2_000)}1\n`, '1', 'nested too deeply'],
    [
      '2,000 indented groups',
      Array.from({ length: 2_000 }, (_, n) => `${' '.repeat(n)}a:\n`).join(''),
      '201',
      'nested too deeply',
    ],
  ])('%s is named, with its place', (_, text, place, words) => {
    const [problem] = findProblems(text);
    expect(problem).toMatch(`nightscreen.config.yaml:${place}`);
    expect(problem).toContain(words);
  });

  test('an alias of another group is read', () => {
    const text = 'jobs:\n  sweep: &a "0 2 * * *"\n  report: *a\n';
    expect(load(text).settings.jobs.report).toBe('0 2 * * *');
  });

  test('an empty file is a mistake, one with comments only is not', () => {
    expect(findProblems('')[0]).toContain('the file is empty');
    expect(findProblems('# nothing yet\n')).toEqual([]);
  });

  test('a key that stands twice is reported beside the other mistakes', () => {
    const problems = findProblems('sweep: {}\nsweep: {}\nfoo: 1\n');
    expect(problems[0]).toContain('nightscreen.config.yaml:2:1');
    expect(problems[1]).toContain('nightscreen.config.yaml:3:1 foo');
  });

  test('a mistake in the file is reported although a variable overrides the setting', () => {
    const problems = findProblems('log: { level: loud }\n', { environment: { NIGHTSCREEN_LOG_LEVEL: 'louder' } });
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual(['env', 'nightscreen.config.yaml:1:15']);
  });

  test('a missing file is a mistake only when it was asked for', () => {
    expect(findProblems(null)).toEqual([]);
    expect(findProblems(null, { file: 'other.yaml' })).toEqual([
      'file other.yaml  the configuration file does not exist',
    ]);
    expect(findProblems(null, { environment: { NIGHTSCREEN_CONFIG: 'x.yaml' } })[0]).toContain('x.yaml');
  });
});

describe('secrets', () => {
  const key = 'private_sandbox_Abcdefgh12345678';

  test.each([
    [`service: { apiKey: ${key} }`, 'NIGHTSCREEN_API_KEY'],
    ['database: { url: "postgres://h/x" }', 'DATABASE_URL'],
    ['database: { folder: "postgres://u:geheim@h/x" }', 'DATABASE_URL'],
    ['mail: { from: a@b.example, to: [c@d.example], password: geheim }', 'SMTP_URL'],
    ['rosters: [{ name: r, postgres: { url: "postgres://u:geheim@h/x", query: q, urlEnv: X } }]', 'urlEnv'],
    ['webhooks: [{ url: "https://u:geheim@core.example" }]', 'secretEnv'],
    ['pings: { watchdog: { url: "https://monitor.example/geheim" } }', 'NIGHTSCREEN_PING_URL'],
  ])('a secret in the file is refused with the place where it belongs, and not shown: %s', (text, advice) => {
    const problems = findProblems(`${text}\n`);
    const said = problems.filter((problem) => problem.includes('secrets are never read from this file'));
    expect(said).toHaveLength(1);
    expect(said[0]).toContain(advice);
    expect(problems.join()).not.toMatch(/geheim|Abcdefgh/);
  });

  test('a URL with a bare # in its password is told how such characters are written', () => {
    const [problem] = findProblems(null, { environment: { DATABASE_URL: 'postgres://u:ge#heim@h/x' } });
    expect(problem).toMatch(/^env DATABASE_URL .*percent-encoded: # is %23/);
    expect(problem).not.toMatch(/heim/);
  });

  test('wrong secrets are named by their variable and not shown', () => {
    const problems = findProblems(null, {
      environment: {
        NIGHTSCREEN_API_KEY: 'public_sandbox_Abcdefgh',
        DATABASE_URL: 'mysql://u:geheim@h/x',
        SMTP_URL_FILE: join(folder, 'none'),
      },
    });
    expect(problems.map((problem) => problem.split('  ')[0])).toEqual([
      'env NIGHTSCREEN_API_KEY',
      'env DATABASE_URL',
      'env SMTP_URL_FILE',
    ]);
    expect(problems.join()).not.toMatch(/geheim|Abcdefgh/);
  });

  test.each([
    ['the service', 'service: { baseUrl: https://service.example/v1 }', {}],
    ['a webhook', 'webhooks: [{ url: https://core.example/hook, secretEnv: HOOK }]', {}],
    ['the database', '', { DATABASE_URL: 'postgres://a:geheim@db.example/n?sslmode=verify-full' }],
    ['the database by its option', '', { DATABASE_URL: 'postgres:///n?host=db.example' }],
    ['the mail server', '', { SMTP_URL: 'smtps://a:geheim@mail.example:465' }],
    [
      'the database of a roster',
      'rosters: [{ name: core, postgres: { urlEnv: CORE, query: select 1 }, columns: { id: id, name: name, type: type } }]',
      { CORE: 'postgres://a:geheim@core.example/n' },
    ],
  ])('a process that verifies no certificate is refused for %s', (_, text, environment) => {
    const found = (flag: string) =>
      findProblems(`log: {}\n${text}\n`, { environment: { ...environment, NODE_TLS_REJECT_UNAUTHORIZED: flag } });
    expect(found('1')).toEqual([]);
    expect(found('0')).toEqual([
      expect.stringMatching(/^env NODE_TLS_REJECT_UNAUTHORIZED .* answers for \w+\.example .*NODE_EXTRA_CA_CERTS/),
    ]);
    expect(found('0').join()).not.toContain('geheim');
  });

  test('a process that verifies no certificate may use what is on this machine', () => {
    const environment = {
      NODE_TLS_REJECT_UNAUTHORIZED: '0',
      NIGHTSCREEN_BASE_URL: 'https://localhost:8443/v1',
      DATABASE_URL: 'postgres:///n?host=/run/postgresql',
      SMTP_URL: 'smtp://127.0.0.1:25',
    };
    expect(findProblems('webhooks: [{ url: "https://[::1]/hook", secretEnv: HOOK }]\n', { environment })).toEqual([]);
  });

  test('a live key in test mode is refused', () => {
    const environment = { NIGHTSCREEN_API_KEY: 'private_Abcdefgh12345678' };
    expect(findProblems('service: { mode: test }\n', { environment })[0]).toContain('env NIGHTSCREEN_API_KEY');
  });

  test('a secret comes from its file without the line end, but not from both', () => {
    const file = join(folder, 'key');
    writeFileSync(file, `${key}\n`);
    expect(load(null, { environment: { NIGHTSCREEN_API_KEY_FILE: file } }).secret('NIGHTSCREEN_API_KEY')).toBe(key);
    const both = { NIGHTSCREEN_API_KEY: key, NIGHTSCREEN_API_KEY_FILE: file };
    expect(findProblems(null, { environment: both })[0]).toContain('set only one');
  });

  test('the description of a secret is a fingerprint only', () => {
    const environment = { NIGHTSCREEN_API_KEY: key };
    const described = describeConfig(load(null, { environment }), environment);
    expect(described.secrets[0]).toMatchObject({ state: 'set', fingerprint: expect.stringMatching(/^[0-9a-f]{12}$/) });
    expect(JSON.stringify(described)).not.toContain('Abcdefgh');
  });
});

describe('precedence and origins', () => {
  test('a flag wins over a variable, a variable over the file, the file over the default', () => {
    const text = 'log: { level: warn }\nreports: { dir: out }\nsweep:\n  windows: 8\n';
    const config = load(text, {
      environment: { NIGHTSCREEN_LOG_LEVEL: 'error', NIGHTSCREEN_REPORTS: 'elsewhere' },
      flags: [{ path: ['log', 'level'], value: 'debug', origin: 'flag --log-level' }],
    });
    expect(config.settings.log.level).toBe('debug');
    expect(config.originOf(['log', 'level'])).toBe('flag --log-level');
    expect(config.settings.reports.dir).toBe(join(folder, 'elsewhere'));
    expect(config.originOf(['reports', 'dir'])).toBe('env NIGHTSCREEN_REPORTS');
    expect(config.settings.sweep.windows).toBe(8);
    expect(config.originOf(['sweep', 'windows'])).toBe('nightscreen.config.yaml:4');
    expect(config.originOf(['changes', 'scoreStep'])).toBe('default');
  });

  test('relative paths of the file start at the file, those of a variable at the working folder', () => {
    const text = 'database: { folder: data }\nrosters: [{ name: a, csv: { path: "in/*.csv" } }]\n';
    const { settings } = load(text, { environment: { NIGHTSCREEN_REPORTS: 'out' } });
    expect(settings.database.folder).toBe(join(folder, 'data'));
    expect(settings.rosters[0]?.csv?.path).toBe(join(folder, 'in/*.csv'));
    expect(settings.reports.dir).toBe(join(folder, 'out'));
  });

  test.each([
    ['changes: { topics: { sanction: [sanctoin] } }', 'is no risk category that is known; did you mean sanction\\?'],
    ['changes: { topics: { crime: [crime, Crimes.war] } }', 'crime\\[1\\] .* did you mean crime'],
    ['changes: { topics: { sanction: [sanction, debarmnet] } }', 'did you mean debarment'],
    ['changes: { topics: { pep: [role.ppe] } }', 'did you mean role.pep'],
    [
      'controls: [{ type: person, name: A, expect: match, topics: [sanctoin] }]',
      'controls\\[0\\].topics\\[0\\] .* sanction',
    ],
    ['controls: [{ type: person, name: A, expect: match, topics: [sanctoin.linked] }]', 'did you mean sanction.linked'],
  ])('a misspelt risk category is an error with the near one: %s', (text, said) => {
    expect(findProblems(`${text}\n`)).toEqual([expect.stringMatching(said)]);
  });

  test('own words of a service are no misspelt risk categories', () => {
    const own = '[sanction, sanctions, sanction.eu, role.spy, moon.far, gov.soe, crime.env, blacklist, pepp]';
    expect(findProblems(`changes: { topics: { sanction: ${own} } }\n`)).toEqual([]);
  });

  test.each([
    ['review: { expiresAfterDays: { grave: 3 } }', 'unknown setting; known here: critical'],
    ['review: { expiresAfterDays: { critcal: 3 } }', 'did you mean critical'],
    ['changes: { severities: { nonsense: high } }', 'unknown setting; known here: sanction_hit_gained'],
    ['reconciliation: { severity: { nonsense: high } }', 'unknown setting; known here: verified_name_not_searched'],
    [
      'columns: { type: { column: kind, value: person } }',
      'type.column cannot stand beside value; write { value } or { column, values }',
    ],
    ['columns: { countries: { value: dk, separator: "," } }', 'cannot stand beside'],
    ['columns: { riskTier: { value: low, values: { a: low } } }', 'riskTier.values cannot stand beside value'],
    ['columns: { type: { colum: kind, value: person } }', 'colum unknown setting; did you mean column'],
  ])('a key in the wrong place names what fits there: %s', (text, said) => {
    const inRoster = `rosters: [{ name: a, csv: { path: a.csv }, ${text} }]`;
    const problems = findProblems(`${text.startsWith('columns') ? inRoster : text}\n`);
    expect(problems.join('\n')).toMatch(said);
    expect(problems.join('\n')).not.toMatch(/known here: *$/m);
  });

  test('the default folders are beside the file, and without a file in the working folder', () => {
    const foldersOf = ({ settings, originOf }: Config) => [
      settings.database.folder,
      settings.reports.dir,
      originOf(['database', 'folder']),
      originOf(['reports', 'dir']),
    ];
    const besideFile = [join(folder, '.nightscreen'), join(folder, 'reports'), 'default', 'default'];
    expect(foldersOf(load('# nothing\n'))).toEqual(besideFile);
    const file = join(folder, 'nightscreen.config.yaml');
    const elsewhere = join(folder, 'elsewhere');
    expect(foldersOf(load(null, { folder: elsewhere, file }))).toEqual(besideFile);
    const environment = { NIGHTSCREEN_CONFIG: file };
    expect(foldersOf(load(null, { folder: elsewhere, environment }))).toEqual(besideFile);
    const inWorkingFolder = [join(elsewhere, '.nightscreen'), join(elsewhere, 'reports'), 'default', 'default'];
    expect(foldersOf(load(null, { folder: elsewhere }))).toEqual(inWorkingFolder);
    const { settings } = load('database: { acceptEmbedded: true }\nreports: { publishTo: share }\n', {
      folder: elsewhere,
      file,
      environment: { NIGHTSCREEN_DATA: 'data' },
    });
    expect(settings).toMatchObject({
      database: { folder: join(elsewhere, 'data') },
      reports: { dir: join(folder, 'reports'), publishTo: join(folder, 'share') },
    });
    expect(findProblems('reports: { publishTo: reports }\n')[0]).toContain('the folder of the reports themselves');
  });

  test('clear text is allowed to this machine only', () => {
    const at = (url: string): string[] => findProblems(null, { environment: { NIGHTSCREEN_BASE_URL: url } });
    expect(at('http://127.0.0.1:8080/v1')).toEqual([]);
    expect(at('https://service.example/v1')).toEqual([]);
    expect(at('http://service.example/v1')[0]).toContain('env NIGHTSCREEN_BASE_URL');
  });

  test('the settings digest follows what shapes results and nothing else', () => {
    const digest = (text: string): string => load(text).settingsDigest;
    const plain = digest('# nothing\n');
    expect(digest('service: { rate: { perSecond: 99 } }\nreports: { dir: x }\nlog: { level: warn }\n')).toBe(plain);
    expect(digest('changes: { scoreStep: 0.02 }\n')).toBe(plain);
    expect(digest('changes: { scoreStep: 0.03 }\n')).not.toBe(plain);
    expect(digest('service: { aml: { nameField: query } }\n')).not.toBe(plain);
  });
});

const rosters = 'rosters: [{ name: retail, csv: { path: a.csv } }]\n';
const mail = (entry: string): string => `${rosters}mail:\n  from: a@b.example\n  recipients:\n    - ${entry}\n`;

describe('who gets what', () => {
  test('is told by recipients, or by the short form, or both', () => {
    const full = '{ to: b@b.example, rosters: [retail], kinds: [summary], severities: [critical], attach: archive }';
    expect(load(mail(full)).settings.mail).toMatchObject({
      to: [],
      recipients: [{ to: 'b@b.example', kinds: ['summary'] }],
    });
    const short = load('mail: { from: a@b.example, to: [b@b.example] }\n').settings.mail;
    expect(short).toMatchObject({ to: ['b@b.example'], recipients: [], transport: 'file' });
  });

  test.each([
    ['mail: { from: a@b.example }\n', 'nightscreen.config.yaml:1:1 mail.to has no recipient'],
    [mail('{ to: [] }'), 'nightscreen.config.yaml:5:9 mail.recipients[0].to must have at least 1 entries'],
    [mail('{ to: b@b.example, kinds: [reports] }'), '5:34 mail.recipients[0].kinds[0] must be one of report, summary'],
    [mail('{ to: b@b.example, attach: zip }'), '5:34 mail.recipients[0].attach must be one of none, masked'],
    [mail('{ to: b@b.example, rosters: [retial] }'), 'rosters[0] no roster has this name; did you mean retail?'],
    [
      `${rosters}webhooks: [{ url: "https://core.example/", rosters: [retial] }]\n`,
      'webhooks[0].rosters[0] no roster has this name; did you mean retail?',
    ],
    [mail('{ to: b@b.example, password: geheimnisvoll }'), 'set NIGHTSCREEN_ARCHIVE_PASSWORD or'],
  ])('a mistake is told with its place: %s', (text, said) => {
    const problems = findProblems(text).join('\n');
    expect(problems).toContain(said);
    expect(problems).not.toContain('geheimnisvoll');
  });

  test('a password that machines guess is refused, and never shown', () => {
    const problems = findProblems(rosters, { environment: { NIGHTSCREEN_ARCHIVE_PASSWORD: 'hunter2' } });
    expect(problems).toEqual(['env NIGHTSCREEN_ARCHIVE_PASSWORD  must have at least 12 characters']);
  });
});

test('the folder for readers is not the one the reports are written to', () => {
  expect(load('reports: { dir: ./out, publishTo: share }\n').settings.reports.publishTo).toBe(join(folder, 'share'));
  const [problem] = findProblems('reports: { dir: ./out, publishTo: out }\n');
  expect(problem).toContain('reports.publishTo is the folder of the reports themselves');
});

test('a tier longer than a day without a reason is refused with its line', () => {
  expect(findProblems('screening:\n  cadence:\n    medium: 7d\n    low: 12h\n')).toEqual([
    expect.stringMatching(/yaml:3:13 screening\.cadence\.medium is missing: .* needs a reason/),
  ]);
});

test('spans and caps that are no such are refused with what they should be', () => {
  const problems = findProblems(
    'screening:\n  reuseMaxAge: 12 hours\nbudget:\n  maxSearchesPerMonth: 0\n  currency: euro\n  priceOfSearch: 1\n',
  );
  expect(problems).toEqual([
    expect.stringMatching(/:2:16 screening\.reuseMaxAge must be a span such as 30m, 12h or 7d/),
    expect.stringMatching(/:4:24 budget\.maxSearchesPerMonth must be more than 0/),
    expect.stringMatching(/:5:13 budget\.currency must be a currency such as EUR/),
    expect.stringMatching(/:6:3 budget\.priceOfSearch unknown setting; did you mean pricePerSearch/),
  ]);
});

test('the defaults ask for everybody daily and use nothing again', () => {
  const { settings } = load(
    'screening:\n  cadence:\n    low: 30d\n    reason: policy 4.2\nbudget:\n  maxSearchesPerDay: 5\n',
  );
  expect(settings.screening).toMatchObject({ cadenceHours: 24, reuseMaxAge: 0, cadence: { low: '30d' } });
  expect(settings.budget).toEqual({ maxSearchesPerDay: 5, currency: 'EUR' });
});
