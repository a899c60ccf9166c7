import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { AttemptObserver } from '../client/operation.js';
import type { readMetricFacts } from '../runs/metrics.js';

export type MetricFacts = Awaited<ReturnType<typeof readMetricFacts>>;

/** The figures that are read from the database: name without prefix, help, and labels; no label contains customer data. Where a process serves a named organisation, its figures have `organisation` too. */
const definitions = {
  build_info: ['The version of Nightscreen', ['version']],
  facts_timestamp_seconds: ['When the figures were last read from the database', []],
  facts_readable: ['1 when the last reading of the figures succeeded, else 0', []],
  night_success_timestamp_seconds: ['When the last complete night of a roster ended, 0 before the first', ['roster']],
  night_state: ['1 for the state in which the newest night of a roster ended', ['roster', 'state']],
  night_controls_failed: ['Failed control searches of the newest night', ['roster']],
  last_success_timestamp_seconds: ['When the last complete run of a kind ended', ['kind', 'roster']],
  last_run_timestamp_seconds: ['When the newest finished run of a kind started', ['kind', 'roster']],
  last_run_duration_seconds: ['The duration of that run', ['kind', 'roster']],
  last_run_state: ['1 for the state in which that run ended', ['kind', 'roster', 'state']],
  last_run_calls: ['The calls of that run by status or outcome', ['kind', 'roster', 'result']],
  last_run_repeats: ['The calls of that run that repeated a call without an answer', ['kind', 'roster']],
  last_run_calls_per_second: ['The calls per second of that run, without breaks', ['kind', 'roster']],
  last_run_limit_per_second: ['The limit of calls per second of that run', ['kind', 'roster']],
  last_run_cost: ['The cost of the calls of that run at the configured price', ['kind', 'roster', 'currency']],
  last_run_controls_failed: ['Failed control searches of that run', ['kind', 'roster']],
  // With a label although there is one sweep only: a figure without labels is exported as 0 before the first sweep.
  sweep_proven: ['1 when the last sweep was proven complete, else 0', ['kind']],
  sweep_success_timestamp_seconds: [
    'When the last complete sweep ended, 0 before the first where sweeps are planned',
    ['kind'],
  ],
  customers: ['Customers in scope by state', ['roster', 'state']],
  coverage_customers: ['Customers in scope by the validity of their screening', ['roster', 'tier', 'standing']],
  oldest_screening_timestamp_seconds: [
    'The oldest last screening of a customer, by whether the last searches were answered or are failing',
    ['roster', 'tier', 'searches'],
  ],
  cadence_seconds: ['The screening interval of a tier', ['tier']],
  open_alerts: ['Open alerts, by severity and age', ['roster', 'severity', 'age']],
  outbox_entries: ['Mails and messages that are not sent', ['kind', 'state']],
  outbox_oldest_timestamp_seconds: ['When the oldest of them was queued', ['kind', 'state']],
  incidents_open: ['Open incidents of the watchdog', ['kind']],
  open_chunks: ['Chunks of searches that workers have or may take', []],
  workers: ['Workers that are alive', []],
} as const satisfies Readonly<Record<string, readonly [help: string, labels: readonly string[]]>>;

type GaugeName = keyof typeof definitions;

/** Those of a worker. It leaves the others to the scheduler: alerts must see when that one has died. */
const workerGauges: readonly string[] = ['build_info', 'open_chunks', 'workers'] satisfies GaugeName[];

type Sample = readonly [name: GaugeName, labels: Readonly<Record<string, string>>, value: number];

/** Registers the figures; `show` replaces all values. */
function addGauges(registry: Registry, isWorker: boolean) {
  const gauges = new Map(
    Object.entries(definitions)
      .filter(([name]) => !isWorker || workerGauges.includes(name))
      .map(([name, [help, labelNames]]) => [
        name,
        new Gauge({
          name: `nightscreen_${name}`,
          help,
          labelNames: [...labelNames, 'organisation'],
          registers: [registry],
        }),
      ]),
  );
  return {
    show: (samples: readonly Sample[]): void => {
      for (const gauge of gauges.values()) gauge.reset();
      for (const [name, labels, value] of samples) gauges.get(name)?.set(labels, value);
    },
  };
}

