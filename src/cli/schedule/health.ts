import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { type Clock, systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError, RunLockedError, readMessage } from '../../errors.js';
import { createMetrics } from '../../metrics/metrics.js';
import type { AppContext } from '../../runs/app-context.js';
import { readMetricFacts } from '../../runs/metrics.js';
import { createBoundedServer, isExpectedHost, listenAt } from '../../serving.js';
import type { Queryable } from '../../store/database/database.js';
import { readJobRuns } from '../../store/operations/jobs.js';
import { readFleetFigures } from '../../store/operations/metrics.js';
import { findOrganisation } from '../../store/organisations.js';
import { buildAppContext } from '../app-context.js';
import type { Invocation, Measuring } from '../invocation.js';
import { locateDatabase, withDatabase } from '../open-database.js';
import type { MetricsAddress } from '../options.js';
import { version, within } from '../process.js';
import { withAppContext } from '../session.js';
import { look } from '../watchdog.js';
import { describeEnding, planSchedule } from './operate-schedule.js';

/** A check that hangs at the stop is abandoned: it loses no data, and the whole stop has 7 seconds. */
const mostAtStopMs = 5_000;

/** An organisation, or the only one, for which a process works until a signal. */
export interface Scheduled {
  invocation: Invocation;
  config: Config;
}

/**
 * Starts the checks of the watchdog, and serves metrics and health when an address is given; throws ConfigError when it cannot listen there.
 * Jobs run with the returned `invocations`, which measure them; `clock` times the checks.
 */
export async function startMonitoring(
  asked: Invocation,
  scheduled: readonly [Scheduled, ...Scheduled[]],
  { logger, address, clock = systemClock }: { logger: Logger; address: MetricsAddress | null; clock?: Clock },
) {
  const metrics = createMetrics(version, { isLasting: true });
  const isStopping = (): boolean => asked.signal.aborted;
  const complain = (message: string): void => logger.warn({ code: 'metrics_not_left', message }, 'warning');
  const measured = scheduled.map(({ invocation, config }) => {
    const own = metrics.of(invocation.options.organisation ?? null);
    return { invocation, config, measuring: measureInto(config, own, { isStopping, complain }) };
  });
  const health = watchHealth(metrics, measured, isStopping);
  // The same for all, as the database.
  const [{ config }] = scheduled;
  const { hosts } = config.settings.metrics;
  const server = address === null ? null : await startMetricsServer(address, health, hosts);
  if (server) logger.info({ port: server.port }, 'metrics_served');
  // On Postgres separate connections read the figures.
  const isEmbedded = config.secret('DATABASE_URL') === undefined;
  const invocations = measured.map(({ invocation, measuring }) => {
    const refresh = isEmbedded ? nowAndThen(measuring.refresh) : async () => {};
    return { ...invocation, measuring: { ...measuring, refresh } };
  });
  const readAll = () => Promise.all(invocations.map((each) => readFirst(each, complain)));
  const first = isEmbedded && address !== null ? readAll() : Promise.resolve();
  const looking = first.then(() => keepLooking(asked, invocations, logger, clock));
  return {
    invocations,
    stop: async (): Promise<void> => {
      await Promise.race([looking, clock.sleep(mostAtStopMs)]);
      await server?.stop();
    },
  };
}

/**
 * Serves metrics and health of a worker; throws ConfigError when it cannot listen at the address. Workers measure with the returned `invocations`.
 */
export async function monitorWorker(
  { signal }: Invocation,
  served: readonly [Scheduled, ...Scheduled[]],
  { logger, address }: { logger: Logger; address: MetricsAddress },
) {
  const metrics = createMetrics(version, { isLasting: true, isWorker: true });
  const measured = served.map(({ invocation, config }) => {
    const own = metrics.of(invocation.options.organisation ?? null);
    const { organisation } = config.settings;
    const refresh = async ({ database }: AppContext) => own.showFleet(await readFleetFigures(database, organisation));
    return { invocation, config, measuring: { metrics: own, refresh, noteUnreadable: () => own.showFleet(null) } };
  });
  const [{ config }] = served;
  const health = watchHealth(metrics, measured, () => signal.aborted, 'worker');
  const { port, stop } = await startMetricsServer(address, health, config.settings.metrics.hosts);
  logger.info({ port }, 'metrics_served');
  const invocations = measured.map(({ invocation, measuring }) => ({
    ...invocation,
    measuring: { ...measuring, refresh: async () => {} },
  }));
  return { invocations, stop };
}

/** Counting a million customers takes half a minute; a database that has not answered after this time hangs. */
const readingLimitMs = 120_000;

