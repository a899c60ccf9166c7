import { boundHeap, publishExit } from './process.js';
import { runCommandLine } from './run-command-line.js';
import { openTerminal } from './terminal.js';

boundHeap();
const exitCode = await runCommandLine({
  words: process.argv.slice(2),
  environment: process.env,
  folder: process.cwd(),
  terminal: openTerminal(process.env),
});
await publishExit(exitCode);
// Idle connections may linger for seconds; everything that matters has been closed and written by now.
process.exit(exitCode);
