import { z } from 'zod';
import * as facts from '../vocabulary/facts.js';
import { codeWords } from '../vocabulary/words.js';
import {
  type RunState,
  runKinds,
  runModes,
  runStates,
  type Severity,
  severities,
  stateOrder,
  verdictLevels,
} from '../vocabulary.js';
import type { CadenceFacts, MatchChangeFacts, SpanRunFacts } from './run-facts.js';

const { count, instant, texts } = facts;

/** What a roster did in the span: the state of its last run, or why it has none. */
const groupOutcomes = ['never_imported', 'did_not_run', 'not_begun', ...runStates, 'not_configured'] as const;

/** What of a run may wait for acceptance. */
const heldKinds = ['answers', 'webhooks', 'roster'] as const;

const bySeverity = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.array(z.object({ severity: z.enum(severities), ...shape }));

const groupRosterSchema = z.object({
  roster: z.string(),
  outcome: z.enum(groupOutcomes),
  level: z.enum(verdictLevels),
  /** In one sentence; null where nothing is wrong. */
  trouble: z.string().nullable(),
  isConfigured: z.boolean(),
  mode: z.enum(runModes).nullable(),
  /** Its last run over all due customers in the span; null without one. */
  run: z
    .object({
      id: z.string(),
      kind: z.enum(runKinds),
      exitCode: count.nullable(),
      startedAt: instant,
      finishedAt: instant.nullable(),
      reasons: texts,
      /** The page of its own report, relative to this one; null where that is not there. */
      report: z.string().nullable(),
      counts: facts.runCountsSchema.pick({ screened: true, reused: true, failed: true, remaining: true }).nullable(),
    })
    .nullable(),
  /** All its runs in the span. */
  runs: count,
  /** The customers at the end of the span; null where they are not known. */
  customers: z
    .object({
      inScope: count,
      states: z.array(z.object({ code: z.enum(stateOrder), count })),
      /** Without a valid screening now, by reason; null for a span that ended in the past. */
      uncovered: z.object({ never: count, overdue: count, others: count }).nullable(),
    })
    .nullable(),
  /** The alerts that wait at the end of the span; null where they are not known. */
  alerts: z
    .object({
      waiting: count,
      overdue: count,
      /** Opened, re-opened or made more severe by answers of the runs of the span. */
      opened: count,
      oldestAt: instant.nullable(),
      bySeverity: bySeverity({ waiting: count, overdue: count, opened: count.nullable() }),
    })
    .nullable(),
  /** Null where no run has ended whose changes count. */
  changes: z
    .object({
      /** Only severities that occur, most severe first; `baseline` counts matches of first screenings. */
      bySeverity: bySeverity({ changes: count, baseline: count }),
      /** The first critical and high changes of known customers; `unlisted` is the number of the others. */
      urgent: z.array(
        z.object({
          runId: z.string(),
          severity: z.enum(severities),
          customer: z.string(),
          riskTier: z.string().nullable(),
          change: z.string(),
          topics: texts,
          report: z.string().nullable(),
        }),
      ),
      unlisted: count,
    })
    .nullable(),
  /** What waits for acceptance, with the command that accepts it; null where none does. */
  held: z.array(
    z.object({ runId: z.string(), kind: z.enum(heldKinds), reasons: texts, command: z.string().nullable() }),
  ),
});
/** A roster in the report over all rosters. */
export type GroupRoster = facts.FactsOf<typeof groupRosterSchema>;

