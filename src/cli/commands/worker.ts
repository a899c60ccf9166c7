import type { Logger } from 'pino';
import { systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError, type ConfigProblem } from '../../errors.js';
import { runWorker } from '../../runs/worker-run.js';
import { findFleetProblems, findMissingService } from '../app-context.js';
import { defineCommand, parsed } from '../command.js';
import { describeError, toErrorDetails } from '../describe-error.js';
import { exitCodes } from '../exit-code.js';
import type { Invocation } from '../invocation.js';
import { parseWholeNumber, shared } from '../options.js';
import type { Scheduled } from '../schedule/health.js';
import { listInvocations, loadInvocationConfig, openLogger, withAppContext } from '../session.js';

const retryMs = 60_000;

function findProblems(config: Config): ConfigProblem[] {
  if (config.settings.fleet) return [...findMissingService(config), ...findFleetProblems(config)];
  const message = 'is false: write `fleet: true` into the configuration of all processes';
  return [{ where: config.originOf(['fleet']), path: 'fleet', message }];
}

/** The organisations that have a fleet; throws ConfigError when the searches of none can be made. */
function listServed(asked: Invocation): readonly [Scheduled, ...Scheduled[]] {
  const all = listInvocations(asked).map((invocation) => ({ invocation, config: loadInvocationConfig(invocation) }));
  const problems = all.map(({ config }) => findProblems(config));
  const [first, ...others] = all.filter(({ config }) => config.settings.fleet);
  if (!first || problems.every(({ length }) => length > 0)) throw new ConfigError(problems.flat());
  return [first, ...others];
}

/** Works until the signal. What fails is tried again where other organisations depend on this process, and thrown where none do. */
async function keepWorking(invocation: Invocation, logger: Logger, concurrency: number | undefined): Promise<void> {
  const { signal, measuring, isBesideOthers = false } = invocation;
  while (!signal.aborted) {
    try {
      const config = loadInvocationConfig(invocation);
      const problems = findProblems(config);
      if (problems.length > 0) throw new ConfigError(problems);
      config.settings.service.rate.concurrency = concurrency ?? config.settings.service.rate.concurrency;
      const needs = { config, isLasting: true, needsDatabase: true };
      await withAppContext(invocation, needs, (app) => {
        if (measuring) measuring.metrics.blockedBy = null;
        return runWorker(app, signal);
      });
    } catch (error) {
      if (!isBesideOthers || signal.aborted) throw error;
      const description = describeError(error);
      const { code, message } = description;
      logger.error({ code, message, ...toErrorDetails(description), retryMs }, 'worker_failed');
      if (measuring) measuring.metrics.blockedBy = code;
      await systemClock.sleep(retryMs, signal).catch(() => undefined);
    }
  }
}

export const command = defineCommand({
  usage: 'worker',
  description: 'make the searches of runs on any host, until a signal; needs `fleet` in the configuration',
  options: {
    concurrency: parsed('<count>', 'calls in flight of this process', parseWholeNumber(1, 1_000)),
    metrics: shared.metrics,
  },
  examples: ['worker', 'worker --concurrency 32 --metrics :9464'],
  run: async ({ options: { concurrency, metrics: address }, invocation: asked }) => {
    const served = listServed(asked);
    const [{ config }] = served;
    const logger = openLogger(asked, config);
    const { monitorWorker } = await import('../schedule/health.js');
    const monitoring = address === undefined ? null : await monitorWorker(asked, served, { logger, address });
    const invocations = monitoring?.invocations ?? served.map(({ invocation }) => invocation);
    const keep = (one: Invocation) => keepWorking(one, openLogger(one, config), concurrency);
    try {
      await Promise.all(invocations.map(keep));
    } finally {
      await monitoring?.stop();
    }
    return { exitCode: exitCodes.complete, isWritten: true };
  },
});