/** Measures into `metrics`; the database has `limitMs` to answer. */
export function measureInto(
  { settings }: Pick<Config, 'settings'>,
  metrics: Measuring['metrics'],
  {
    isStopping,
    complain,
    limitMs = readingLimitMs,
  }: { isStopping: () => boolean; complain: (message: string) => void; limitMs?: number },
): Measuring {
  const { sweep } = settings.jobs;
  const sweeps = { isPlanned: sweep !== undefined, isOff: sweep === 'off' };
  return {
    metrics,
    refresh: async (app) => {
      if (isStopping()) return;
      try {
        metrics.show(await within(limitMs, readMetricFacts(app, sweeps)));
      } catch (error) {
        complain(`the figures for metrics could not be read: ${readMessage(error)}`);
        metrics.showUnreadable();
      }
    },
    noteUnreadable: (error) => {
      const isAboutDatabase = !(error instanceof ConfigError || error instanceof RunLockedError);
      if (isAboutDatabase && !isStopping()) metrics.showUnreadable();
    },
  };
}

async function readFirst(invocation: Invocation, complain: (message: string) => void): Promise<void> {
  try {
    await withAppContext(invocation, { command: 'schedule: metrics' }, async () => {});
  } catch (error) {
    // Another process uses the embedded database, or it cannot be opened; the jobs report that too.
    complain(`there are no figures yet: ${readMessage(error)}`);
  }
}

const lookEveryMs = 15 * 60_000;

/** Checks every quarter of an hour until the signal; on the embedded database in turn with the jobs. */
async function keepLooking(
  asked: Invocation,
  invocations: readonly Invocation[],
  logger: Logger,
  clock: Clock,
): Promise<void> {
  for (;;) {
    try {
      await clock.sleep(lookEveryMs, asked.signal);
    } catch {
      return;
    }
    try {
      const { exitCode, document } = await look(asked, undefined, invocations);
      const { findings, organisations } = document;
      const facts = organisations === undefined ? { findings } : { organisations };
      logger[exitCode === 0 ? 'debug' : 'warn'](facts, exitCode === 0 ? 'watchdog' : 'watchdog_alarm');
    } catch (err) {
      if (asked.signal.aborted) return;
      // Another process uses the embedded database.
      if (err instanceof RunLockedError) logger.debug({ err }, 'watchdog_waits');
      else logger.error({ err }, 'watchdog_failed');
    }
  }
}

const answerLimitMs = 5_000;
/** How long the database may take to open, its schema check included. */
const openLimitMs = 30_000;
/** A query that hangs for longer is abandoned with its connection. */
const queryTimeoutMs = 120_000;

/**
 * Answers from figures that are read in the background: on Postgres at most once a minute, each time by a connection of its own; on the embedded
 * database, which has one owner at a time, by each job before it ends.
 */
export function watchHealth(
  metrics: ReturnType<typeof createMetrics>,
  measured: readonly { config: Config; measuring: Measuring }[],
  isStopping: () => boolean,
  work: 'scheduler' | 'worker' = 'scheduler',
) {
  const onServer = measured.filter(({ config }) => config.secret('DATABASE_URL') !== undefined);
  const [server] = onServer;
  const reads = onServer.map(({ config, measuring }) => nowAndThen(() => readFigures(config, measuring)));
  let isFirst = true;
  /** Reads the figures again, unless they are recent or the jobs read them. Never throws. */
  const freshen = async (): Promise<void> => {
    await Promise.all(reads.map((read) => read()));
  };
  return {
    freshen,
    write: async () => {
      const freshening = freshen();
      // Only the first request waits for figures; later ones are read in the background.
      if (isFirst) await within(answerLimitMs, freshening).catch(ignore);
      isFirst = false;
      return { text: await metrics.write(), contentType: metrics.contentType };
    },
    readiness: async () => {
      const configs = work === 'scheduler' ? onServer.map(({ config }) => config) : [];
      const [database, ...failed] = server
        ? await describeServer(server.config, configs)
        : (['embedded, opened by each job'] as const);
      const isReachable = !server || database === reachable;
      const blocked = measured.flatMap(({ config, measuring: { metrics } }) =>
        metrics.blockedBy === null ? [] : [[nameJobs(config), `blocked (${metrics.blockedBy})`] as const],
      );
      return {
        isReady: isReachable && !isStopping(),
        checks: {
          database,
          [work]: isStopping() ? 'stopping' : 'running',
          ...Object.fromEntries([...failed, ...blocked]),
        },
      };
    },
  };
}

const nameJobs = ({ nameInCommands }: Config): string => nameInCommands ?? 'jobs';

/** Reads the figures by a connection of its own. A hanging one is not waited for: it is closed when it answers. */
async function readFigures(config: Config, { refresh, noteUnreadable }: Measuring): Promise<void> {
  const opening = buildAppContext({ config, command: 'schedule: metrics', emit: () => {}, queryTimeoutMs });
  try {
    await refresh(await within(openLimitMs, opening));
  } catch (error) {
    noteUnreadable(error);
  }
  opening.then((app) => app.close()).catch(ignore);
}

