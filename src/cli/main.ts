#!/usr/bin/env node
import { readFileSync } from 'node:fs';

/** Loading the program opens up to 160 files at the same time; two small runs on the embedded database had 338 open, and it breaks where it gets no more. */
const fewestOpenFiles = 512;

refuseFewOpenFiles(process.argv.includes('--json'));
await import('./run-process.js');

/** Ends the process with exit 2 where it may not open enough files to be loaded; Node would print its own stack. */
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

/** Empty where the system does not say. */
function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}
