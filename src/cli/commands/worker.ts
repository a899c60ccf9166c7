import type { Logger } from 'pino';
import { systemClock } from '../../clock.js';
import { type Config, chooseConfig } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { runWorker } from '../../runs/worker-run.js';
import { findFleetProblems, findMissingService } from '../app-context.js';
import { defineCommand, parsed } from '../command.js';
import { describeError, toErrorDetails } from '../describe-error.js';
import { exitCodes } from '../exit-code.js';
import type { Invocation } from '../invocation.js';
import { parseWholeNumber, shared } from '../options.js';
import { loadInvocationConfigs, openLogger, withAppContext } from '../session.js';

const retryMs = 60_000;

/** The configurations to work for: of the named organisation, or of all that have a fleet. */
function chooseConfigs(invocation: Invocation, concurrency: number | undefined): Config[] {
  const { organisation } = invocation.options;
  const all = loadInvocationConfigs(invocation);
  const named = organisation === undefined ? all : [chooseConfig(all, organisation)];
  const chosen = named.filter(({ settings }) => settings.fleet !== false);
  const message = 'is false: write `fleet: true` into the configuration of all processes';
  const problems = [
    ...chosen.flatMap((config) => [...findMissingService(config), ...findFleetProblems(config)]),
    ...(chosen.length > 0 ? [] : named.map(({ originOf }) => ({ where: originOf(['fleet']), path: 'fleet', message }))),
  ];
  if (problems.length > 0) throw new ConfigError(problems);
  return concurrency === undefined ? chosen : chosen.map((config) => limitCalls(config, concurrency));
}

function limitCalls(config: Config, concurrency: number): Config {
  const { settings } = config;
  const service = { ...settings.service, rate: { ...settings.service.rate, concurrency } };
  return { ...config, settings: { ...settings, service } };
}

/** Works until the signal. What fails is tried again where others depend on this process, and thrown where none do. */
async function keepWorking(
  invocation: Invocation,
  config: Config,
  { logger, isAlone }: { logger: Logger; isAlone: boolean },
): Promise<void> {
  const { signal } = invocation;
  const { organisation } = config.settings;
  while (!signal.aborted) {
    try {
      await withAppContext(invocation, { config, isLasting: true, needsDatabase: true }, (app) =>
        runWorker(app, signal),
      );
    } catch (error) {
      if (isAlone || signal.aborted) throw error;
      const description = describeError(error);
      const { code, message } = description;
      logger.error({ organisation, code, message, retryMs, ...toErrorDetails(description) }, 'worker_failed');
      await systemClock.sleep(retryMs, signal).catch(() => undefined);
    }
  }
}

export const command = defineCommand({
  usage: 'worker',
  description: 'make the searches of runs on any host, until a signal; needs `fleet` in the configuration',
  options: {
    concurrency: parsed(
      '<count>',
      'calls in flight of this process, in place of service.rate.concurrency',
      parseWholeNumber(1, 1_000),
    ),
    metrics: shared.metrics,
  },
  examples: ['worker', 'worker --concurrency 32 --metrics :9464'],
  run: async ({ options: { concurrency, metrics: address }, invocation, signal }) => {
    const configs = chooseConfigs(invocation, concurrency);
    const [first] = configs;
    if (!first) return null;
    const logger = openLogger(invocation, first);
    const names = configs.map(({ settings }) => settings.organisation);
    const monitoring =
      address === undefined
        ? null
        : await (await import('../schedule/health.js')).monitorWorker(first, names, {
            logger,
            address,
            isStopping: () => signal.aborted,
          });
    const measured = monitoring === null ? invocation : { ...invocation, measuring: monitoring.measuring };
    try {
      const isAlone = configs.length === 1;
      await Promise.all(configs.map((config) => keepWorking(measured, config, { logger, isAlone })));
    } finally {
      await monitoring?.stop();
    }
    return { exitCode: exitCodes.complete, isWritten: true };
  },
});
