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
const orderRow = z.object({ requestId: z.number(), partyId: z.number() });

/** Parties in the order of their searches, as numbers only: a million of them take 8 MB. */
type Page = Float64Array;
const pageSize = 2_000;

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

async function readOrder(database: Database, runId: number): Promise<readonly Page[]> {
  const rows = database.cursor(
    orderRow,
    `select request_id as "requestId", party_id as "partyId"
     from (
       select request_id, party_id, min(search_order) over (partition by request_id) as place
       from screening where run_id = $1 and outcome = 'remaining'
     ) remaining
     order by place, request_id`,
    [runId],
    pageSize,
  );
  const pages: Page[] = [];
  let page: number[] = [];
  let last: number | undefined;
  for await (const batch of rows) {
    for (const { requestId, partyId } of batch) {
      // The parties of one search stay together.
      if (page.length >= pageSize && requestId !== last) {
        pages.push(Float64Array.from(page));
        page = [];
      }
      page.push(partyId);
      last = requestId;
    }
  }
  return page.length > 0 ? [...pages, Float64Array.from(page)] : pages;
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
