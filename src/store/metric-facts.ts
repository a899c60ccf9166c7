import { z } from 'zod';
import type { Queryable } from './database.js';
import { type NightFigures, readNightFigures } from './night-figures.js';
import { isWholeSql } from './night-sql.js';

const runFigure = z.object({
  kind: z.string(),
  roster: z.string().nullable(),
  state: z.string(),
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  lastSuccessAt: z.date().nullable(),
  failedCanaries: z.number(),
  isProven: z.boolean().nullable(),
  calls: z.record(z.string(), z.number()).nullable(),
  perSecond: z.number().nullable(),
  limitPerSecond: z.number().nullable(),
  repeated: z.number().nullable(),
  cost: z.object({ amount: z.number(), currency: z.string() }).nullable(),
});
/** The newest run of a kind and roster that has ended, and when one of them last was complete. */
export type RunFigures = z.infer<typeof runFigure>;

const openItems = z.object({ roster: z.string(), severity: z.string(), age: z.string(), items: z.number() });
/** What waits for reviewers of a roster's customers: by severity, and by age (`day`, `week`, `month`, `older`). */
export type OpenItemFigures = z.infer<typeof openItems>;

const outbox = z.object({ kind: z.string(), state: z.string(), entries: z.number(), oldestAt: z.date() });
/** What has not been sent: how much of it waits (`queued`), was refused or given up, and since when; not what was put aside. */
export type OutboxFigures = z.infer<typeof outbox>;

const incidents = z.object({ kind: z.string(), open: z.number() });

/** Figures about runs, items, the outbox and incidents of an organisation; no customer's data is among them. */
export interface StoredFigures {
  nights: readonly NightFigures[];
  runs: readonly RunFigures[];
  openItems: readonly OpenItemFigures[];
  outbox: readonly OutboxFigures[];
  incidents: readonly { kind: string; open: number }[];
}

/** Reads them as of a moment: nights, and runs of one roster, of the rosters named; items and what is not sent of all. */
export async function readStoredFigures(
  database: Queryable,
  organisationId: number,
  rosters: readonly string[],
  now: Date,
): Promise<StoredFigures> {
  return {
    nights: await readNightFigures(database, organisationId, rosters),
    runs: await database.query(
      runFigure,
      // By index from the newest; single checks and imports are no nightly work.
      `select run.kind, roster.name as roster, run.state, run.started_at as "startedAt", run.finished_at as "finishedAt",
         newest.last_success as "lastSuccessAt",
         (select count(*) from canary_outcome where canary_outcome.run_id = run.run_id and verdict = 'failed') as "failedCanaries",
         (select proven from sweep where sweep.run_id = run.run_id) as "isProven",
         run.sums -> 'attemptsByOutcome' as calls,
         (run.health ->> 'perSecond')::float8 as "perSecond", (run.health ->> 'limitPerSecond')::float8 as "limitPerSecond",
         (run.health ->> 'repeated')::integer as repeated, nullif(run.health -> 'cost', 'null'::jsonb) as cost
       from (
         select max(run_id) filter (where state <> 'running') as run_id, max(finished_at) filter (where state = 'complete') as last_success
         from run
         where organisation_id = $1 and kind in ('screen', 'rescreen', 'onboard', 'sweep') and state <> 'abandoned' and ${isWholeSql('run')}
         group by kind, roster_id
       ) newest
       join run on run.run_id = newest.run_id
       left join roster on roster.roster_id = run.roster_id
       where run.roster_id is null or roster.name = any ($2::text[])
       order by run.kind, roster.name`,
      [organisationId, [...rosters]],
    ),
    openItems: await database.query(
      openItems,
      `select roster, severity, age, count(*) as items
       from (
         select roster.name as roster, item.severity,
           case
             when $2::timestamptz - item.opened_at <= interval '1 day' then 'day'
             when $2::timestamptz - item.opened_at <= interval '7 days' then 'week'
             when $2::timestamptz - item.opened_at <= interval '30 days' then 'month'
             else 'older'
           end as age
         from review_item item
         join party on party.party_id = item.party_id
         join customer on customer.customer_id = party.customer_id
         join roster on roster.roster_id = customer.roster_id
         where roster.organisation_id = $1 and item.state in ('open', 'proposed')
       ) waiting
       group by roster, severity, age`,
      [organisationId, now],
    ),
    outbox: await database.query(
      outbox,
      `select kind, state, count(*) as entries, min(queued_at) as "oldestAt"
       from outbox where organisation_id = $1 and state not in ('sent', 'dropped') group by kind, state`,
      [organisationId],
    ),
    incidents: await database.query(
      incidents,
      'select kind, count(*) as open from incident where organisation_id = $1 and recovered_at is null group by kind',
      [organisationId],
    ),
  };
}
