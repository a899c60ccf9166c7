import type { DetailCounts } from '../reports/detail-facts.js';
import type { RunFacts } from '../reports/run-facts.js';
import type { SpanRunFacts } from '../reports/span-facts.js';
import { readCanaryFacts } from './canary-facts.js';
import { countMatchChanges } from './change-facts.js';
import type { Database, Queryable } from './database.js';
import { readRun } from './find-runs.js';
import { readDetailCounts } from './match-details.js';
import { readRosterAcceptances } from './roster-acceptances.js';
import { readRunFacts } from './run-facts.js';
import { toRunId } from './run-id.js';
import { readRunKeys } from './run-keys.js';
import type { RunRow } from './run-row.js';
import { readRunWatch } from './run-watch.js';
import { readSettingsBefore, readSpanSweeps, type SpanBounds } from './span-runs.js';

/** A span of one roster: its runs in order, and the last of them that screened and has ended. */
export interface SpanOfRuns extends SpanBounds {
  name: string;
  runs: readonly [RunRow, ...RunRow[]];
  last: RunRow;
  /** When it was asked for, where it reaches to the present. */
  asOf: Date | null;
}

/** Everything stored about the runs of a span: how things stand as the last one left them, and what all of them found. */
export async function readSpanFacts(
  database: Queryable,
  span: SpanOfRuns,
  lists: Pick<Database, 'cursor'>,
): Promise<RunFacts> {
  const { name, runs, last, from, until, asOf } = span;
  const [first] = runs;
  const others = runs.filter(({ runId }) => runId !== last.runId);
  const covered = {
    sweepRunIds: await readSpanSweeps(database, last, span),
    earlierRunIds: others.map(({ runId }) => runId),
    formerSettingsRecordId: await readSettingsBefore(database, first),
  };
  const facts = await readRunFacts(database, last, covered, lists);
  return {
    ...facts,
    runId: name,
    startedAt: first.startedAt,
    finishedAt: runs.reduce(
      (at, run) => (run.finishedAt && run.finishedAt > at ? run.finishedAt : at),
      facts.finishedAt,
    ),
    comparedWith: await readComparedWith(database, runs),
    keyFingerprint: [...new Set((await readEach(runs, (run) => readRunKeys(database, run.runId))).flat())].join(', '),
    rosterAcceptances: uniteEqual((await readEach(runs, (run) => readRosterAcceptances(database, run.runId))).flat()),
    details: {
      ...facts.details,
      counts: addDetailCounts(await readEach(runs, (run) => readDetailCounts(database, run.runId))),
    },
    possiblyBilledTwice: runs.reduce((sum, run) => sum + (run.sums?.possiblyBilledTwice ?? 0), 0),
    attemptsByOutcome: addTallies(runs.map((run) => run.sums?.attemptsByOutcome ?? {})),
    span: { from, until, asOf, runs: await readEach(runs, (run) => readSpanRun(database, run)) },
  };
}

/** What the first screening of the span was compared with. */
async function readComparedWith(database: Queryable, runs: readonly RunRow[]): Promise<RunFacts['comparedWith']> {
  const first = runs.find(({ kind }) => kind !== 'import');
  if (first === undefined || first.comparedRunId === null) return null;
  const compared = await readRun(database, first.comparedRunId);
  return compared?.finishedAt ? { runId: toRunId(compared), finishedAt: compared.finishedAt } : null;
}

async function readSpanRun(database: Queryable, run: RunRow): Promise<SpanRunFacts> {
  return {
    runId: toRunId(run),
    kind: run.kind,
    state: run.state,
    wantsAll: run.selection === 'due' || run.selection === 'all',
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    counts: run.sums?.counts ?? null,
    states: run.kind === 'import' ? null : (run.sums?.states ?? null),
    canaries: await readCanaryFacts(database, run.runId),
    watch: await readRunWatch(database, run.runId),
    ...(await countMatchChanges(database, run.runId)),
  };
}

async function readEach<Facts>(runs: readonly RunRow[], read: (run: RunRow) => Promise<Facts>): Promise<Facts[]> {
  const all: Facts[] = [];
  for (const run of runs) all.push(await read(run));
  return all;
}

/** Several runs may have gone by one import. */
function uniteEqual<Facts>(all: readonly Facts[]): readonly Facts[] {
  return [...new Map(all.map((facts) => [JSON.stringify(facts), facts])).values()];
}

function addTallies(tallies: readonly Readonly<Record<string, number>>[]): Readonly<Record<string, number>> {
  const sums = new Map<string, number>();
  for (const [code, count] of tallies.flatMap(Object.entries<number>)) sums.set(code, (sums.get(code) ?? 0) + count);
  return Object.fromEntries(sums);
}

function addDetailCounts(all: readonly (DetailCounts | null)[]): DetailCounts | null {
  return all.reduce((sum, one) => {
    if (sum === null || one === null) return sum ?? one;
    return {
      hits: sum.hits + one.hits,
      withoutRecord: sum.withoutRecord + one.withoutRecord,
      asked: sum.asked + one.asked,
      kept: sum.kept + one.kept,
      notAvailable: sum.notAvailable + one.notAvailable,
      leftOver: sum.leftOver + one.leftOver,
      backlogAsked: sum.backlogAsked + one.backlogAsked,
      // What is missing now, and not what was missing each night.
      backlogLeft: one.backlogLeft,
      stoppedBecause: one.stoppedBecause ?? sum.stoppedBecause,
    };
  }, null);
}
