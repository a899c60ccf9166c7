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
  .transform(({ request_id: requestId, ...task }): SearchTask => ({ requestId, ...task }));

const pageRow = z
  .object({ partyIds: z.array(z.number()) })
  .transform(({ partyIds }): Page => Float64Array.from(partyIds));

/** Parties in the order of their searches, as numbers only: a million of them take 8 MB. */
type Page = Float64Array;
const pageSize = 2_000;
/** The first page is what everybody waits for. */
const firstPageSize = 256;

/**
 * The searches that remain of a run's plan, each once and in the plan's order, in chunks of `chunkSize` while others commit. Their order is
 * read once; what they are is read page by page, without any state between statements: behind a pooler each may reach another session.
 */
export async function* readSearchTasks(
  database: Database,
  runId: number,
  chunkSize: number,
): AsyncGenerator<SearchTask[], void> {
  for (const page of await readOrder(database, runId)) {
    const tasks = await readPage(database, runId, page);
    for (let start = 0; start < tasks.length; start += chunkSize) yield tasks.slice(start, start + chunkSize);
  }
}

/** The parties of one search have the same place, so that they stay together on a page. */
function readOrder(database: Queryable, runId: number): Promise<Page[]> {
  return database.query(
    pageRow,
    `select array_agg(party_id) as "partyIds"
     from (
       select party_id, rank() over (order by place, request_id) as position
       from (
         select request_id, party_id, min(search_order) over (partition by request_id) as place
         from screening where run_id = $1 and outcome = 'remaining'
       ) remaining
     ) placed
     group by case when position <= $2 then 0 else 1 + (position - $2 - 1) / $3 end
     order by min(position)`,
    [runId, firstPageSize, pageSize],
  );
}

function readPage(database: Queryable, runId: number, page: Page): Promise<SearchTask[]> {
  return database.query(
    taskRow,
    `select request.request_id, request.type, request.name, task.parties
     from (
       select request_id, min(search_order) as place,
         jsonb_agg(jsonb_build_object('partyId', party_id, 'customerVersion', customer_version) order by party_id) as parties
       from screening
       where run_id = $1 and party_id = any($2::bigint[]) and outcome = 'remaining'
       group by request_id
     ) task
     join screening_request request using (request_id)
     order by task.place, task.request_id`,
    [runId, Array.from(page)],
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
     from screening where run_id = $1 and outcome not in ('skipped', 'reused')`,
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

/** How many distinct searches of a run remain, and how many of them are of customers that were never screened. */
export async function countRemainingSearches(
  database: Queryable,
  runId: number,
): Promise<{ searches: number; ofNew: number }> {
  const rows = await database.query(
    z.object({ searches: z.number(), ofNew: z.number() }),
    `select count(distinct request_id)::integer as searches,
       count(distinct request_id) filter (where plan_reason = 'new')::integer as "ofNew"
     from screening where run_id = $1 and outcome = 'remaining'`,
    [runId],
  );
  return firstRow(rows, 'screening');
}
