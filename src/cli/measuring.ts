import type { Config } from '../config/load-config.js';
import { ConfigError, RunLockedError } from '../errors.js';
import type { createMetrics } from '../metrics/metrics.js';
import type { AppContext } from '../runs/app-context.js';
import { readMetricFacts } from '../runs/metrics.js';
import { within } from './process.js';

/** The metrics of a scheduler, read from an open database. */
export interface Measuring {
  metrics: ReturnType<typeof createMetrics>;
  /** Reports what cannot be read, and never throws. */
  refresh(app: AppContext): Promise<void>;
  /** Marks the figures as unreadable, unless `error` has nothing to do with the database. */
  noteUnreadable(error: unknown): void;
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
        complain(
          `the figures for metrics could not be read: ${error instanceof Error ? error.message : String(error)}`,
        );
        metrics.showUnreadable();
      }
    },
    noteUnreadable: (error) => {
      const isAboutDatabase = !(error instanceof ConfigError || error instanceof RunLockedError);
      if (isAboutDatabase && !isStopping()) metrics.showUnreadable();
    },
  };
}
