import { type FileHandle, readFile } from 'node:fs/promises';
import type { Config } from '../config/load-config.js';
import { ConfigError, RunLockedError } from '../errors.js';
import { findOddFile, writeWhole } from '../files.js';
import type { createMetrics } from '../metrics/metrics.js';
import type { AppContext } from '../runs/app-context.js';
import { readMetricFacts } from '../runs/metrics.js';
import { within } from './process.js';

/** The metrics of a process, read from an open database and written to the configured textfile. */
export interface Measuring {
  metrics: ReturnType<typeof createMetrics>;
  /** Returns whether the figures could be read; reports what cannot be read or written, and never throws. */
  refresh(app: AppContext): Promise<boolean>;
  /** Marks the figures as unreadable, unless `error` has nothing to do with the database. Never throws. */
  noteUnreadable(error: unknown): Promise<void>;
}

/** Counting a million customers takes half a minute; a database that has not answered after this time hangs. */
const readingLimitMs = 120_000;

/** Measures into `metrics` and writes the configured textfile; the database has `limitMs` to answer. */
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
  const { sweep } = settings.jobs;
  const sweeps = { isPlanned: sweep !== undefined, isOff: sweep === 'off' };

  const leave = async (writeInto: (file: string, text: string) => Promise<void>): Promise<void> => {
    if (textfile === undefined) return;
    await attempt(`metrics could not be written to ${textfile}`, async () =>
      writeInto(textfile, await metrics.write()),
    );
  };
  // The earlier figures stay, with their age: without them their alerts would not fire.
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
      const isAboutDatabase = !(error instanceof ConfigError || error instanceof RunLockedError);
      if (isAboutDatabase && !isStopping()) await leaveUnreadable();
    },
  };
}

/** Writes metrics for the textfile collector: whole or not at all, and readable for the collector's user. */
export async function writeTextfile(file: string, text: string): Promise<void> {
  const write = async (draft: FileHandle): Promise<string> => {
    await draft.writeFile(text);
    return file;
  };
  // The collector reads names that end with .prom only.
  await writeWhole(file, write, 0o644);
}

const readableLine = /^nightscreen_facts_readable .*$/m;

/** Marks the facts in the textfile as unreadable and keeps its figures; writes `text` when it has none. */
export async function markTextfileUnreadable(file: string, text: string): Promise<void> {
  const former = findOddFile(file) === null ? await readFile(file, 'utf8').catch(() => '') : '';
  const isOurs = readableLine.test(former);
  await writeTextfile(file, isOurs ? former.replace(readableLine, 'nightscreen_facts_readable 0') : text);
}
