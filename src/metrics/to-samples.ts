import type { MetricFacts } from '../runs/measuring/read-metric-facts.js';
import type { RunFigures } from '../store/metric-facts.js';
import type { NightFigures } from '../store/night-figures.js';
import type { Sample } from './gauges.js';

const toSeconds = (date: Date): number => date.getTime() / 1_000;
const orNone = <Value>(value: Value | null, toList: (value: Value) => readonly Sample[]): readonly Sample[] =>
  value === null ? [] : toList(value);
/** What never was is told as 0: where nothing is told, no alert can see that it is missing. */
const toSecondsOrZero = (date: Date | null | undefined): number => (date ? toSeconds(date) : 0);

/** The facts of the database as figures with labels. */
export function toSamples(facts: MetricFacts, version: string): readonly Sample[] {
  return [
    ['build_info', { version }, 1],
    ['facts_timestamp_seconds', {}, toSeconds(facts.at)],
    ['facts_readable', {}, 1],
    ...facts.nights.flatMap(listNight),
    ...listSweeps(facts),
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

function listNight({ roster, state, failedCanaries, lastSuccessAt }: NightFigures): readonly Sample[] {
  return [
    ['night_success_timestamp_seconds', { roster }, toSecondsOrZero(lastSuccessAt)],
    ...orNone<string>(state, (ended) => [
      ['night_state', { roster, state: ended }, 1],
      ['night_canaries_failed', { roster }, failedCanaries],
    ]),
  ];
}

/** Nothing where no sweeps are to be made. */
function listSweeps({ isSwept, runs }: MetricFacts): readonly Sample[] {
  if (!isSwept) return [];
  const kind = 'sweep';
  const newest = runs.find((run) => run.kind === kind);
  const success: Sample = ['sweep_success_timestamp_seconds', { kind }, toSecondsOrZero(newest?.lastSuccessAt)];
  if (!newest) return [success];
  const isProven = newest.state === 'complete' && newest.isProven === true;
  return [success, ['sweep_proven', { kind }, isProven ? 1 : 0]];
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
  ];
}

function listRoster({ roster, groups }: MetricFacts['rosters'][number]): readonly Sample[] {
  const states = new Map<string, number>();
  const standings = new Map<string, Sample>();
  const oldest = new Map<string, Sample>();
  for (const { tier, standing, state, failedBecause, customers, oldestScreenedAt } of groups) {
    states.set(state, (states.get(state) ?? 0) + customers);
    const key = `${tier} ${standing}`;
    const before = standings.get(key)?.[2] ?? 0;
    standings.set(key, ['coverage_customers', { roster, tier, standing }, before + customers]);
    if (oldestScreenedAt === null) continue;
    // Whose searches fail though others are answered are no sign that nights are missing.
    const searches = failedBecause === null ? 'answered' : 'failing';
    const age = `${tier} ${searches}`;
    const screenedAt = Math.min(oldest.get(age)?.[2] ?? Number.POSITIVE_INFINITY, toSeconds(oldestScreenedAt));
    oldest.set(age, ['oldest_screening_timestamp_seconds', { roster, tier, searches }, screenedAt]);
  }
  return [
    ...[...states].map(([state, count]): Sample => ['customers', { roster, state }, count]),
    ...standings.values(),
    ...oldest.values(),
  ];
}
