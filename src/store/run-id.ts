import type { RunKind } from '../reports/run-facts.js';

/** The name of a run as people see it, fit for a folder: UTC date, kind, number. */
export function toRunId(run: { runId: number; kind: RunKind; startedAt: Date }): string {
  return `${run.startedAt.toISOString().slice(0, 10)}-${run.kind}-${run.runId}`;
}

/** SQL that gives the same name from a row of `run`. */
export const runIdSql = (run: string): string =>
  `to_char(${run}.started_at at time zone 'UTC', 'YYYY-MM-DD') || '-' || ${run}.kind || '-' || ${run}.run_id`;
