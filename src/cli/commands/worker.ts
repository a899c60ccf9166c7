import { ConfigError } from '../../errors.js';
import { runWorker } from '../../runs/worker-run.js';
import { definePreparedCommand } from '../command.js';
import { exitCodes } from '../exit-code.js';

export const command = definePreparedCommand({
  usage: 'worker',
  description: 'make the searches of runs on any host, until a signal; needs `fleet` in the configuration',
  examples: ['worker', 'worker --json'],
  isForEach: true,
  needs: { service: true, isLasting: true },
  prepare: ({ config }) => {
    if (config.settings.fleet) return;
    const message = 'is false: write `fleet: true` into the configuration of all processes';
    throw new ConfigError([{ where: config.originOf(['fleet']), path: 'fleet', message }]);
  },
  run: async (app, { signal }) => {
    await runWorker(app, signal);
    return { exitCode: exitCodes.complete, isWritten: true };
  },
});
