import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const tsx = createRequire(import.meta.url).resolve('tsx');

/** How a command is started. */
export interface CliOptions {
  folder: string;
  environment?: Readonly<Record<string, string>>;
}

/** Starts the command line as a child process with only the given variables beside PATH. */
export function startCli(words: readonly string[], { folder, environment = {} }: CliOptions): ChildProcess {
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  return spawn(process.execPath, ['--import', tsx, main, ...words], { cwd: folder, env });
}

/** Everything a stream of the child writes, as text so far. */
export function collect(stream: NodeJS.ReadableStream | null): { text: () => string } {
  const parts: Buffer[] = [];
  stream?.on('data', (part: Buffer) => parts.push(part));
  return { text: () => Buffer.concat(parts).toString('utf8') };
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
