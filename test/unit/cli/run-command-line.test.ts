import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { endAtSignals } from '../../../src/cli/process.js';
import { runCommandLine } from '../../../src/cli/run-command-line.js';

const folder = mkdtempSync(join(tmpdir(), 'nightscreen-usage-'));

async function run(
  words: string,
  environment: Record<string, string> = {},
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const written = { stdout: '', stderr: '' };
  const terminal = {
    writeData: async (text: string): Promise<void> => {
      written.stdout += text;
    },
    writeMessage: (text: string): void => {
      written.stderr += text;
    },
    isScreen: false,
    columns: 80,
    hasColours: false,
  };
  const exitCode = await runCommandLine({
    words: words.split(' ').filter(Boolean),
    environment,
    folder,
    terminal,
  });
  return { exitCode, ...written };
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s while a command is still loading ends with exit code 4',
  async (signal) => {
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    endAtSignals();
    const running = run('config');
    process.emit(signal, signal);
    expect(exit).toHaveBeenCalledExactlyOnceWith(4);
    exit.mockRestore();
    await running;
  },
);

describe('help', () => {
  test('the daily commands come first, the rest under More, all on standard output', async () => {
    const { exitCode, stdout, stderr } = await run('--help');
    expect([exitCode, stderr]).toEqual([0, '']);
    const [before = '', after = ''] = stdout.split('\nMore:\n');
    const list = (text: string): string[] => text.match(/^ {2}[a-z]+/gm)?.map((line) => line.trim()) ?? [];
    expect(list(before.split('Daily commands:')[1] ?? '')).toEqual([
      'init',
      'demo',
      'onboard',
      'rescreen',
      'review',
      'report',
      'status',
    ]);
    for (const command of ['import', 'screen', 'runs', 'schedule', 'doctor', 'config', 'db', 'sandbox', 'assure']) {
      expect(list(after)).toContain(command);
    }
  });

  test('-v and --version print the version', async () => {
    expect((await run('-v')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await run('-v')).toEqual(await run('--version'));
  });
});

describe('refusals end with exit code 2 and say what next', () => {
  test.each([
    ['', 'no command is given'],
    ['scren', 'Did you mean screen?'],
    ['screen --max-searches many', 'whole number'],
    ['screen --due --all', 'cannot be used with'],
    ['screen --dry-run --file none.csv', "'--dry-run' cannot be used with option '--file"],
    ['screen --log-level loud', 'Allowed choices'],
    ['rescreen', 'no roster is configured'],
    ['onboard --file none.csv', 'no file at none.csv'],
    ['config --config none.yaml', 'does not exist'],
    ['sweep', 'NIGHTSCREEN_API_KEY'],
    ['runs show zebra', 'zebra'],
    ['runs drop 12 --reason old', "unknown command 'drop'"],
    ['runs --limt 3', 'Did you mean --limit?'],
    ['outbox drp', 'Did you mean drop?'],
    ['rescreen --rostr x', 'Did you mean --roster?'],
  ])('nightscreen %s', async (words, message) => {
    const { exitCode, stdout, stderr } = await run(words);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });

  test.each([
    ['a command that does not exist', 'scren'],
    ['a missing flag', 'check Erika --json'],
    ['a missing roster', 'import'],
    ['an unknown roster', 'import --roster retail'],
    ['a missing roster file', 'onboard --file none.csv'],
    ['a missing configuration file', 'config --config none.yaml'],
    ['a missing list', 'screen --because-of none.csv --dry-run'],
    ['a run that is none', 'runs show zebra'],
    ['options that exclude each other', 'report --since 2026-01-01 --run 1'],
  ])('%s is code usage_error, not a wrong setting', async (_case, words) => {
    const access = { NIGHTSCREEN_BASE_URL: 'https://service.example/v1', NIGHTSCREEN_API_KEY: 'private_sandbox_none' };
    const { exitCode, stdout, stderr } = await run(`${words} --json`, access);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({ schema: 'nightscreen/error/1', code: 'usage_error' });
    expect(stderr).not.toContain('correct the settings');
  });

  test('with --json the error is exactly one line of JSON on standard output', async () => {
    writeFileSync(join(folder, 'bad.yaml'), 'service:\n  mood: test\n  rate: [\n');
    const { exitCode, stdout } = await run('--json config --config bad.yaml');
    expect(exitCode).toBe(2);
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'nightscreen/error/1',
      code: 'config_invalid',
      problems: expect.arrayContaining([expect.objectContaining({ where: 'bad.yaml:2:3', path: 'service.mood' })]),
    });
  });
});

