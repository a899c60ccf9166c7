import { usageError } from '../../errors.js';
import { codeWords } from '../../vocabulary/words.js';
import { defineDatabaseCommand } from '../command.js';
import { exitCodes } from '../exit-code.js';
import { shared } from '../options.js';
import { presentNothingMarked, presentRun } from '../present-run.js';
import { formatTable } from '../text.js';

const history = defineDatabaseCommand({
  usage: 'history <dossier>',
  description: 'all changes of a dossier since a sweep first listed it',
  examples: ['sweep history dossier_0123456789abcdefABCDEF00', 'sweep history dossier_0123456789abcdefABCDEF00 --json'],
  run: async ({ database, settings }, { argument: dossier }) => {
    const { findOrganisation } = await import('../../store/organisations.js');
    const { readDossierHistory } = await import('../../store/night/changes.js');
    const organisation = await findOrganisation(database, settings.organisation);
    const changes = organisation && (await readDossierHistory(database, organisation.organisationId, dossier));
    if (!changes) {
      const message = `no sweep has listed the dossier ${dossier}; give its whole id, as in a report`;
      throw usageError('argument dossier', message);
    }
    const rows = changes.map(({ seenAt, kind, status, updatedAt, fields }) => [
      seenAt.toISOString(),
      codeWords.dossierChange[kind],
      status.before === status.after ? (status.after ?? '-') : `${status.before ?? '-'} -> ${status.after ?? '-'}`,
      updatedAt.after ?? '-',
      fields.join(', ') || '-',
    ]);
    const head = ['seen', 'what', 'status', 'updated_at of the service', 'fields'];
    const text = rows.length === 0 ? 'no change since the first sweep\n' : formatTable([head, ...rows]);
    const document = { schema: 'nightscreen/dossier-history/1', dossier, changes } as const;
    return { exitCode: exitCodes.complete, document, text };
  },
});

export const command = defineDatabaseCommand({
  usage: 'sweep',
  description: 'read all dossiers of the service and report what changed',
  options: { report: shared.report, dirty: shared.dirty },
  examples: ['sweep', 'sweep --dirty'],
  commands: [history],
  needs: ({ report, dirty = false }) => ({
    service: true,
    reports: report && !dirty,
    createsDatabase: !dirty,
    isLasting: true,
  }),
  run: async (app, { options: { report: writeReport, dirty }, signal }) => {
    if (dirty) {
      const { sweepMarked } = await import('../../runs/dirty-run.js');
      const summary = await sweepMarked(app, signal);
      return summary === null ? presentNothingMarked('no dossier is marked') : presentRun(summary);
    }
    const { runSweep } = await import('../../runs/sweep-run.js');
    return presentRun(await runSweep(app, { writeReport }, signal));
  },
});