/** The report over all rosters of an organisation, without names of customers; those in most need of attention first. */
export const groupReportSchema = z.object({
  name: z.string(),
  organisation: z.string(),
  timezone: z.string(),
  version: z.string(),
  /** `test` where a roster was screened with a test key. */
  mode: z.enum(runModes),
  from: instant,
  until: instant,
  /** Whether the span reaches to the present: customers and alerts are then those of `until`, and otherwise those of the last runs. */
  isCurrent: z.boolean(),
  /** When the night was due by its schedule; null without a schedule, and for another span. */
  dueAt: instant.nullable(),
  verdict: z.object({
    level: z.enum(verdictLevels),
    /** For a subject: the worst first. */
    short: z.string(),
    coverage: z.string(),
    waiting: z.string(),
    news: z.string(),
    remarks: texts,
  }),
  rosters: z.array(groupRosterSchema),
  /** The sums over all rosters, in the same form. */
  total: groupRosterSchema.pick({ customers: true, alerts: true, changes: true }),
  jobs: z.array(
    z.object({
      job: z.string(),
      dueAt: instant,
      begunAt: instant.nullable(),
      endedAt: instant.nullable(),
      state: z.string(),
      exitCode: count.nullable(),
      because: z.string().nullable(),
    }),
  ),
  /** The searches that the service may have billed; `caps` are those of the account at `until`. */
  budget: z.object({
    calls: count,
    cost: z.object({ amount: z.number(), currency: z.string() }).nullable(),
    accounts: z.array(
      z.object({ account: z.string(), caps: z.array(z.object({ per: z.string(), cap: count, used: count })) }),
    ),
  }),
});
export type GroupReport = facts.FactsOf<typeof groupReportSchema>;

/** The stored facts of one roster. */
export interface GroupRosterFacts
  extends Pick<GroupRoster, 'roster' | 'isConfigured' | 'mode' | 'customers' | 'alerts' | 'held'> {
  isImported: boolean;
  /** Its runs in the span in order, with their exit codes and what they changed. */
  runs: readonly (SpanRunFacts & { exitCode: number })[];
  changed: readonly Record<'changes' | 'baseline', Readonly<Record<Severity, number>>>[];
  /** Its last run over all due customers before the span; null without one. */
  before: { runId: string; state: RunState; startedAt: Date } | null;
  cadence: CadenceFacts | null;
  /** Why customers in scope lack a valid screening now, in words; null where they do not, and for a span that ended in the past. */
  uncovered: string | null;
  urgent: readonly MatchChangeFacts[];
  /** The pages of its own reports, by run, relative to this report. */
  reports: ReadonlyMap<string, string>;
}

/** The stored facts of all rosters. */
export interface GroupFacts
  extends Pick<
    GroupReport,
    'name' | 'organisation' | 'timezone' | 'version' | 'from' | 'until' | 'isCurrent' | 'dueAt' | 'jobs' | 'budget'
  > {
  rosters: readonly GroupRosterFacts[];
  /** Whether it is about the last night: then its last runs count, and others of the same time only for a chosen span. */
  isNight: boolean;
  /** A pause of the schedule now. */
  pause: { until: Date; by: string } | null;
}

/** What waits for acceptance, in words. */
export const heldWords: Readonly<Record<(typeof heldKinds)[number], string>> = {
  answers: 'answers',
  webhooks: 'webhook messages',
  roster: 'roster',
};

/** The meaning of the exit codes of runs. */
const exitWords: Readonly<Record<number, string>> = {
  0: 'complete',
  1: 'the sums do not hold',
  2: 'refused before anything was spent',
  3: 'finished with problems',
  4: 'stopped early, can be resumed',
};

/** How the run of a roster ended, in words: `partial (exit code 3: finished with problems)`. */
export function describeOutcome({ outcome, run }: Pick<GroupRoster, 'outcome' | 'run'>): string {
  if (run === null || outcome === 'complete') return nameOutcome(outcome);
  const meaning = run.exitCode === null ? '' : ` (exit code ${run.exitCode}: ${exitWords[run.exitCode] ?? 'unknown'})`;
  return `${nameOutcome(outcome)}${meaning}`;
}

/** The same without the exit code. */
export const nameOutcome = (outcome: GroupRoster['outcome']): string => outcomeWords[outcome];

const outcomeWords: Readonly<Record<GroupRoster['outcome'], string>> = {
  ...codeWords.runState,
  running: 'still running',
  never_imported: 'never imported',
  did_not_run: 'did not run',
  not_begun: 'has not begun',
  not_configured: 'not in the configuration',
};
