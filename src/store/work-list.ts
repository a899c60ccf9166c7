import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** One search that a run still has to make, and the parties it answers for. */
export interface SearchTask {
  requestId: number;
  type: 'person' | 'entity';
  name: string;
  parties: readonly { partyId: number; customerVersion: number }[];
}

interface PlacedTask extends SearchTask {
  place: number;
}

const taskRow = z
  .object({
    request_id: z.number(),
    type: z.enum(['person', 'entity']),
    name: z.string(),
    parties: z.array(z.object({ partyId: z.number(), customerVersion: z.number() })),
    place: z.number(),
  })
  .transform(({ request_id: requestId, ...task }): PlacedTask => ({ requestId, ...task }));

// Large, because finding a page means going through all that remains; small beside what a run may hold in memory.
const pageSize = 10_000;
// Places are small integers, negative ones as well.
const beforeAll = -(2 ** 15) - 1;

/**
 * The searches that remain of a run's plan, each once and in the plan's order, in chunks of `chunkSize` while others commit. Read page by
 * page and without any state between statements: behind a pooler each may reach another session.
 */
export async function* readSearchTasks(
  database: Queryable,
  runId: number,
  chunkSize: number,
): AsyncGenerator<SearchTask[], void> {
  let after: PlacedTask | undefined;
  do {
    const page: PlacedTask[] = await readPage(database, runId, after);
    for (let start = 0; start < page.length; start += chunkSize) yield page.slice(start, start + chunkSize);
    after = page.length < pageSize ? undefined : page.at(-1);
  } while (after);
}

function readPage(database: Queryable, runId: number, after: PlacedTask | undefined): Promise<PlacedTask[]> {
  return database.query(
    taskRow,
    `select request.request_id, request.type, request.name, task.parties, task.place
     from (
       select request_id, coalesce(min(search_order), 0) as place,
         jsonb_agg(jsonb_build_object('partyId', party_id, 'customerVersion', customer_version) order by party_id) as parties
       from screening
       where run_id = $1 and outcome = 'remaining'
       group by request_id
     ) task
     join screening_request request using (request_id)
     where (task.place, task.request_id) > ($2::bigint, $3::bigint)
     order by task.place, task.request_id
     limit $4::bigint`,
    [runId, after?.place ?? beforeAll, after?.requestId ?? -1, pageSize],
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
