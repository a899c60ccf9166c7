import { definePreparedCommand } from '../command.js';
import { acceptOptions, chooseRoster, findRosterAcceptance, shared } from '../options.js';
import { presentImportPreview, presentRun } from '../present-run.js';

export const command = definePreparedCommand({
  usage: 'onboard',
  description: 'import a roster file, screen every new customer, and report',
  options: {
    file: shared.file,
    roster: shared.roster,
    maxSearches: shared.maxSearches,
    dryRun: shared.dryRun,
    ...acceptOptions,
  },
  examples: ['onboard --file customers.csv --dry-run', 'onboard --file customers.csv --roster retail'],
  needs: ({ dryRun = false }) => ({
    service: !dryRun,
    reports: !dryRun,
    createsDatabase: true,
    isLasting: true,
  }),
  prepare: ({ config, options }) => chooseRoster(config.settings.rosters, options),
  run: async (app, { prepared: roster, options, signal }) => {
    if (options.dryRun) {
      const { previewOnboarding } = await import('../../runs/preview.js');
      return presentImportPreview(await previewOnboarding(app, roster, signal));
    }
    const { runScreening } = await import('../../runs/screening-run.js');
    const acceptRoster = await findRosterAcceptance(app.database, options);
    const { maxSearches } = options;
    const plan = { kind: 'onboard', selection: 'new', importFirst: true, writeReport: true } as const;
    return presentRun(await runScreening(app, { ...plan, roster, maxSearches, acceptRoster }, signal));
  },
});
