import { definePreparedCommand, text } from '../command.js';
import { acceptOptions, chooseRoster, findRosterAcceptance, shared } from '../options.js';
import { presentImportPreview, presentRun } from '../present-run.js';

export const command = definePreparedCommand({
  usage: 'import',
  description: 'read a roster and store its customers, without searching',
  options: {
    file: shared.file,
    delta: {
      ...text('<file>', 'add and change the customers of this file; none counts as absent'),
      conflicts: ['file'],
    },
    roster: shared.roster,
    dryRun: shared.dryRun,
    ...acceptOptions,
  },
  examples: ['import --file customers.csv --dry-run', 'import --delta rejects.csv'],
  needs: { createsDatabase: true, isLasting: true },
  prepare: ({ config, options }) => chooseRoster(config.settings.rosters, options),
  run: async (app, { prepared: roster, options, signal }) => {
    const isDelta = options.delta !== undefined;
    if (options.dryRun) {
      const { previewImport } = await import('../../runs/preview.js');
      return presentImportPreview(await previewImport(app, roster, signal, { isDelta }));
    }
    const { runImport } = await import('../../runs/import/import-run.js');
    const acceptRoster = await findRosterAcceptance(app.database, options);
    return presentRun(await runImport(app, roster, signal, { isDelta, acceptRoster }));
  },
});
