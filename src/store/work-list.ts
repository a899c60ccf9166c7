import { z } from 'zod';
import type { Database, Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** One search that a run still has to make, and the parties it answers for. */
export interface SearchTask {
  requestId: number;
  type: 'person' | 'entity';
  name: string;
  parties: readonly { partyId: number; customerVersion: number }[];
}

const taskRow = z
  .object({
    request_id: z.number(),
    type: z.enum(['person', 'entity']),
    name: z.string(),
    parties: z.array(z.object({ partyId: z.number(), customerVersion: z.number() })),
  })
  .transform(
    (row): SearchTask => ({ requestId: row.request_id, type: row.type, name: row.name, parties: row.parties }),
  );

/** The searches that remain of a run's plan, each once, read in chunks of `chunkSize` while others commit. */
export function readSearchTasks(database: Database, runId: number, chunkSize: number): AsyncIterable<SearchTask[]> {
  return database.cursor(
    taskRow,
    `select request.request_id, request.type, request.name,
       jsonb_agg(
         jsonb_build_object('partyId', screening.party_id, 'customerVersion', screening.customer_version)
         order by screening.party_id
       ) as parties
     from screening
     join screening_request request using (request_id)
     where screening.run_id = $1 and screening.outcome = 'remaining'
     group by request.request_id, request.type, request.name
     order by request.request_id`,
    [runId],
    chunkSize,
  );
}

/** How many distinct searches a run has planned and how many of them remain. */
export async function countSearchTasks(
  database: Queryable,
  runId: number,
): Promise<{ total: number; remaining: number }> {
  const rows = await database.query(
    z.object({ total: z.number(), remaining: z.number() }),
    `select count(distinct request_id)::integer as total,
       count(distinct request_id) filter (where outcome = 'remaining')::integer as remaining
     from screening where run_id = $1 and outcome <> 'skipped'`,
    [runId],
  );
  return firstRow(rows, 'screening');
}

/** A search that this run has had answered, to ask once more as a control; undefined when there is none yet. */
export async function findAnsweredRequest(
  database: Queryable,
  runId: number,
): Promise<{ type: 'person' | 'entity'; name: string } | undefined> {
  const [row] = await database.query(
    z.object({ type: z.enum(['person', 'entity']), name: z.string() }),
    `select request.type, request.name
     from screening join screening_request request using (request_id)
     where screening.run_id = $1 and screening.outcome = 'screened'
     limit 1`,
    [runId],
  );
  return row;
}