describe('what only reads does not make an embedded database that says "nothing yet"', () => {
  test.each([
    'runs',
    'runs show 1',
    'runs resume 1',
    'coverage',
    'status',
    'report',
    'outbox',
    'screen --dry-run --roster people --config people.yaml',
    'outbox retry',
    'review export --out list.csv',
    'review import list.csv',
    'review import --legacy list.csv',
    'review show C-1',
    'review undo 1 --reason wrong',
    'review assign --customer C-1 --to A --by B',
    'config accept --by A --reason B',
    'config replay other.yaml',
    'config --all',
    'schedule show',
    'db backup all.backup',
  ])('nightscreen %s is refused', async (words) => {
    const data = join(folder, 'data');
    writeFileSync(join(folder, 'other.yaml'), '{}\n');
    writeFileSync(join(folder, 'people.yaml'), 'rosters: [{ name: people, csv: { path: people.csv } }]\n');
    const access = { NIGHTSCREEN_BASE_URL: 'https://service.example/v1', NIGHTSCREEN_API_KEY: 'private_sandbox_none' };
    const { exitCode, stdout, stderr } = await run(words, { ...access, NIGHTSCREEN_DATA: data });
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(`there is no database at ${data},`);
    expect(stderr).toMatch(/"next":".*--config.*DATABASE_URL/);
    expect(existsSync(data)).toBe(false);
  });
});

test('options of the program are accepted after the command as well as before it', async () => {
  const before = await run('--json --log-level debug config');
  const after = await run('config --json --log-level debug');
  expect(after).toEqual(before);
  expect(JSON.parse(after.stdout).settings).toContainEqual({
    path: 'log.level',
    value: 'debug',
    origin: 'flag --log-level',
  });
});

test('a planted key is in 0 bytes of what a wrong configuration makes the program print', async () => {
  const key = 'private_sandbox_Pl4ntedKeyPl4nted';
  writeFileSync(join(folder, 'leak.yaml'), `service: { apiKey: ${key}, baseUrl: "https://${key}@h.example/v1" }\n`);
  const { stdout, stderr } = await run('config --json --config leak.yaml --log-level debug', {
    NIGHTSCREEN_API_KEY: key,
  });
  expect(stderr).toContain('secrets are never read from this file');
  expect(stdout + stderr).not.toContain('Pl4nted');
});

describe('config', () => {
  test('show says of every secret, those that settings name included, only whether and where it is set', async () => {
    const settings = {
      rosters: [{ name: 'core', postgres: { urlEnv: 'CORE_URL', query: "select * from open_with('planted-secret')" } }],
      webhooks: [{ url: 'https://bank.example/hook', secretEnv: 'HOOK_SECRET' }],
    };
    writeFileSync(join(folder, 'named.yaml'), JSON.stringify(settings));
    writeFileSync(join(folder, 'hook.txt'), 'planted-hook-secret');
    const environment = {
      CORE_URL: 'postgres://core:planted-secret@db.example/core',
      HOOK_SECRET_FILE: join(folder, 'hook.txt'),
      SMTP_URL: 'smtp://night:planted-secret@mail.example',
    };
    const shown = await run('config --config named.yaml', environment);
    expect(shown.stdout).toMatch(/^CORE_URL +set +env CORE_URL$/m);
    expect(shown.stdout).toMatch(/^HOOK_SECRET +set +env HOOK_SECRET_FILE$/m);
    expect(shown.stdout).toMatch(/^DATABASE_URL +not set +-$/m);
    expect(shown.stdout).toMatch(/^rosters\[0\]\.postgres\.query .*\[secret\].* named\.yaml:1$/m);
    const document = await run('config --config named.yaml --json', environment);
    expect(shown.stdout + shown.stderr + document.stdout).not.toContain('planted');
  });
});
