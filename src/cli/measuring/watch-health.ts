import type { Config } from '../../config/load-config.js';
import { within } from '../within.js';
import { buildWorkplace, type OpenWorkplace } from '../workplace.js';
import type { Health, Readiness } from './health.js';
import type { Measuring } from './measuring.js';
import { nowAndThen } from './now-and-then.js';

/** Longer than this the database is not waited for when somebody asks. */
const answerLimitMs = 5_000;
/** Nor longer than this until it is open, its schema compared. */
const openLimitMs = 30_000;
/** A query that hangs for longer is given up with its connection. */
const queryTimeoutMs = 120_000;
/** Whoever ends does not wait for a database that hangs. */
const closeLimitMs = 1_000;

/** The health of the scheduler's process; `close` frees its own connections. */
export interface WatchedHealth extends Health {
  /** Reads the figures anew where that is not left to the jobs, unless they are new enough. Never throws. */
  freshen(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Answers from figures that are read in the background: on Postgres by connections of its own, at most once a minute; on the embedded
 * database, which has one owner at a time, by each job before it ends.
 */
export function watchHealth(config: Config, measuring: Measuring, isStopping: () => boolean): WatchedHealth {
  const { metrics } = measuring;
  const own = config.secret('DATABASE_URL') === undefined ? null : openOwn(config, measuring);
  let isFirst = true;
  return {
    write: async () => {
      const freshening = own?.freshen();
      // The first figures are waited for, though not for ever; others come in the background.
      if (isFirst && freshening) await within(answerLimitMs, freshening).catch(ignore);
      isFirst = false;
      return { text: await metrics.write(), contentType: metrics.contentType };
    },
    readiness: async (): Promise<Readiness> => {
      const database = own === null ? 'embedded, opened by each job' : await own.describe();
      const scheduler = isStopping() ? 'stopping' : 'running';
      const isReachable = own === null || database === 'reachable, schema up to date';
      return { isReady: isReachable && !isStopping(), checks: { database, scheduler } };
    },
    freshen: async () => own?.freshen(),
    close: async () => own?.close(),
  };
}

function openOwn(config: Config, { refresh, noteUnreadable }: Measuring) {
  let opened: Promise<OpenWorkplace> | null = null;
  let refreshing: Promise<void> | null = null;
  const open = (): Promise<OpenWorkplace> => {
    opened ??= buildWorkplace({ config, command: 'schedule: metrics', tell: () => {}, queryTimeoutMs });
    return opened;
  };
  /** What has failed is opened anew the next time; what hangs is closed when it answers at last. */
  const forget = (): void => {
    opened?.then((workplace) => workplace.close()).catch(ignore);
    opened = null;
  };
  const read = nowAndThen(async (): Promise<void> => {
    try {
      if (await refresh(await within(openLimitMs, open()))) return;
    } catch (error) {
      await noteUnreadable(error);
    }
    forget();
  }, undefined);
  const freshen = (): Promise<void> => {
    refreshing ??= read().finally(() => {
      refreshing = null;
    });
    return refreshing;
  };
  return {
    freshen,
    describe: async (): Promise<string> => {
      const { pendingMigrations } = await import('../../store/database/migrate.js');
      const look = async (): Promise<string> => {
        const { database } = await open();
        const pending = await pendingMigrations(database);
        return pending.length === 0 ? 'reachable, schema up to date' : `${pending.length} migrations wait`;
      };
      const looking = look().catch(() => {
        forget();
        return 'out of reach';
      });
      return within(answerLimitMs, looking).catch(() => `no answer within ${answerLimitMs} ms`);
    },
    close: async (): Promise<void> => {
      const closing = async (): Promise<void> => {
        await refreshing;
        await (await opened)?.close();
      };
      await within(closeLimitMs, closing()).catch(ignore);
    },
  };
}

function ignore(): void {}
