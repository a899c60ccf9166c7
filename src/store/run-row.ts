import { z } from 'zod';
import type { HaltCode, RunKind, RunState } from '../reports/run-facts.js';
import { type RunSums, runSumsSchema } from './run-sums.js';
import type { PlanSelection } from './screening-plan.js';

const runProgress = z.enum(['started', 'imported', 'planned', 'screened', 'finished']);
/** How far a run has come; it goes on from here when it is resumed. */
export type RunProgress = z.infer<typeof runProgress>;

/** A run as stored. */
export interface RunRow {
  runId: number;
  organisationId: number;
  rosterId: number | null;
  accountId: number | null;
  /** Mode of the key that the run works with. */
  mode: 'test' | 'live';
  kind: RunKind;
  state: RunState;
  stateReasons: readonly string[];
  /** What stopped it early; null where nothing did. */
  haltedBy: HaltCode | null;
  stage: RunProgress;
  selection: PlanSelection | null;
  /** The file that was given with the command in place of the configured source; `-` for standard input. */
  rosterFile: string | null;
  leaseKey: string;
  epoch: number;
  owner: string;
  resumed: number;
  settingsDigest: string;
  /** The settings it was begun with; null for a run older than that. */
  settings: Readonly<Record<string, unknown>> | null;
  version: string;
  comparedRunId: number | null;
  startedAt: Date;
  finishedAt: Date | null;
  sums: RunSums | null;
}

/** A run as the database gives it. */
export const runRow = z
  .object({
    run_id: z.number(),
    organisation_id: z.number(),
    roster_id: z.number().nullable(),
    account_id: z.number().nullable(),
    mode: z.enum(['test', 'live']),
    kind: z.enum(['import', 'screen', 'rescreen', 'onboard', 'sweep', 'check', 'assure', 'reconcile']),
    state: z.enum(['running', 'complete', 'incomplete', 'stopped', 'unbalanced', 'refused', 'abandoned']),
    state_reasons: z.array(z.string()),
    halted_by: z.enum(['account', 'address', 'outage', 'budget', 'max_searches', 'signal']).nullable(),
    stage: runProgress,
    selection: z.enum(['due', 'new', 'all', 'forced', 'dirty']).nullable(),
    roster_file: z.string().nullable(),
    lease_key: z.string(),
    epoch: z.number(),
    owner: z.string(),
    resumed: z.number(),
    settings_digest: z.string(),
    settings: z.record(z.string(), z.unknown()).nullable(),
    version: z.string(),
    compared_run_id: z.number().nullable(),
    started_at: z.date(),
    finished_at: z.date().nullable(),
    sums: runSumsSchema.nullable(),
  })
  .transform(
    (row): RunRow => ({
      runId: row.run_id,
      organisationId: row.organisation_id,
      rosterId: row.roster_id,
      accountId: row.account_id,
      mode: row.mode,
      kind: row.kind,
      state: row.state,
      stateReasons: row.state_reasons,
      haltedBy: row.halted_by,
      stage: row.stage,
      selection: row.selection,
      rosterFile: row.roster_file,
      leaseKey: row.lease_key,
      epoch: row.epoch,
      owner: row.owner,
      resumed: row.resumed,
      settingsDigest: row.settings_digest,
      settings: row.settings,
      version: row.version,
      comparedRunId: row.compared_run_id,
      startedAt: row.started_at,
      finishedAt: row.finished_at,
      sums: row.sums,
    }),
  );