/** The metrics of one organisation, which are written with those of the others. */
export type OwnMetrics = ReturnType<ReturnType<typeof createMetrics>['of']>;

/** The metrics of this process: the figures last read from the database, and its own counters; `isLasting` adds memory and event loop. */
export function createMetrics(
  version: string,
  { isLasting, isWorker = false }: { isLasting: boolean; isWorker?: boolean },
) {
  const registry = new Registry();
  if (isLasting) collectDefaultMetrics({ register: registry });
  const gauges = addGauges(registry, isWorker);
  const addCounter = <Label extends string>(name: string, help: string, labelNames: readonly Label[]) =>
    new Counter<Label | 'organisation'>({
      name: `nightscreen_${name}_total`,
      help,
      labelNames: [...labelNames, 'organisation'],
      registers: [registry],
    });
  const attempts = addCounter(
    'service_attempts',
    'Attempts of this process to call the service, by status or outcome',
    ['operation', 'result'],
  );
  const repeats = addCounter('service_repeats', 'Attempts that repeated an earlier attempt', ['operation']);
  const jobs = addCounter('jobs', 'Scheduled jobs that ended in this process', ['job', 'outcome']);
  const shown = new Map<string | null, readonly Sample[]>();
  /** `organisation` is null where it has no name of its own. */
  const of = (organisation: string | null) => {
    const own = organisation === null ? {} : { organisation };
    // Exported before the first reading, so that alerts see a process that has not read yet.
    let facts: readonly Sample[] = [['facts_timestamp_seconds', {}, 0]];
    const show = (isReadable: boolean): void => {
      const samples: readonly Sample[] = [...facts, ['facts_readable', {}, isReadable ? 1 : 0]];
      shown.set(
        organisation,
        samples.map(([name, labels, value]) => [name, { ...labels, ...own }, value]),
      );
      gauges.show([['build_info', { version }, 1], ...[...shown.values()].flat()]);
    };
    const observer: AttemptObserver = {
      ended: ({ operation, attempt }, { status, outcome, isSent }) => {
        if (!isSent) return;
        const result = outcome === 'error_status' && status !== null ? String(status) : outcome;
        attempts.inc({ operation, result, ...own });
        if (attempt > 1) repeats.inc({ operation, ...own });
      },
    };
    show(false);
    return {
      observer,
      /** The code of the error that keeps work from beginning; null while it can begin. */
      blockedBy: null as string | null,
      show: (read: MetricFacts): void => {
        facts = toSamples(read);
        show(true);
      },
      /** Shows the figures of a worker; null when they could not be read. */
      showFleet: (fleet: MetricFacts['fleet']): void => {
        facts = listFleet(fleet);
        show(true);
      },
      /** Marks the facts as unreadable; those last read stay, with the time of their reading. */
      showUnreadable: (): void => show(false),
      noteJob: (job: string, outcome: 'finished' | 'failed'): void => jobs.inc({ job, outcome, ...own }),
    };
  };
  return { of, write: () => registry.metrics(), contentType: registry.contentType };
}

const toSeconds = (date: Date): number => date.getTime() / 1_000;
const orNone = <Value>(value: Value | null, toList: (value: Value) => readonly Sample[]): readonly Sample[] =>
  value === null ? [] : toList(value);
/** Exports 0 for an event that never happened, so that an alert can see that it is missing. */
const toSecondsOrZero = (date: Date | null | undefined): number => (date ? toSeconds(date) : 0);

function toSamples(facts: MetricFacts): readonly Sample[] {
  return [
    ['facts_timestamp_seconds', {}, toSeconds(facts.at)],
    ...facts.nights.flatMap(listNight),
    ...listSweeps(facts),
    ...facts.runs.flatMap(listRun),
    ...facts.rosters.flatMap(listRoster),
    ...Object.entries(facts.cadenceSeconds).map(([tier, seconds]): Sample => ['cadence_seconds', { tier }, seconds]),
    ...facts.openAlerts.map(
      ({ roster, severity, age, alerts }): Sample => ['open_alerts', { roster, severity, age }, alerts],
    ),
    ...facts.outbox.flatMap(({ kind, state, entries, oldestAt }): readonly Sample[] => [
      ['outbox_entries', { kind, state }, entries],
      ['outbox_oldest_timestamp_seconds', { kind, state }, toSeconds(oldestAt)],
    ]),
    ...facts.incidents.map(({ kind, open }): Sample => ['incidents_open', { kind }, open]),
    ...listFleet(facts.fleet),
  ];
}

