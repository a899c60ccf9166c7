import type { Command } from 'commander';
import type { Act } from '../invocation.js';
import { examples } from '../options.js';

/** Adds `watchdog`. */
export function addWatchdogCommand(program: Command, act: Act): void {
  program
    .command('watchdog')
    .description('did the nights run, and is all of it done? exit code 3 and mail when not; belongs on a second host')
    .addHelpText('after', examples(['watchdog', 'watchdog --json']))
    .action(() =>
      act(async (invocation) => {
        const { look } = await import('../watchdog.js');
        return look(invocation);
      }),
    );
}
