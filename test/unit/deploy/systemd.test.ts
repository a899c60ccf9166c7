import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodes } from '../../../src/cli/exit-code.js';
import { findProgram } from '../../helpers/cli-process.js';
import { listShipped, readShipped, readUnit, root } from '../../helpers/shipped-files.js';

const folder = mkdtempSync(join(tmpdir(), 'nightscreen-units-'));

const units = listShipped('deploy/systemd').filter((name) => /\.(service|timer)$/.test(name));
const services = units.filter((name) => name.endsWith('.service'));
const wrapper = 'deploy/systemd/nightscreen-as-service';

test.skipIf(findProgram('systemd-analyze') === null)(
  'systemd takes the units as they are, but for the path of the program',
  () => {
    const copies = units.map((name) => {
      const copy = join(folder, name.split('/').at(-1) ?? '');
      writeFileSync(copy, readShipped(name).replaceAll('/usr/local/bin/nightscreen', process.execPath));
      return copy;
    });
    const output = execFileSync('systemd-analyze', ['verify', ...copies], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    expect([copies.length, output]).toEqual([4, '']);
  },
);

test('the lines of the documentation that install it can be typed one after the other on a machine that has none of it', () => {
  const target = join(folder, 'target');
  for (const there of ['etc/systemd/system', 'usr/local/sbin', 'usr/local/bin']) {
    mkdirSync(join(target, there), { recursive: true });
  }
  writeFileSync(join(folder, 'api-key'), 'private_sandbox_key\n');
  const [, block = ''] = /^## systemd$[\s\S]*?^```sh\n([\s\S]*?)^```$/m.exec(readShipped('docs/deployment.md')) ?? [];
  const lines = block.split('\n').filter((line) => /^(install|ln) /.test(line));
  for (const line of lines) {
    const moved = line.replaceAll(/ (\/(?:etc|usr)\/)/g, ` ${target}$1`).replace(' api-key ', ` ${folder}/api-key `);
    execFileSync('sh', ['-ec', moved], { cwd: root });
  }
  // Where `npm ci` of a checkout builds the program, in a place that ProtectHome does not hide.
  expect(readlinkSync(join(target, 'usr/local/bin/nightscreen'))).toBe('/opt/nightscreen/dist/src/cli/main.js');
  const toMode = (path: string): string => (statSync(join(target, path)).mode & 0o777).toString(8);
  expect(
    [
      'etc/nightscreen/api-key',
      'etc/nightscreen/nightscreen.env',
      'etc/nightscreen/nightscreen.config.yaml',
      'usr/local/sbin/nightscreen-as-service',
      ...units.map((name) => name.replace('deploy/systemd', 'etc/systemd/system')),
    ].map(toMode),
  ).toEqual(['600', '600', '644', '755', ...units.map(() => '644')]);
  const installed = units.filter((name) => readUnit(name).has('WantedBy')).map((name) => name.split('/').at(-1));
  for (const unit of installed) expect(readShipped('docs/deployment.md')).toContain(unit);
});

test('every unit that asks the service has its key, and the watchdog, which is on another host, needs none', () => {
  expect(services.map((name) => [name.split('/').at(-1), readUnit(name).get('LoadCredential') ?? null])).toEqual([
    ['nightscreen-schedule.service', ['api-key:/etc/nightscreen/api-key']],
    ['nightscreen-watchdog.service', null],
    ['nightscreen-worker.service', ['api-key:/etc/nightscreen/api-key']],
  ]);
});

test('a file of settings that is missing or has another name stops a unit, which would ask another database without it', () => {
  expect(services.map((name) => readUnit(name).get('EnvironmentFile'))).toEqual(
    services.map(() => ['/etc/nightscreen/nightscreen.env']),
  );
});

test('a scheduler that is stopped during a job has not failed, and one that is refused is not started again', () => {
  const unit = readUnit('deploy/systemd/nightscreen-schedule.service');
  expect(['Restart', 'SuccessExitStatus', 'RestartPreventExitStatus'].map((key) => unit.get(key))).toEqual([
    ['on-failure'],
    [String(exitCodes.stopped)],
    [String(exitCodes.refused)],
  ]);
});

test('a worker is started again whatever ended it, with what the scheduler has but for its own lines', () => {
  const ofWorker = readUnit('deploy/systemd/nightscreen-worker.service');
  const ofScheduler = readUnit('deploy/systemd/nightscreen-schedule.service');
  expect(['Restart', 'RestartPreventExitStatus'].map((key) => ofWorker.get(key))).toEqual([['always'], undefined]);
  const differing = [...ofScheduler.keys()].filter((key) => String(ofWorker.get(key)) !== String(ofScheduler.get(key)));
  expect(differing.toSorted()).toEqual([
    'Description',
    'ExecStart',
    'Restart',
    'RestartPreventExitStatus',
    'SuccessExitStatus',
    'TimeoutStopSec',
  ]);
});

test.each(services)('%s has no rights but those that the program uses, and time to end', (path) => {
  const unit = readUnit(path);
  const keys = ['NoNewPrivileges', 'CapabilityBoundingSet', 'ProtectSystem', 'UMask', 'LimitCORE'];
  expect(keys.map((key) => unit.get(key))).toEqual([['true'], [''], ['strict'], ['0077'], ['0']]);
  // V8 and WebAssembly compile into memory that is written and then executed.
  expect(unit.has('MemoryDenyWriteExecute')).toBe(false);
  // The program ends within 8 seconds of SIGTERM.
  expect(Number(unit.get('TimeoutStopSec')?.[0])).toBeGreaterThan(10);
});

test('a command that is typed has the settings, secrets and rights of the units', () => {
  const text = readShipped(wrapper).replaceAll('\\\n', ' ');
  const unit = readUnit('deploy/systemd/nightscreen-schedule.service');
  const properties = [
    'StateDirectory',
    'StateDirectoryMode',
    'UMask',
    'LimitCORE',
    'KillMode',
    'TimeoutStopSec',
    'EnvironmentFile',
    'LoadCredential',
    ...[...unit.keys()].filter((key) =>
      /^(Protect|Private|Restrict(?!Sec)|RemoveIPC|No|Capability|Lock|SystemCall)/.test(key),
    ),
  ];
  expect(properties).toHaveLength(30);
  const unquoted = text.replaceAll("'", '');
  for (const property of properties) {
    for (const value of unit.get(property) ?? []) expect(unquoted).toContain(`--property=${property}=${value} `);
  }
  expect(text).toContain(`--uid=${unit.get('User')?.[0]} --gid=${unit.get('Group')?.[0]} `);
  expect(text).toContain(`--working-directory=${unit.get('WorkingDirectory')?.[0]} `);
  const [config, key] = unit.get('Environment') ?? [];
  expect(text).toContain(`--setenv=${config} `);
  // Not by %d, which systemd has from version 250 on only.
  expect(text).toContain(key?.replace('/run/credentials/%n/', '"$CREDENTIALS_DIRECTORY/'));
});

// What systemd would do with it, by a stand-in that drops the options, as there is no systemd to ask.
test.each([
  [['runs', '--json'], 'runs --json: credentials/api-key'],
  [['check', 'Erika Muster', '--type', 'person'], 'check Erika Muster --type person: credentials/api-key'],
  [['--without-key', 'schedule', 'watchdog'], 'schedule watchdog: '],
])('nightscreen-as-service %j calls the program with these words, and ends as it does', (words, expected) => {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const write = (name: string, text: string): void =>
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  write(
    'systemd-run',
    'while case "$1" in --*) ;; *) false ;; esac; do shift; done; CREDENTIALS_DIRECTORY=credentials exec "$@"',
  );
  write('nightscreen', 'echo "$*: $NIGHTSCREEN_API_KEY_FILE"; exit 3');
  const script = join(folder, 'as-service');
  writeFileSync(script, readShipped(wrapper).replaceAll('/usr/local/bin/nightscreen', join(bin, 'nightscreen')), {
    mode: 0o755,
  });
  const run = () => execFileSync(script, words, { encoding: 'utf8', env: { PATH: `${bin}:${process.env['PATH']}` } });
  expect(run).toThrow(expect.objectContaining({ status: 3, stdout: `${expected}\n` }));
});
