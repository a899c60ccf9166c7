import type { MetricFacts } from '../runs/measuring/read-metric-facts.js';
import type { RunFigures } from '../store/metric-facts.js';
import type { Sample } from './gauges.js';

const toSeconds = (date: Date): number => date.getTime() / 1_000;
const orNone = <Value>(value: Value | null, toList: (value: Value) => readonly Sample[]): readonly Sample[] =>
  value === null ? [] : toList(value);

/** The facts of the database as figures with labels. */
export function toSamples(facts: MetricFacts, version: string): readonly Sample[] {
  return [
    ['build_info', { version }, 1],
    ['facts_timestamp_seconds', {}, toSeconds(facts.at)],
    ['facts_readable', {}, 1],
    ...facts.runs.flatMap(listRun),
    ...facts.rosters.flatMap(listRoster),
    ...Object.entries(facts.cadenceSeconds).map(([tier, seconds]): Sample => ['cadence_seconds', { tier }, seconds]),
    ...facts.openItems.map(
      ({ roster, severity, age, items }): Sample => ['open_items', { roster, severity, age }, items],
    ),
    ...facts.outbox.flatMap(({ kind, state, entries, oldestAt }): readonly Sample[] => [
      ['outbox_entries', { kind, state }, entries],
      ['outbox_oldest_timestamp_seconds', { kind, state }, toSeconds(oldestAt)],
    ]),
    ...facts.incidents.map(({ kind, open }): Sample => ['incidents_open', { kind }, open]),
  ];
}

function listRun(run: RunFigures): readonly Sample[] {
  const labels = { kind: run.kind, roster: run.roster ?? '' };
  const { startedAt } = run;
  return [
    ['last_run_timestamp_seconds', labels, toSeconds(startedAt)],
    ['last_run_state', { ...labels, state: run.state }, 1],
    ['last_run_canaries_failed', labels, run.failedCanaries],
    ...orNone(run.lastSuccessAt, (at) => [['last_success_timestamp_seconds', labels, toSeconds(at)]]),
    ...orNone(run.finishedAt, (at) => [['last_run_duration_seconds', labels, toSeconds(at) - toSeconds(startedAt)]]),
    ...Object.entries(run.calls ?? {}).map(
      ([result, calls]): Sample => ['last_run_calls', { ...labels, result }, calls],
    ),
    ...orNone(run.repeated, (repeats) => [['last_run_repeats', labels, repeats]]),
    ...orNone(run.perSecond, (rate) => [['last_run_calls_per_second', labels, rate]]),
    ...orNone(run.limitPerSecond, (rate) => [['last_run_limit_per_second', labels, rate]]),
    ...orNone(run.cost, ({ amount, currency }) => [['last_run_cost', { ...labels, currency }, amount]]),
    ...orNone(run.isProven, (isProven) => [['sweep_proven', { kind: run.kind }, isProven ? 1 : 0]]),
  ];
}

function listRoster({ roster, groups }: MetricFacts['rosters'][number]): readonly Sample[] {
  const states = new Map<string, number>();
  const standings = new Map<string, Sample>();
  const oldest = new Map<string, number>();
  for (const { tier, standing, state, customers, oldestScreenedAt } of groups) {
    states.set(state, (states.get(state) ?? 0) + customers);
    const key = `${tier} ${standing}`;
    const before = standings.get(key)?.[2] ?? 0;
    standings.set(key, ['coverage_customers', { roster, tier, standing }, before + customers]);
    if (oldestScreenedAt === null) continue;
    oldest.set(tier, Math.min(oldest.get(tier) ?? Number.POSITIVE_INFINITY, toSeconds(oldestScreenedAt)));
  }
  return [
    ...[...states].map(([state, count]): Sample => ['customers', { roster, state }, count]),
    ...standings.values(),
    ...[...oldest].map(([tier, at]): Sample => ['oldest_screening_timestamp_seconds', { roster, tier }, at]),
  ];
}
