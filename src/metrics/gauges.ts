import { Gauge, type Registry } from 'prom-client';

/** Every figure that is read from the database: its name without the prefix, what it says, and its labels, none of which holds customer data. */
const definitions = {
  build_info: ['The version that runs', ['version']],
  facts_timestamp_seconds: ['When the figures were last read from the database', []],
  facts_readable: ['1 when the figures could be read the last time it was tried, else 0', []],
  night_success_timestamp_seconds: ['When the last complete night of a roster ended, 0 when none ever was', ['roster']],
  night_state: ['1 for the state in which the newest night of a roster ended', ['roster', 'state']],
  night_canaries_failed: ['Its control searches that failed', ['roster']],
  last_success_timestamp_seconds: ['When the last complete run of a kind ended', ['kind', 'roster']],
  last_run_timestamp_seconds: ['When the newest run of a kind that has ended began', ['kind', 'roster']],
  last_run_duration_seconds: ['How long it took, from its beginning to its end', ['kind', 'roster']],
  last_run_state: ['1 for the state in which it ended', ['kind', 'roster', 'state']],
  last_run_calls: ['Its calls, by status or by what came of them', ['kind', 'roster', 'result']],
  last_run_repeats: ['Its calls that repeated one without an answer', ['kind', 'roster']],
  last_run_calls_per_second: ['Its calls per second while it made any', ['kind', 'roster']],
  last_run_limit_per_second: ['The ceiling that its settings allowed', ['kind', 'roster']],
  last_run_cost: ['What its calls cost at the configured price', ['kind', 'roster', 'currency']],
  last_run_canaries_failed: ['Its control searches that failed', ['kind', 'roster']],
  // Labelled although there is only one: a figure without labels is told as 0 before there is any.
  sweep_proven: ['1 when the last sweep was proven complete, else 0', ['kind']],
  sweep_success_timestamp_seconds: [
    'When the last complete sweep ended, 0 when none ever was though it is planned',
    ['kind'],
  ],
  customers: ['Customers in scope by state', ['roster', 'state']],
  coverage_customers: ['Customers in scope by whether their screening holds', ['roster', 'tier', 'standing']],
  oldest_screening_timestamp_seconds: [
    'When the customer screened longest ago was screened, of those whose last searches were answered, or are failing',
    ['roster', 'tier', 'searches'],
  ],
  cadence_seconds: ['Within how long a tier has to be screened', ['tier']],
  open_items: ['What waits for reviewers, by severity and by how long it has waited', ['roster', 'severity', 'age']],
  outbox_entries: ['Mail and messages that are not sent', ['kind', 'state']],
  outbox_oldest_timestamp_seconds: ['Since when the oldest of them waits', ['kind', 'state']],
  incidents_open: ['Incidents of the watchdog that are not over', ['kind']],
} as const satisfies Readonly<Record<string, readonly [help: string, labels: readonly string[]]>>;

/** The name of a figure. */
export type GaugeName = keyof typeof definitions;

/** A figure with its labels. */
export type Sample = readonly [name: GaugeName, labels: Readonly<Record<string, string>>, value: number];

/** All figures of a registry; `show` puts new ones in the place of all that were there. */
export interface Gauges {
  show(samples: readonly Sample[]): void;
  set(name: GaugeName, value: number): void;
}

/** Adds the figures to a registry. */
export function addGauges(registry: Registry): Gauges {
  const gauges = new Map(
    Object.entries(definitions).map(([name, [help, labelNames]]) => [
      name,
      new Gauge({ name: `nightscreen_${name}`, help, labelNames: [...labelNames], registers: [registry] }),
    ]),
  );
  return {
    show: (samples) => {
      for (const gauge of gauges.values()) gauge.reset();
      for (const [name, labels, value] of samples) gauges.get(name)?.set(labels, value);
    },
    set: (name, value) => gauges.get(name)?.set(value),
  };
}
