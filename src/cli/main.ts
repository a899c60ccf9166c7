#!/usr/bin/env node
import { readFileSync } from 'node:fs';

/** Two small runs on the embedded database had 338 files open, and it breaks at the limit. */
const fewestOpenFiles = 512;

refuseFewOpenFiles(process.argv.includes('--json'));
const { endAtSignals, tuneV8, publishExit } = await import('./process.js');
endAtSignals();
const { findOverview } = await import('./overview.js');
const { openTerminal } = await import('./terminal.js');
tuneV8();
const words = process.argv.slice(2);
const terminal = openTerminal(process.env);
const overview = findOverview(words);
const exitCode = await (overview === null ? runCommand() : terminal.writeData(overview).then(() => 0));
await publishExit(exitCode);
// Idle connections may stay open for seconds; all data is written and all resources are closed at this point.
process.exit(exitCode);

async function runCommand(): Promise<number> {
  const { runCommandLine } = await import('./run-command-line.js');
  return runCommandLine({ words, environment: process.env, folder: process.cwd(), terminal });
}

/** Ends the process with exit code 2 when it may open too few files; without this check Node prints a stack. */
function refuseFewOpenFiles(isJson: boolean): void {
  const limit = /^Max open files\s+(\d+)/m.exec(readLimits())?.[1];
  if (limit === undefined || Number(limit) >= fewestOpenFiles) return;
  const message = `this process may open ${limit} files at the same time and needs ${fewestOpenFiles}`;
  const next = 'raise the limit: `ulimit -n 4096` in the shell, `LimitNOFILE=4096` in a systemd unit';
  process.stderr.write(`nightscreen: ${message} [too_few_open_files]\n  next:  ${next}\n`);
  if (isJson) {
    const document = { schema: 'nightscreen/error/1', code: 'too_few_open_files', message, next };
    process.stdout.write(`${JSON.stringify(document)}\n`);
  }
  process.exit(2);
}

/** Empty on systems without this file. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