const listFleet = (fleet: MetricFacts['fleet']): readonly Sample[] =>
  orNone(fleet, ({ openChunks, workers }) => [
    ['open_chunks', {}, openChunks],
    ['workers', {}, workers],
  ]);

function listNight({ roster, state, failedControls, lastSuccessAt }: MetricFacts['nights'][number]): readonly Sample[] {
  return [
    ['night_success_timestamp_seconds', { roster }, toSecondsOrZero(lastSuccessAt)],
    ...orNone<string>(state, (ended) => [
      ['night_state', { roster, state: ended }, 1],
      ['night_controls_failed', { roster }, failedControls],
    ]),
  ];
}

function listSweeps({ isSwept, runs }: MetricFacts): readonly Sample[] {
  if (!isSwept) return [];
  const kind = 'sweep';
  const newest = runs.find((run) => run.kind === kind);
  const success: Sample = ['sweep_success_timestamp_seconds', { kind }, toSecondsOrZero(newest?.lastSuccessAt)];
  if (!newest) return [success];
  const isProven = newest.state === 'complete' && newest.isProven === true;
  return [success, ['sweep_proven', { kind }, isProven ? 1 : 0]];
}

function listRun(run: MetricFacts['runs'][number]): readonly Sample[] {
  const labels = { kind: run.kind, roster: run.roster ?? '' };
  const { startedAt } = run;
  return [
    ['last_run_timestamp_seconds', labels, toSeconds(startedAt)],
    ['last_run_state', { ...labels, state: run.state }, 1],
    ['last_run_controls_failed', labels, run.failedControls],
    ...orNone(run.lastSuccessAt, (at) => [['last_success_timestamp_seconds', labels, toSeconds(at)]]),
    ...orNone(run.finishedAt, (at) => [['last_run_duration_seconds', labels, toSeconds(at) - toSeconds(startedAt)]]),
    ...Object.entries(run.calls ?? {}).map(
      ([result, calls]): Sample => ['last_run_calls', { ...labels, result }, calls],
    ),
    ...orNone(run.repeated, (repeats) => [['last_run_repeats', labels, repeats]]),
    ...orNone(run.perSecond, (rate) => [['last_run_calls_per_second', labels, rate]]),
    ...orNone(run.limitPerSecond, (rate) => [['last_run_limit_per_second', labels, rate]]),
    ...orNone(run.cost, ({ amount, currency }) => [['last_run_cost', { ...labels, currency }, amount]]),
  ];
}

function listRoster({ roster, groups }: MetricFacts['rosters'][number]): readonly Sample[] {
  const states = new Map<string, number>();
  const statuses = new Map<string, Sample>();
  const oldest = new Map<string, Sample>();
  for (const { tier, status, state, failedBecause, customers, oldestScreenedAt } of groups) {
    states.set(state, (states.get(state) ?? 0) + customers);
    const key = `${tier} ${status}`;
    const before = statuses.get(key)?.[2] ?? 0;
    statuses.set(key, ['coverage_customers', { roster, tier, standing: status }, before + customers]);
    if (oldestScreenedAt === null) continue;
    // Failing searches of single customers do not mean that nights are missing.
    const searches = failedBecause === null ? 'answered' : 'failing';
    const age = `${tier} ${searches}`;
    const screenedAt = Math.min(oldest.get(age)?.[2] ?? Number.POSITIVE_INFINITY, toSeconds(oldestScreenedAt));
    oldest.set(age, ['oldest_screening_timestamp_seconds', { roster, tier, searches }, screenedAt]);
  }
  return [
    ...[...states].map(([state, count]): Sample => ['customers', { roster, state }, count]),
    ...statuses.values(),
    ...oldest.values(),
  ];
}
