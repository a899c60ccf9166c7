import { z } from 'zod';
import type { DetailCounts, RunFacts, SpanRunFacts } from '../../reports/run-facts.js';
import { readRestorations } from '../backup/restoration.js';
import { type Database, findValue, type Queryable, readColumn } from '../database/database.js';
import { sql } from '../database/statement.js';
import { countMatchChanges } from '../night/changes.js';
import { readControlFacts } from '../night/controls.js';
import { readHeldFacts } from '../night/held-runs.js';
import { isOfOrganisation } from '../organisations.js';
import { readRosterAcceptances, readRosterChanges } from '../roster/imports.js';
import { screeningKindsSql } from '../row-shapes.js';
import { type RunRow, readRun, runRow, toRunId } from '../runs.js';
import { readRunFacts } from './facts.js';

/** A span of one roster: its runs in order, and the last finished screening among them. */
export interface SpanOfRuns {
  name: string;
  /** Its runs started at `from` or later, and before `until`. */
  from: Date;
  until: Date;
  runs: readonly [RunRow, ...RunRow[]];
  last: RunRow;
  /** The time of the request, where the span reaches to the present. */
  asOf: Date | null;
}

/** The stored facts of a span: states and alerts as of its last run, and the findings of all its runs. */
export async function readSpanFacts(database: Queryable, span: SpanOfRuns, lists: Pick<Database, 'cursor'>) {
  const { name, runs, last, from, until, asOf } = span;
  const [first] = runs;
  const others = runs.filter(({ runId }) => runId !== last.runId);
  const covered = {
    sweepRunIds: await readSpanSweeps(database, span),
    earlierRunIds: others.map(({ runId }) => runId),
    formerSettingsId: await readSettingsBefore(database, first),
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
    keyFingerprint: [...new Set(runs.flatMap(({ keys }) => keys))].join(', '),
    rosterChanges: await readRosterChanges(database, first.rosterId, {
      after: runs.find(({ kind }) => kind !== 'import')?.comparedRunId ?? first.runId - 1,
      until: runs.at(-1)?.runId ?? first.runId,
    }),
    rosterAcceptances: uniteEqual((await readEach(runs, (run) => readRosterAcceptances(database, run.runId))).flat()),
    details: {
      ...facts.details,
      counts: addDetailCounts(runs.map(({ details }) => details)),
    },
    possiblyBilledTwice: runs.reduce((sum, run) => sum + (run.sums?.possiblyBilledTwice ?? 0), 0),
    attemptsByOutcome: addTallies(runs.map((run) => run.sums?.attemptsByOutcome ?? {})),
    span: {
      from,
      until,
      asOf,
      runs: await readEach(runs, (run) => readSpanRun(database, run)),
      restores: (await readRestorations(database)).filter(isWithin(span)),
    },
  };
}

/** Whether something of the span is missing because of a restore. */
const isWithin =
  ({ from, until }: SpanOfRuns) =>
  ({ backupAt, restoredAt }: NonNullable<RunFacts['span']>['restores'][number]): boolean =>
    backupAt < until && restoredAt >= from;

async function readComparedWith(database: Queryable, runs: readonly RunRow[]): Promise<RunFacts['comparedWith']> {
  const first = runs.find(({ kind }) => kind !== 'import');
  if (first === undefined || first.comparedRunId === null) return null;
  const compared = await readRun(database, first.comparedRunId);
  return compared?.finishedAt ? { runId: toRunId(compared), finishedAt: compared.finishedAt } : null;
}

/** The stored facts of one run of a span. */
export async function readSpanRun(database: Queryable, run: RunRow): Promise<SpanRunFacts> {
  return {
    runId: toRunId(run),
    kind: run.kind,
    state: run.state,
    reasons: run.stateReasons,
    held: (await readHeldFacts(database, run.runId)).map(({ kind, accepted }) => ({ kind, accepted })),
    wantsAll: run.selection === 'due' || run.selection === 'all',
    startedAt: run.startedAt,
    finishedAt: run.finishedAt,
    counts: run.sums?.counts ?? null,
    states: run.kind === 'import' ? null : (run.sums?.states ?? null),
    controls: await readControlFacts(database, run.runId),
    watch: run.watch,
    ...(await countMatchChanges(database, run.runId)),
  };
}

async function readEach<Facts>(runs: readonly RunRow[], read: (run: RunRow) => Promise<Facts>): Promise<Facts[]> {
  const all: Facts[] = [];
  for (const run of runs) all.push(await read(run));
  return all;
}

/** Several runs may have used one import. */
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
      // The last value: a missing record is missing again each night.
      backlogLeft: one.backlogLeft,
      stoppedBecause: one.stoppedBecause ?? sum.stoppedBecause,
    };
  }, null);
}

/** The imports and screenings of an organisation that started in a span, in order; of one roster where it is given. */
export async function readSpanRuns(
  database: Queryable,
  organisation: string,
  { from, until, roster }: { from: Date; until: Date; roster: string | null },
) {
  return database.query(
    runRow,
    sql`select run.* from run join roster on roster.roster_id = run.roster_id
     where ${isOfOrganisation('roster', organisation)} and run.kind in ('import', ${screeningKindsSql}) and run.started_at >= ${from} and run.started_at < ${until}
       and roster.name = coalesce(${roster}, roster.name)
     order by run.run_id`,
  );
}

function readSpanSweeps(database: Queryable, { last: run, from, until }: SpanOfRuns): Promise<readonly number[]> {
  return readColumn(
    database,
    z.number(),
    sql`select run_id from run
     where organisation_id = ${run.organisationId} and account_id = ${run.accountId} and sweep is not null and finished_at >= ${from} and finished_at < ${until}
     order by run_id`,
  );
}

function readSettingsBefore(database: Queryable, run: RunRow): Promise<number | null> {
  return findValue(
    database,
    z.number().nullable(),
    sql`select settings_id as "recordId" from run where roster_id = ${run.rosterId} and run_id < ${run.runId} order by run_id desc limit 1`,
  );
}
