import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const main = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));

/** What a command printed and how it ended; `exitCode` is null when a signal ended it. */
export interface CommandResult {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** A command line running as a child process. */
export interface RunningCommand {
  child: ChildProcess;
  result: Promise<CommandResult>;
}

/** Starts `nightscreen` with these words in this folder; of this process's environment it gets nothing but the path. */
export function startCommand(
  words: readonly string[],
  folder: string,
  environment: Record<string, string> = {},
): RunningCommand {
  const child = spawn(process.execPath, ['--import', import.meta.resolve('tsx'), main, ...words], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const result = once(child, 'close').then(() => ({ exitCode: child.exitCode, stdout, stderr }));
  return { child, result };
}

/** Runs `nightscreen` with these words in this folder to its end. */
export const runCommand = (
  words: readonly string[],
  folder: string,
  environment: Record<string, string> = {},
): Promise<CommandResult> => startCommand(words, folder, environment).result;
