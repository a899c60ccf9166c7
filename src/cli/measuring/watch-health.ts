import type { Config } from '../../config/load-config.js';
import { buildWorkplace, type OpenWorkplace } from '../workplace.js';
import type { Health, Readiness } from './health.js';
import type { Measuring } from './measuring.js';
import { nowAndThen } from './now-and-then.js';

/** Longer than this the database is not waited for when somebody asks whether it is there. */
const readinessLimitMs = 5_000;

/** The health of the scheduler's process; `close` frees its own connections. */
export interface WatchedHealth extends Health {
  close(): Promise<void>;
}

/**
 * Answers from figures that are read in the background: on Postgres by connections of its own, at most once a minute; on the embedded
 * database, which has one owner at a time, by each job before it ends.
 */
export function watchHealth(config: Config, { metrics, refresh }: Measuring, isStopping: () => boolean): WatchedHealth {
  const own = config.secret('DATABASE_URL') === undefined ? null : openOwn(config, { metrics, refresh });
  return {
    write: async () => {
      await own?.freshen();
      return { text: await metrics.write(), contentType: metrics.contentType };
    },
    readiness: async (): Promise<Readiness> => {
      const database = own === null ? 'embedded, opened by each job' : await own.describe();
      const scheduler = isStopping() ? 'stopping' : 'running';
      const isReachable = own === null || database === 'reachable, schema up to date';
      return { isReady: isReachable && !isStopping(), checks: { database, scheduler } };
    },
    close: async () => own?.close(),
  };
}

function openOwn(config: Config, { metrics, refresh }: Measuring) {
  let opened: Promise<OpenWorkplace> | null = null;
  let refreshing: Promise<void> | null = null;
  const open = (): Promise<OpenWorkplace> => {
    opened ??= buildWorkplace({ config, command: 'schedule: metrics', tell: () => {} });
    return opened;
  };
  /** What has failed is opened anew the next time. */
  const forget = async (): Promise<void> => {
    const failed = opened;
    opened = null;
    await (await failed?.catch(() => null))?.close();
  };
  const read = nowAndThen(async (): Promise<void> => {
    try {
      await refresh(await open());
    } catch {
      metrics.showUnreadable();
      await forget();
    }
  });
  let isFirst = true;
  return {
    /** Waits for the first figures only; others come in the background. */
    freshen: async (): Promise<void> => {
      refreshing ??= read().finally(() => {
        refreshing = null;
      });
      if (isFirst) await refreshing;
      isFirst = false;
    },
    describe: async (): Promise<string> => {
      const { pendingMigrations } = await import('../../store/migrate.js');
      const look = async (): Promise<string> => {
        const { database } = await open();
        const pending = await pendingMigrations(database);
        return pending.length === 0 ? 'reachable, schema up to date' : `${pending.length} migrations wait`;
      };
      let timer: NodeJS.Timeout | undefined;
      const tooLate = new Promise<string>((resolve) => {
        timer = setTimeout(() => resolve(`no answer within ${readinessLimitMs} ms`), readinessLimitMs);
      });
      try {
        return await Promise.race([look(), tooLate]);
      } catch {
        await forget();
        return 'out of reach';
      } finally {
        clearTimeout(timer);
      }
    },
    close: async (): Promise<void> => {
      await refreshing;
      const workplace = await opened?.catch(() => null);
      await workplace?.close();
    },
  };
}
