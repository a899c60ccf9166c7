import { ConfigError } from '../../errors.js';
import type { Database } from '../../store/database/database.js';
import { readRosterNames } from '../../store/organisations.js';
import { type RunRow, toRunId } from '../../store/runs.js';
import { readSpanRuns, type SpanOfRuns } from '../../store/span-facts.js';
import { findRun } from '../session/list-runs.js';

/** Where a span begins or ends: at a moment, or with a run. */
export type SpanEdge = Date | string;

/** What the span of a report is made of; without `until` it reaches to the present. */
export interface SpanRequest {
  since: SpanEdge;
  until: SpanEdge | undefined;
  roster: string | undefined;
}

/**
 * The spans that are asked for: one for each roster and mode of key whose runs were begun in it. Throws ConfigError where an edge is wrong,
 * there is no run in between, or none of a roster's has ended as a screening.
 */
export async function findSpans(
  database: Database,
  { since, until, roster }: SpanRequest,
  now: Date,
): Promise<readonly SpanOfRuns[]> {
  const names = await readRosterNames(database);
  if (roster !== undefined && ![...names.values()].includes(roster)) {
    throw refuse('roster', `there is no roster ${roster}; there ${describeRosters([...names.values()])}`);
  }
  const [first, final] = [
    await findEdge(database, since),
    until === undefined ? null : await findEdge(database, until),
  ];
  const chosen = roster ?? nameRoster(first, names) ?? nameRoster(final, names) ?? null;
  for (const edge of [first, final]) {
    const name = nameRoster(edge, names);
    if (name !== null && name !== chosen)
      throw refuse('run', `${describeEdge(edge)} is of roster ${name}, not of ${chosen}`);
  }
  const from = first instanceof Date ? first : first.startedAt;
  if (from > now) throw refuse('since', 'lies in the future; a span is of runs that have been made');
  // The end of today has not come: then the span ends with its last run, so that it stays the same tomorrow unless nights are missing by then.
  const end = final instanceof Date && final <= now ? final : null;
  const asOf = end === null && (final === null || final instanceof Date) ? now : null;
  const limit = final === null || final instanceof Date ? (end ?? now) : new Date(final.startedAt.getTime() + 1);
  if (limit <= from) throw refuse('until', 'comes before --since');
  const runs = await readSpanRuns(database, { from, until: limit }, chosen);
  if (runs.length === 0)
    throw refuse(
      'since',
      `there is no run${chosen === null ? '' : ` of roster ${chosen}`} in this span; \`nightscreen runs list\` shows them`,
    );
  return groupRuns(runs).map((members) => toSpan(members, { from, end, asOf }));
}

async function findEdge(database: Database, edge: SpanEdge): Promise<Date | RunRow> {
  return edge instanceof Date ? edge : findRun(database, edge);
}

function nameRoster(edge: Date | RunRow | null, names: ReadonlyMap<number, string>): string | null {
  return edge === null || edge instanceof Date || edge.rosterId === null ? null : (names.get(edge.rosterId) ?? null);
}

const describeEdge = (edge: Date | RunRow | null): string =>
  edge === null || edge instanceof Date ? 'the span' : toRunId(edge);
const describeRosters = (names: readonly string[]): string =>
  names.length === 0 ? 'is none' : `are: ${names.join(', ')}`;
const refuse = (where: string, message: string): ConfigError => new ConfigError([{ where, path: '', message }]);

/** What a test key found says nothing about what a live one would. */
function groupRuns(runs: readonly RunRow[]): readonly [RunRow, ...RunRow[]][] {
  const groups = new Map<string, [RunRow, ...RunRow[]]>();
  for (const run of runs) {
    const key = `${run.rosterId} ${run.mode}`;
    const group = groups.get(key);
    if (group) group.push(run);
    else groups.set(key, [run]);
  }
  return [...groups.values()];
}

interface Edges {
  from: Date;
  /** Null where the span ends with its last run. */
  end: Date | null;
  asOf: Date | null;
}

function toSpan(runs: readonly [RunRow, ...RunRow[]], { from, end, asOf }: Edges): SpanOfRuns {
  const last = runs.findLast(
    ({ kind, state }) => kind !== 'import' && (state === 'complete' || state === 'incomplete' || state === 'stopped'),
  );
  if (last === undefined) {
    const listed = runs.map((run) => `${toRunId(run)} (${run.state})`).join(', ');
    throw refuse('since', `no screening in this span has come to its end, so nothing is known of anybody: ${listed}`);
  }
  const newest = runs.findLast(() => true) ?? last;
  const until =
    end ?? runs.reduce((at, run) => (run.finishedAt && run.finishedAt > at ? run.finishedAt : at), last.startedAt);
  const [fromDay, untilDay] = [from, until].map((edge) => edge.toISOString().slice(0, 10));
  return { name: `${fromDay}-to-${untilDay}-runs-${runs[0].runId}-to-${newest.runId}`, runs, last, from, until, asOf };
}
