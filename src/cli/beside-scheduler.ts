import type { Logger } from 'pino';
import { type Clock, systemClock } from '../clock.js';
import type { Config } from '../config/load-config.js';
import { RunLockedError } from '../errors.js';
import { createMetrics } from '../metrics/create-metrics.js';
import { toDurationMs } from '../roster/duration.js';
import type { Invocation } from './invocation.js';
import { type Measuring, measureInto } from './measuring/measuring.js';
import { type MetricsAddress, startMetricsServer } from './measuring/metrics-server.js';
import { nowAndThen } from './measuring/now-and-then.js';
import { type WatchedHealth, watchHealth } from './measuring/watch-health.js';
import { withWorkplace } from './session.js';
import { version } from './version.js';
import { look } from './watchdog/look.js';

/** What runs beside the jobs of a scheduler. */
export interface Beside {
  /** The invocation that jobs are to be run with, so that they are measured. */
  invocation: Invocation;
  noteJob(job: string, outcome: 'finished' | 'failed'): void;
  stop(): Promise<void>;
}

/** What goes on beside jobs is told to `logger`; `clock` says when to look. */
export interface BesideOptions {
  logger: Logger;
  address: MetricsAddress | null;
  clock?: Clock;
}

/** A look that hangs when somebody asks to stop is left behind: nothing is lost by it, and the whole has 7 seconds. */
const mostAtStopMs = 5_000;

/** Begins to look as the watchdog does, and serves metrics and health where an address is given; throws ConfigError when it cannot be taken. */
export async function startBeside(
  invocation: Invocation,
  config: Config,
  { logger, address, clock = systemClock }: BesideOptions,
): Promise<Beside> {
  const metrics = createMetrics(version, { isLasting: true });
  const isStopping = (): boolean => invocation.signal.aborted;
  const complain = (message: string): void => logger.warn({ code: 'metrics_not_left', message }, 'warning');
  const measuring = measureInto(config, metrics, { isStopping, complain });
  const health = watchHealth(config, measuring, isStopping);
  const { textfile, hosts } = config.settings.metrics;
  const server = address === null ? null : await startMetricsServer(address, health, hosts);
  if (server) logger.info({ port: server.port }, 'metrics_served');
  // On Postgres figures are read by connections of their own.
  const isEmbedded = config.secret('DATABASE_URL') === undefined;
  const measured: Measuring = isEmbedded
    ? { ...measuring, refresh: nowAndThen(measuring.refresh, true) }
    : { ...measuring, refresh: async () => true };
  const isLeft = textfile !== undefined;
  const inner = { ...invocation, measuring: measured };
  const isAsked = isLeft || address !== null;
  const first = isEmbedded && isAsked ? readFirst(inner, complain) : Promise.resolve();
  const freshening = isEmbedded || !isLeft ? null : keepFresh(health, invocation.signal);
  const looking = first.then(() => keepLooking(inner, config, logger, clock));
  return {
    invocation: inner,
    noteJob: (job, outcome) => metrics.noteJob(job, outcome),
    stop: async () => {
      await Promise.race([Promise.all([looking, freshening]), clock.sleep(mostAtStopMs)]);
      await server?.stop();
      await health.close();
    },
  };
}

const freshenEveryMs = 60_000;

/** Leaves figures where the settings say, until the signal, although nobody asks for them. */
async function keepFresh(health: WatchedHealth, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    void health.freshen();
    await systemClock.sleep(freshenEveryMs, signal).catch(() => undefined);
  }
}

/** Reads figures before the first job does: until then there would be none. */
async function readFirst(invocation: Invocation, complain: (message: string) => void): Promise<void> {
  try {
    await withWorkplace(invocation, { command: 'schedule: metrics', prepare: () => {}, work: async () => {} });
  } catch (error) {
    // Another process works in the embedded database, or it cannot be opened: the jobs say so, too.
    complain(`there are no figures yet: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Looks every so often until the signal; on the embedded database in turn with the jobs. */
async function keepLooking(invocation: Invocation, config: Config, logger: Logger, clock: Clock): Promise<void> {
  const everyMs = toDurationMs(config.settings.watchdog.every);
  for (;;) {
    try {
      await clock.sleep(everyMs, invocation.signal);
    } catch {
      return;
    }
    try {
      const { exitCode, document } = await look(invocation);
      const { findings } = document;
      logger[exitCode === 0 ? 'debug' : 'warn']({ findings }, exitCode === 0 ? 'watchdog' : 'watchdog_alarm');
    } catch (err) {
      if (invocation.signal.aborted) return;
      // Another process works in the embedded database.
      if (err instanceof RunLockedError) logger.debug({ err }, 'watchdog_waits');
      else logger.error({ err }, 'watchdog_failed');
    }
  }
}
