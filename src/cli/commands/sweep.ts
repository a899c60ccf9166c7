import type { Command } from 'commander';
import { examples } from '../examples.js';
import type { Act } from '../invocation.js';
import { presentRun } from '../present-run.js';
import { requireService } from '../session.js';
import { withPingedWorkplace } from '../with-pinged-workplace.js';

/** Adds `sweep`. */
export function addSweepCommand(program: Command, act: Act): void {
  program
    .command('sweep')
    .description('read all dossiers of the service and report what changed')
    .option('--no-report', 'store the changes without writing a report')
    .addHelpText('after', examples(['sweep', 'sweep --no-report --json']))
    .action((options: { report: boolean }) =>
      act(async (invocation) => {
        const { runSweep } = await import('../../runs/sweep-run.js');
        return withPingedWorkplace(invocation, 'sweep', {
          command: 'sweep',
          isLasting: true,
          prepare: (config) => requireService(config, () => {}, { writesReport: options.report }),
          work: async (workplace) =>
            presentRun(await runSweep(workplace, { writeReport: options.report }, invocation.signal)),
        });
      }),
    );
}
