import { createTask, type Logger } from 'node-cron';
import type { PlannedJob } from './plan-jobs.js';
import { RunQueue } from './run-queue.js';

/** What a scheduler tells; an error never stops it. */
export interface SchedulerEvents {
  started(name: string): void;
  finished(name: string): void;
  failed(name: string, error: unknown): void;
  /** The job came round while its last start was still waiting for its turn. */
  skipped(name: string): void;
  /** The library of the timer complains, for instance of a start that a blocked process missed. */
  complained(message: string): void;
}

/** A scheduler that runs. */
export interface Scheduler {
  /** Starts nothing more; resolves when the job under way has ended. */
  stop(): Promise<void>;
}

function toLogger(complain: (message: string) => void): Logger {
  const tell = (message: string | Error): void => complain(message instanceof Error ? message.message : message);
  return { info: () => {}, debug: () => {}, warn: tell, error: tell };
}

/** Starts each job on its schedule, never two at once in this process: what comes round meanwhile waits for its turn. */
export function startScheduler(
  planned: readonly PlannedJob[],
  run: (planned: PlannedJob) => Promise<void>,
  events: SchedulerEvents,
): Scheduler {
  const queue = new RunQueue();
  let isStopping = false;
  const work = async (each: PlannedJob): Promise<void> => {
    if (isStopping) return;
    events.started(each.job.name);
    try {
      await run(each);
      events.finished(each.job.name);
    } catch (error) {
      events.failed(each.job.name, error);
    }
  };
  const tasks = planned.map((each) => {
    const { name } = each.job;
    const start = (): void => {
      if (!queue.add(name, () => work(each))) events.skipped(name);
    };
    const { cron, timezone } = each.schedule;
    return createTask(cron, start, { name, timezone, logger: toLogger(events.complained) });
  });
  for (const task of tasks) void task.start();
  return {
    stop: async () => {
      isStopping = true;
      for (const task of tasks) await task.destroy();
      await queue.drain();
    },
  };
}
