import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Invocation } from '../../src/cli/invocation.js';
import { openRedactor } from '../../src/logging.js';
import { LastRun } from '../../src/runs/app-context.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';

// Compiled once for all test files: a variable of the environment is what their processes inherit.
const variable = 'NIGHTSCREEN_TEST_CLI';

/** Flags of Node that compile the embedded database without optimising it, which takes half the time of a process that lives for seconds. */
export const quickStart = ['--liftoff-only'];

/** How a command is started. */
export interface CliOptions {
  folder: string;
  environment?: Readonly<Record<string, string>>;
  /** In place of the compiled command line. */
  program?: string;
}

/** The variables with which the command line finds a service, and a database on a server where there is one. */
export const accessTo = (
  service: Pick<Sandbox, 'url' | 'privateKey'>,
  databaseUrl?: string,
): Record<string, string> => ({
  NIGHTSCREEN_BASE_URL: service.url,
  NIGHTSCREEN_API_KEY: service.privateKey,
  ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
});

/** A new folder with these files, where the command line finds a service and a database. */
export async function makeCliSite(
  files: Readonly<Record<string, string>>,
  ...access: Parameters<typeof accessTo>
): Promise<{ folder: string; environment: Readonly<Record<string, string>> }> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-site-'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return { folder, environment: accessTo(...access) };
}

/** Compiles the command line for this process and those it starts; `remove` it when they have ended. */
export async function compileCli(): Promise<Program> {
  const program = await bundleProgram(new URL('../../src/cli/main.ts', import.meta.url));
  process.env[variable] = program.path;
  return program;
}

/** The compiled command line. */
export function findCli(): string {
  const path = process.env[variable];
  if (path === undefined) throw new Error('the command line is not compiled: call compileCli first');
  return path;
}

/** Starts the command line as a child process with only the given variables beside PATH. */
export function startCli(words: readonly string[], { folder, environment = {}, program }: CliOptions): ChildProcess {
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  return spawn(process.execPath, [...quickStart, program ?? findCli(), ...words], { cwd: folder, env });
}

/** Everything a stream of the child writes, as text so far. */
export function collect(stream: NodeJS.ReadableStream | null): { text: () => string } {
  const parts: Buffer[] = [];
  stream?.on('data', (part: Buffer) => parts.push(part));
  return { text: () => Buffer.concat(parts).toString('utf8') };
}

/** Starts a command and ends it with SIGKILL a moment after `isDue`; true unless it came to its end before. */
export async function killCli(
  words: readonly string[],
  options: CliOptions,
  { isDue, lingerMs }: { isDue: () => boolean; lingerMs: number },
): Promise<boolean> {
  const child = startCli(words, options);
  child.stdout?.resume();
  child.stderr?.resume();
  const closed = once(child, 'close');
  while (child.exitCode === null && !isDue()) await delay(3);
  await delay(lingerMs);
  child.kill('SIGKILL');
  const [, signal] = await closed;
  return signal === 'SIGKILL';
}

/** Runs a command to its end. */
export async function runCli(
  words: readonly string[],
  options: CliOptions,
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const child = startCli(words, options);
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  const [exitCode]: (number | null)[] = await once(child, 'close');
  return { exitCode: exitCode ?? null, stdout: stdout.text(), stderr: stderr.text() };
}

/** Runs a command to its end in this process, which costs a fraction of a process of its own: for what is no claim about a process. */
export async function runInProcess(
  words: readonly string[],
  { folder, environment = {} }: CliOptions,
): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const { invocation, terminal } = makeInvocation(folder);
  // Here, because the processes that only start others need not load the whole program.
  const { runCommandLine } = await import('../../src/cli/run-command-line.js');
  const exitCode = await runCommandLine({ words, environment, folder, terminal: invocation.terminal });
  return { exitCode, ...terminal };
}

const folder = fileURLToPath(new URL('../../dist/programs/', import.meta.url));

/** A program of the tests as plain JavaScript. */
export interface Program {
  path: string;
  remove(): Promise<void>;
}

/** Compiles a program once: compiled at each start, a process costs three times as much, and its functions run slower. */
export async function bundleProgram(source: URL): Promise<Program> {
  const name = basename(source.pathname, '.ts');
  await mkdir(folder, { recursive: true });
  // Inside the project, where its packages and its migrations are found.
  const place = await mkdtemp(join(folder, `${name}-`));
  await build({
    entryPoints: [fileURLToPath(source)],
    outdir: place,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    // What the program imports only when it needs it stays so.
    splitting: true,
    platform: 'node',
    format: 'esm',
    // With its packages, a process starts in two thirds of the time. This one finds its own files beside itself.
    external: ['@electric-sql/pglite', '@electric-sql/pglite/*', 'pg-native', 'cloudflare:sockets'],
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    minifyWhitespace: true,
    logLevel: 'error',
  });
  return { path: join(place, `${name}.mjs`), remove: () => rm(place, { recursive: true, force: true }) };
}

/** Where the first of these programs is on PATH; null where there is none. */
export function findProgram(...names: readonly string[]): string | null {
  const { PATH = '' } = process.env;
  const places = PATH.split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return places.find((place) => existsSync(place)) ?? null;
}

/** Where Chromium is: `CHROMIUM_PATH`, or the first of its usual names on PATH; null where there is none. */
export function findChromium(): string | null {
  const { CHROMIUM_PATH } = process.env;
  return CHROMIUM_PATH || findProgram('chromium', 'chromium-browser', 'google-chrome');
}

/** What a command has written. */
interface Written {
  stdout: string;
  stderr: string;
}

/** An invocation in a folder, what is written by it, and what a signal does to it. */
export function makeInvocation(
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): { invocation: Invocation; terminal: Written; stop: () => void } {
  const terminal: Written = { stdout: '', stderr: '' };
  const stopping = new AbortController();
  const invocation: Invocation = {
    command: 'test',
    options: {},
    environment,
    folder,
    signal: stopping.signal,
    terminal: {
      writeData: async (text) => {
        terminal.stdout += text;
      },
      writeMessage: (text) => {
        terminal.stderr += text;
      },
      isScreen: false,
      columns: 80,
      hasColours: false,
    },
    notify: ({ message }) => {
      terminal.stderr += `${message}\n`;
    },
    readSecrets: openRedactor(),
    lastRun: new LastRun(),
    noteOpen: () => {},
  };
  return { invocation, terminal, stop: () => stopping.abort(new Error('SIGTERM')) };
}