const reachable = 'reachable, schema up to date';

type Failed = readonly [of: string, why: string];

/** The state of the database, and for each configuration with failed jobs how they ended. */
async function describeServer(
  config: Config,
  configs: readonly Config[],
): Promise<readonly [database: string, ...Failed[]]> {
  const { pendingMigrations } = await import('../../store/database/migrate.js');
  const looking = withDatabase(locateDatabase(config), 'schedule: metrics', { isBrief: true }, async (database) => {
    const pending = await pendingMigrations(database);
    if (pending.length > 0) return [`${pending.length} migrations are pending`] as const;
    const failed: Failed[] = [];
    for (const one of configs) {
      const unreadable = (): Failed[] => [[nameJobs(one), 'unreadable']];
      failed.push(...(await listFailed(database, one).catch(unreadable)));
    }
    return [reachable, ...failed] as const;
  }).catch(() => ['unreachable'] as const);
  return within(answerLimitMs, looking).catch(() => [`no answer within ${answerLimitMs} ms`] as const);
}

/** How the newest runs of planned jobs ended that are not complete. */
async function listFailed(database: Queryable, config: Config): Promise<readonly Failed[]> {
  const known = await findOrganisation(database, config.settings.organisation);
  const runs = known === null ? [] : await readJobRuns(database, known.organisationId, 1);
  const planned = new Set(planSchedule(config).planned.map(({ job }) => job.name));
  const failed = runs.flatMap(({ job, localDate, state, exitCode }) => {
    const isWell = state === 'running' || state === 'interrupted' || (state === 'finished' && exitCode === 0);
    if (!planned.has(job) || isWell) return [];
    return `${job} of ${localDate} ${state === 'missed' ? state : describeEnding(exitCode)}`;
  });
  return failed.length === 0 ? [] : [[nameJobs(config), failed.join('; ')]];
}

function ignore(): void {}

interface Health {
  write(): Promise<{ text: string; contentType: string }>;
  readiness(): Promise<{ isReady: boolean; checks: Readonly<Record<string, string>> }>;
}

const plain = (status: number, text: string) => ({ status, contentType: 'text/plain', text });

async function answer({ url, method, headers }: IncomingMessage, health: Health, hosts: readonly string[]) {
  if (!isExpectedHost(headers.host, hosts)) {
    return plain(421, 'unknown host name: use the IP address, or add the name to metrics.hosts in the configuration\n');
  }
  if (method !== 'GET' && method !== 'HEAD') return plain(405, 'only GET\n');
  const [path] = (url ?? '/').split('?');
  if (path === '/metrics') return { status: 200, ...(await health.write()) };
  // A process that answers is alive.
  if (path === '/healthz') return plain(200, 'ok\n');
  if (path !== '/readyz') return plain(404, 'there is /metrics, /healthz and /readyz\n');
  const { isReady, checks } = await health.readiness();
  const lines = Object.entries(checks).map(([name, state]) => `${name}: ${state}\n`);
  return plain(isReady ? 200 : 503, lines.join(''));
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  health: Health,
  hosts: readonly string[],
): Promise<void> {
  const { status, contentType, text } = await answer(request, health, hosts);
  response.writeHead(status, { 'content-type': contentType, 'cache-control': 'no-store' });
  response.end(request.method === 'HEAD' ? undefined : text);
}

/** Serves `/metrics`, `/healthz` and `/readyz` to IP literals, localhost, the host of the address and `names`; throws ConfigError when it cannot listen. */
export async function startMetricsServer(
  { host, port }: MetricsAddress,
  health: Health,
  names: readonly string[] = [],
): Promise<{ port: number; stop: () => Promise<void> }> {
  const hosts = host === undefined ? names : [host, ...names];
  const server = createBoundedServer((request, response) => {
    respond(request, response, health, hosts).catch(() => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'text/plain' });
      response.end('internal error\n');
    });
  });
  return {
    port: await listenAt(server, '--metrics', port, host),
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** The shortest time between two readings of the figures. */
const leastRestMs = 60_000;
/** The rest after a reading, as a multiple of its duration. */
const restShare = 20;

/** Work that is skipped until the rest after its last call is over; calls meanwhile share it. The work never throws. */
function nowAndThen<Given extends readonly unknown[]>(work: (...given: Given) => Promise<void>) {
  let restUntilMs = 0;
  let underWay: Promise<void> | null = null;
  const workOnce = async (...given: Given): Promise<void> => {
    const begunMs = performance.now();
    await work(...given);
    const endedMs = performance.now();
    restUntilMs = endedMs + Math.max(leastRestMs, (endedMs - begunMs) * restShare);
    underWay = null;
  };
  return async (...given: Given): Promise<void> => {
    if (performance.now() < restUntilMs) return;
    underWay ??= workOnce(...given);
    await underWay;
  };
}
