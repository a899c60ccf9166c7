import type { Command } from 'commander';
import type { Act } from '../invocation.js';
import { examples } from '../options.js';

/** Adds `watchdog`. */
export function addWatchdogCommand(program: Command, act: Act): void {
  program
    .command('watchdog')
    .description('check that the nights ran and are complete; exit code 3 and mail if not; run it on a second host')
    .addHelpText('after', examples(['watchdog', 'watchdog --json']))
    .action(() =>
      act(async (invocation) => {
        const { look } = await import('../watchdog.js');
        return look(invocation);
      }),
    );
}
