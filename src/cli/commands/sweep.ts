import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { dossierChangeWords } from '../../vocabulary/words.js';
import type { Act, Invocation, Outcome } from '../invocation.js';
import { examples, shared } from '../options.js';
import { presentNothingMarked, presentRun } from '../present-run.js';
import { loadInvocationConfig, requireService, withAppContext } from '../session.js';
import { formatTable } from '../text.js';

/** Adds `sweep`. */
export function addSweepCommand(program: Command, act: Act): void {
  const sweep = program
    .command('sweep')
    .description('read all dossiers of the service and report what changed')
    .addOption(shared('no-report'))
    .addOption(shared('dirty'))
    .addHelpText('after', examples(['sweep', 'sweep --dirty']))
    .action((options: { report: boolean; dirty?: true }) =>
      act(async (invocation) => {
        if (options.dirty) return sweepDirty(invocation);
        const { runSweep } = await import('../../runs/sweep-run.js');
        const config = loadInvocationConfig(invocation);
        requireService(config, () => {}, { writesReport: options.report });
        return withAppContext(invocation, { config, isLasting: true }, async (app) =>
          presentRun(await runSweep(app, { writeReport: options.report }, invocation.signal)),
        );
      }),
    );
  addHistory(sweep, act);
}

async function sweepDirty(invocation: Invocation): Promise<Outcome> {
  const { sweepMarked } = await import('../../runs/dirty-run.js');
  const config = loadInvocationConfig(invocation);
  requireService(config, () => {});
  return withAppContext(invocation, { config, isLasting: true, needsDatabase: true }, async (app) => {
    const summary = await sweepMarked(app, invocation.signal);
    return summary === null ? presentNothingMarked('no dossier is marked') : presentRun(summary);
  });
}

function addHistory(sweep: Command, act: Act): void {
  sweep
    .command('history <dossier>')
    .description('all changes of a dossier since a sweep first listed it')
    .addHelpText(
      'after',
      examples([
        'sweep history dossier_0123456789abcdefABCDEF00',
        'sweep history dossier_0123456789abcdefABCDEF00 --json',
      ]),
    )
    .action((dossier: string) =>
      act(async (invocation) => {
        const { findOrganisation } = await import('../../store/organisations.js');
        const { readDossierHistory } = await import('../../store/changes.js');
        return withAppContext(invocation, { needsDatabase: true }, async ({ database, settings }) => {
          const organisation = await findOrganisation(database, settings.organisation);
          const changes = organisation && (await readDossierHistory(database, organisation.organisationId, dossier));
          if (!changes) {
            const message = `no sweep has listed the dossier ${dossier}; give its whole id, as in a report`;
            throw new ConfigError([{ where: 'argument dossier', path: '', message }]);
          }
          const rows = changes.map(({ seenAt, kind, status, updatedAt, fields }) => [
            seenAt.toISOString(),
            dossierChangeWords[kind],
            status.before === status.after
              ? (status.after ?? '-')
              : `${status.before ?? '-'} -> ${status.after ?? '-'}`,
            updatedAt.after ?? '-',
            fields.join(', ') || '-',
          ]);
          const head = ['seen', 'what', 'status', 'updated_at of the service', 'fields'];
          const text = rows.length === 0 ? 'no change since the first sweep\n' : formatTable([head, ...rows]);
          return { exitCode: 0, document: { schema: 'nightscreen/dossier-history/1', dossier, changes }, text };
        });
      }),
    );
}
