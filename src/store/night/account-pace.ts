import { z } from 'zod';
import type { SharedRate } from '../../client/shared-permits.js';
import { type Database, DatabaseError, findRow, type Queryable, readValue } from '../database/database.js';
import { type Sql, sql } from '../database/statement.js';

// No permit is given for a later time: a row that is lost begins anew a second later, when all permits of before are past.
const furthestMs = 900;

const pauseSql = sql`
  -- Before PostgreSQL 17 an infinite time cannot be subtracted.
  extract(epoch from greatest(paused_until, moment.now) - moment.now)::float8 * 1000 as pause_ms,
  extract(epoch from next_at - moment.now)::float8 * 1000 as ahead_ms,
  extract(epoch from moment.now)::float8 * 1000 as now_ms,
  refused_per_second, greatest(0, extract(epoch from moment.now - refused_at)::float8 * 1000) as refused_ago_ms`;
const stateRow = z
  .object({
    nowMs: z.number(),
    aheadMs: z.number(),
    pauseMs: z.number(),
    refusedPerSecond: z.number().nullable(),
    refusedAgoMs: z.number().nullable(),
  })
  .transform(({ refusedPerSecond, refusedAgoMs, ...state }) => ({
    ...state,
    refusal: refusedPerSecond === null ? null : { perSecond: refusedPerSecond, agoMs: refusedAgoMs ?? 0 },
  }));

const spanSql = (ms: number): Sql => sql`${ms}::float8 * interval '1 millisecond'`;

/** SQL: the account, and those of other organisations that are the same one for the service. */
const sameAccountsSql = (accountId: number): Sql => sql`
  select same.account_id from account own
  join account same on same.account_id = own.account_id
    or same.public_key = own.public_key and same.public_key not like '(none, %' and same.base_url = own.base_url
  where own.account_id = ${accountId}`;

/** SQL: the account under whose number all of them share one rate. */
export const paceAccountSql = (accountId: number): Sql =>
  sql`coalesce((select min(account_id) from (${sameAccountsSql(accountId)}) same), ${accountId})`;

/**
 * The rate of an account for all processes on this server: a row hands out the times of its calls, by the clock of the server. No transaction
 * holds the row for longer than its statement.
 */
export function openSharedRate(database: Database, accountId: number): SharedRate {
  let paced: number | undefined;
  // Read once: to plan it takes as long as an order.
  const findPaced = async (queryable: Queryable): Promise<number> => {
    paced ??= await readValue(queryable, z.number(), sql`select ${paceAccountSql(accountId)} as id`);
    return paced;
  };
  return {
    order: async (count, { spacingMs, aheadMs }) => {
      const order = { count, spacingMs, aheadMs };
      try {
        return await ensureOrder(database, await findPaced(database), order);
      } catch (error) {
        if (!(error instanceof DatabaseError && error.isConnectionLost)) throw error;
        // A transaction waits for the server and is repeated. A permit of an order whose answer was lost stays unused.
        return database.transaction(async (transaction) =>
          ensureOrder(transaction, await findPaced(transaction), order),
        );
      }
    },
    report: async (news) => {
      const pauseMs = 'pauseMs' in news ? news.pauseMs : 0;
      const refusedPerSecond = 'refusedPerSecond' in news ? news.refusedPerSecond : null;
      await database.execute(
        sql`update account_pace set paused_until = greatest(paused_until, clock_timestamp() + ${spanSql(pauseMs)}),
           refused_at = case when ${refusedPerSecond}::float8 is null then refused_at else clock_timestamp() end,
           refused_per_second = coalesce(${refusedPerSecond}::float8, refused_per_second)
         where account_id = ${paceAccountSql(accountId)}`,
      );
    },
  };
}

interface PermitOrder {
  count: number;
  spacingMs: number;
  aheadMs: number;
}

/** Orders permits from the row of the account, and begins the row where there is none. */
async function ensureOrder(database: Queryable, paceId: number, order: PermitOrder) {
  const lengthMs = order.count * order.spacingMs;
  for (;;) {
    const ordered = await orderPermits(database, paceId, order);
    if (ordered !== null) return { ...ordered, firstMs: ordered.nowMs + ordered.aheadMs - lengthMs, restMs: 0 };
    const state = await readPace(database, paceId, order);
    if (state !== null) {
      return { ...state, firstMs: null, restMs: Math.max(state.pauseMs, state.aheadMs - furthestMs, 1) };
    }
    await insertPace(database, paceId);
  }
}

/** Orders permits; null during a pause, when the last permits are far ahead, and without a row. */
function orderPermits(database: Queryable, paceId: number, { count, spacingMs, aheadMs }: PermitOrder) {
  return findRow(
    database,
    stateRow,
    sql`update account_pace pace
     set next_at = greatest(next_at, moment.now + ${spanSql(aheadMs)}) + ${spanSql(count * spacingMs)}
     from (select clock_timestamp() as now) moment
     where pace.account_id = ${paceId}
       and paused_until <= moment.now and next_at <= moment.now + ${spanSql(furthestMs)}
     returning ${pauseSql}`,
  );
}

/** Why there are no permits; null without a row. Where the clock was set back, a row is at most ten seconds or 200 permits ahead of it. */
function readPace(database: Queryable, paceId: number, { spacingMs }: PermitOrder) {
  return findRow(
    database,
    stateRow,
    sql`update account_pace pace
     set next_at = least(next_at, moment.now + ${spanSql(Math.max(10_000, 200 * spacingMs))})
     from (select clock_timestamp() as now) moment
     where pace.account_id = ${paceId}
     returning ${pauseSql}`,
  );
}

/**
 * SQL: when the first call of an account without a row may leave. The row of an account that is in use was lost with a crash or a failover of the
 * server: its calls of the last second are unknown.
 */
const beginningSql = (accountId: number): Sql => sql`
  clock_timestamp() + case when exists (
    select from run join run_worker using (run_id)
    where run.account_id in (${sameAccountsSql(accountId)}) and run_worker.calls > 0
      and coalesce(run.finished_at > now() - interval '1 minute', true)
  ) then interval '1 second' else interval '0' end`;

async function insertPace(database: Queryable, paceId: number): Promise<void> {
  await database.execute(
    sql`insert into account_pace (account_id, next_at)
     values (${paceId}, ${beginningSql(paceId)})
     on conflict do nothing`,
  );
}

/**
 * Takes the turn to try a service that is out of reach, for all workers that are alike; false until `everyMs` after the last one, and while there is
 * no chunk for them.
 */
export async function takeTry(
  database: Queryable,
  { version, settingsDigest, accountId }: { version: string; settingsDigest: string; accountId: number },
  everyMs: number,
): Promise<boolean> {
  const taken = await database.execute(
    sql`insert into account_pace as pace (account_id, next_at, tried_at)
     select ${accountId}, ${beginningSql(accountId)}, clock_timestamp()
     where exists (
       select from chunk join run using (run_id)
       where chunk.state = 'open' and chunk.wave <= run.wave and chunk.version = ${version} and run.state = 'running'
         and run.account_id = ${accountId} and run.settings_digest = ${settingsDigest}
     )
     on conflict (account_id) do update set tried_at = excluded.tried_at
     where coalesce(pace.tried_at <= excluded.tried_at - ${spanSql(everyMs)}, true)`,
  );
  return taken === 1;
}
