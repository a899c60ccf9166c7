import { z } from 'zod';
import type { Queryable } from './database.js';

/** What a control search of a run gave; `found` says what came instead of the expected. */
export interface CanaryOutcome {
  ordinal: number;
  type: 'person' | 'entity';
  name: string;
  expect: 'match' | 'none';
  verdict: 'passed' | 'failed';
  found: string | null;
  responseId: number | null;
}

/** Saves control searches; a resumed run's later outcome replaces the earlier one. */
export async function saveCanaryOutcomes(
  transaction: Queryable,
  runId: number,
  outcomes: readonly CanaryOutcome[],
): Promise<void> {
  await transaction.execute(
    `insert into canary_outcome (run_id, ordinal, type, name, expect, verdict, found, response_id)
     select $1, ordinal, type, name, expect, verdict, found, "responseId"
     from jsonb_to_recordset($2::text::jsonb) as row (
       ordinal smallint, type text, name text, expect text, verdict text, found text, "responseId" bigint
     )
     on conflict (run_id, ordinal) do update set
       type = excluded.type, name = excluded.name, expect = excluded.expect,
       verdict = excluded.verdict, found = excluded.found, response_id = excluded.response_id`,
    [runId, JSON.stringify(outcomes)],
  );
}

const outcomeRow = z.object({
  ordinal: z.number(),
  type: z.enum(['person', 'entity']),
  name: z.string(),
  expect: z.enum(['match', 'none']),
  verdict: z.enum(['passed', 'failed']),
  found: z.string().nullable(),
  responseId: z.number().nullable(),
});

/** The control searches of a run in their order. */
export async function readCanaryOutcomes(database: Queryable, runId: number): Promise<readonly CanaryOutcome[]> {
  return database.query(
    outcomeRow,
    `select ordinal, type, name, expect, verdict, found, response_id as "responseId"
     from canary_outcome where run_id = $1 order by ordinal`,
    [runId],
  );
}

/** Finds or creates the request rows of control searches; gives each one's id by its place. */
export async function ensureRequests(
  transaction: Queryable,
  organisationId: number,
  requests: readonly { type: string; name: string }[],
): Promise<readonly number[]> {
  const list = JSON.stringify(requests.map((request, index) => ({ ...request, place: index })));
  await transaction.execute(
    `insert into screening_request (organisation_id, type, name)
     select distinct $1::bigint, type, name from jsonb_to_recordset($2::text::jsonb) as row (type text, name text)
     on conflict (organisation_id, type, name) do nothing`,
    [organisationId, list],
  );
  const rows = await transaction.query(
    z.object({ request_id: z.number() }),
    `select request.request_id
     from jsonb_to_recordset($2::text::jsonb) as row (type text, name text, place integer)
     join screening_request request on request.organisation_id = $1 and request.type = row.type and request.name = row.name
     order by row.place`,
    [organisationId, list],
  );
  return rows.map((row) => row.request_id);
}
