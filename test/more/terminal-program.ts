import { readFileSync } from 'node:fs';
import { commandNames } from '../../src/cli/program.js';
import { runCommandLine } from '../../src/cli/run-command-line.js';
import { openTerminal } from '../../src/cli/terminal.js';

// A child process of the terminal test: runs the commands of the file argv[2] one after the other on the terminal of this process, as
// main.ts runs one, and says after each how it ended.
const terminal = openTerminal(process.env, commandNames);
const commands: string[][] = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
for (const words of commands) {
  const exitCode = await runCommandLine({ words, environment: process.env, folder: process.cwd(), terminal });
  process.stdout.write(`<ended with ${exitCode}>\n`);
}
process.exit(0);
