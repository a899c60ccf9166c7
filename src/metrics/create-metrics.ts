import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { AttemptObserver } from '../client/calls/attempt-observer.js';
import type { MetricFacts } from '../runs/measuring/read-metric-facts.js';
import { addGauges } from './gauges.js';
import { toSamples } from './to-samples.js';

/** The metrics of this process: figures of the database as they were last read, and counters of what the process does. */
export interface Metrics {
  /** Counts attempts at the service; to be handed to its client. */
  observer: AttemptObserver;
  /** Shows facts in the place of those before. */
  show(facts: MetricFacts): void;
  /** Says that the facts could not be read; those that are shown stay, with the moment of their reading. */
  showUnreadable(): void;
  noteJob(job: string, outcome: 'finished' | 'failed'): void;
  /** Everything in Prometheus' text format. */
  write(): Promise<string>;
  contentType: string;
}

/** Begins with no facts; `isLasting`: a process that is asked again and again also tells of its memory, event loop and so on. */
export function createMetrics(version: string, { isLasting }: { isLasting: boolean }): Metrics {
  const registry = new Registry();
  if (isLasting) collectDefaultMetrics({ register: registry });
  const gauges = addGauges(registry);
  const attempts = new Counter({
    name: 'nightscreen_service_attempts_total',
    help: 'Attempts of this process at the service, by status or by what came of them',
    labelNames: ['operation', 'result'],
    registers: [registry],
  });
  const repeats = new Counter({
    name: 'nightscreen_service_repeats_total',
    help: 'Those of them that repeated one before',
    labelNames: ['operation'],
    registers: [registry],
  });
  const jobs = new Counter({
    name: 'nightscreen_jobs_total',
    help: 'Jobs of the scheduler that ended in this process',
    labelNames: ['job', 'outcome'],
    registers: [registry],
  });
  // Known before any fact is: whoever has not read yet is there all the same.
  gauges.show([['build_info', { version }, 1]]);
  gauges.set('facts_readable', 0);
  return {
    observer: {
      ended: ({ operation, attempt }, { status, outcome, isSent }) => {
        if (!isSent) return;
        const result = outcome === 'error_status' && status !== null ? String(status) : outcome;
        attempts.inc({ operation, result });
        if (attempt > 1) repeats.inc({ operation });
      },
    },
    show: (facts) => gauges.show(toSamples(facts, version)),
    showUnreadable: () => gauges.set('facts_readable', 0),
    noteJob: (job, outcome) => jobs.inc({ job, outcome }),
    write: () => registry.metrics(),
    contentType: registry.contentType,
  };
}
