import type { Command } from 'commander';
import type { Act } from '../invocation.js';
import { examples } from '../options.js';
import { presentRun } from '../present-run.js';
import { withAppContext } from '../session.js';

/** Adds `reconcile`. */
export function addReconcileCommand(program: Command, act: Act): void {
  program
    .command('reconcile')
    .description('compare rosters, screenings and dossiers, and report discrepancies; makes no call to the service')
    .option('--roster <name>', 'only this roster')
    .option('--no-report', 'store the discrepancies without writing a report')
    .addHelpText('after', examples(['reconcile', 'reconcile --roster retail --json']))
    .action(({ roster, report }: { roster?: string; report: boolean }) =>
      act(async (invocation) => {
        const { runReconciliation } = await import('../../runs/reconcile-run.js');
        const options = { roster, writeReport: report };
        return withAppContext(invocation, { isLasting: true, needsDatabase: true }, async (app) =>
          presentRun(await runReconciliation(app, options, invocation.signal)),
        );
      }),
    );
}
