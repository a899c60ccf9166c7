#!/usr/bin/env node
import { endAtSignals, publishExit, tuneV8 } from './process.js';
import { commandNames, findOverview } from './program.js';
import { openTerminal } from './terminal.js';

endAtSignals();
tuneV8();
const words = process.argv.slice(2);
const terminal = openTerminal(process.env, commandNames);
const overview = findOverview(words);
const exitCode = await (overview === null ? runCommand() : terminal.writeData(overview).then(() => 0));
await publishExit(exitCode);
// Idle connections may stay open for seconds; all data is written and all resources are closed at this point.
process.exit(exitCode);

async function runCommand(): Promise<number> {
  const { runCommandLine } = await import('./run-command-line.js');
  return runCommandLine({ words, environment: process.env, folder: process.cwd(), terminal });
}
