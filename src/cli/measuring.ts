import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import type { Config } from '../config/load-config.js';
import { ConfigError, RunLockedError } from '../errors.js';
import { findOddFile } from '../files.js';
import { createMetrics } from '../metrics/metrics.js';
import type { AppContext } from '../runs/app-context.js';
import { readMetricFacts } from '../runs/metrics.js';
import { version, within } from './process.js';

/** The metrics of a process, read anew from an open database and left where the settings say. */
export interface Measuring {
  metrics: ReturnType<typeof createMetrics>;
  /** Gives whether they could be read. Never throws: what cannot be measured or left is told, and the work itself stands. */
  refresh(app: AppContext): Promise<boolean>;
  /** Says, where figures of before lie as well, that they can no longer be read; not for `error`s that say nothing about the database. Never throws. */
  noteUnreadable(error: unknown): Promise<void>;
}

/** Counting a million customers takes half a minute; a database that has not answered by then hangs. */
const readingLimitMs = 120_000;

/** Measures a command that ends by itself. */
export const measureCommand = (config: Config, signal: AbortSignal, complain: (message: string) => void): Measuring =>
  // Whoever asks to stop waits a few seconds only.
  measureInto(config, createMetrics(version, { isLasting: false }), { isStopping: () => signal.aborted, complain });

/** Measures into `metrics`, and leaves them where the settings say; the database is waited for `limitMs`. */
export function measureInto(
  { settings }: Pick<Config, 'settings'>,
  metrics: Measuring['metrics'],
  {
    isStopping,
    complain,
    limitMs = readingLimitMs,
  }: { isStopping: () => boolean; complain: (message: string) => void; limitMs?: number },
): Measuring {
  const attempt = async (what: string, work: () => Promise<void>): Promise<boolean> => {
    try {
      await work();
      return true;
    } catch (error) {
      complain(`${what}: ${error instanceof Error ? error.message : String(error)}`);
      return false;
    }
  };
  const { textfile } = settings.metrics;
  const { cron, enabled } = settings.jobs.sweep ?? {};
  const sweeps = { isPlanned: cron !== undefined, isOff: enabled === false };

  const leave = async (writeInto: (file: string, text: string) => Promise<void>): Promise<void> => {
    if (textfile === undefined) return;
    await attempt(`metrics could not be written to ${textfile}`, async () =>
      writeInto(textfile, await metrics.write()),
    );
  };
  // What was read before stands, as old as it says it is: without it the alerts that go by it would fall silent.
  const leaveUnreadable = async (): Promise<void> => {
    metrics.showUnreadable();
    await leave(markTextfileUnreadable);
  };
  return {
    metrics,
    refresh: async (app) => {
      if (isStopping()) return true;
      const isRead = await attempt('the figures for metrics could not be read', async () =>
        metrics.show(await within(limitMs, readMetricFacts(app, sweeps))),
      );
      if (isRead) await leave(writeTextfile);
      else await leaveUnreadable();
      return isRead;
    },
    noteUnreadable: async (error) => {
      const saysNothing = error instanceof ConfigError || error instanceof RunLockedError;
      if (!saysNothing && !isStopping()) await leaveUnreadable();
    },
  };
}

/** Writes metrics where the textfile collector reads them: whole or not at all, and readable for the collector's own user. */
export async function writeTextfile(file: string, text: string): Promise<void> {
  // Not .prom: what is half written must not be collected.
  const draft = `${file}.${process.pid}.draft`;
  try {
    await writeFile(draft, text, { mode: 0o644 });
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

const readableLine = /^nightscreen_facts_readable .*$/m;

/** Has the textfile say that the facts can no longer be read, and leaves the figures in it as they are; where there are none it holds `text`. */
export async function markTextfileUnreadable(file: string, text: string): Promise<void> {
  const former = findOddFile(file) === null ? await readFile(file, 'utf8').catch(() => '') : '';
  const isOurs = readableLine.test(former);
  await writeTextfile(file, isOurs ? former.replace(readableLine, 'nightscreen_facts_readable 0') : text);
}
