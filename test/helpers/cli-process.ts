import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { bundleProgram, type Program } from './bundle-program.js';

// Compiled once for all test files: a variable of the environment is what their processes inherit.
const variable = 'NIGHTSCREEN_TEST_CLI';

/** How a command is started. */
export interface CliOptions {
  folder: string;
  environment?: Readonly<Record<string, string>>;
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
export function startCli(words: readonly string[], { folder, environment = {} }: CliOptions): ChildProcess {
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  return spawn(process.execPath, [findCli(), ...words], { cwd: folder, env });
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
  while (child.exitCode === null && !isDue()) await delay(1);
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
