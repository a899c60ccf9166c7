import { z } from 'zod';
import type { DossierLink } from '../../roster/settings.js';
import type { HeardEvent } from '../../webhooks/listener.js';
import { type Database, type Queryable, readColumn, readValue } from '../database/database.js';
import { json, recordset, type Sql, sql } from '../database/statement.js';
import { toCustomerKey, toDossierKey } from './reconciliation.js';

/** Marks the dossiers of events; gives the number of new events. */
export function markDossiers(database: Database, organisationId: number, hints: readonly HeardEvent[], now: Date) {
  return readValue(
    database,
    z.number(),
    sql`with hint as (
       select distinct on (key) decode(key, 'hex') as key, "dossierIds" as dossier_ids, "isAml" as is_aml
       from jsonb_to_recordset(${json(hints)}) as row (key text, "dossierIds" text[], "isAml" boolean)
       order by key
     ),
     fresh as (
       insert into received_event (organisation_id, key_digest, received_at)
       select ${organisationId}, key, ${now} from hint order by key
       on conflict (organisation_id, key_digest) do nothing
       returning key_digest
     ),
     marked as (
       insert into dossier_mark as known (organisation_id, dossier_id, first_at, last_at, events, is_aml)
       select ${organisationId}, dossier_id, ${now}, ${now}, count(*), bool_or(is_aml)
       from hint join fresh on fresh.key_digest = hint.key cross join unnest(dossier_ids) as named (dossier_id)
       group by dossier_id order by dossier_id
       on conflict (organisation_id, dossier_id) do update set
         last_at = greatest(known.last_at, excluded.last_at), events = known.events + excluded.events,
         is_aml = known.is_aml or excluded.is_aml, tries = 0, try_after = null
     )
     select count(*)::integer as fresh from fresh`,
  );
}

const keptDays = 2;
const keptEvents = 2_000_000;

/** Deletes the keys of an organisation's events that the service no longer repeats, and the oldest above two million. */
export async function forgetEvents(database: Queryable, organisationId: number, now: Date): Promise<void> {
  await database.execute(sql`
    delete from received_event
    where organisation_id = ${organisationId} and (
      received_at < ${now}::timestamptz - make_interval(days => ${keptDays})
      or event_number <= (
        select event_number from received_event where organisation_id = ${organisationId} order by event_number desc offset ${keptEvents} limit 1
      )
    )`);
}

const dossierMarkRow = z.object({ dossierId: z.string(), events: z.number(), isAml: z.boolean() });
/** A dossier to look up; a new mark changes `events`. */
export type DossierMark = z.infer<typeof dossierMarkRow>;

/** The marked dossiers that are due for a look-up, the longest marked first. */
export async function listMarkedDossiers(
  database: Queryable,
  organisationId: number,
  { now, limit }: { now: Date; limit: number },
) {
  return database.query(
    dossierMarkRow,
    sql`select dossier_id, events, is_aml from dossier_mark
     where organisation_id = ${organisationId} and (try_after is null or try_after <= ${now})
     order by first_at, dossier_id limit ${limit}`,
  );
}

/** The most look-ups of a dossier that is not found; the last is about ten hours after its last event. */
const mostTries = 8;

/**
 * Clears the marks of dossiers that are `done`, unless they were marked again since. Postpones the next look-up of those that were not found
 * (`missed`) by 5, 10, 20 ... minutes, and clears their marks after the last one.
 */
export async function finishDossierMarks(
  transaction: Queryable,
  organisationId: number,
  { done, missed }: { done: readonly DossierMark[]; missed: readonly DossierMark[] },
  now: Date,
): Promise<void> {
  const toSame = (marks: readonly DossierMark[]): Sql => sql`
    ${recordset(marks)} as known (dossier_id text, events bigint)
    where mark.organisation_id = ${organisationId} and mark.dossier_id = known.dossier_id and mark.events = known.events`;
  await transaction.execute(sql`delete from dossier_mark mark using ${toSame(done)}`);
  await transaction.execute(sql`
    update dossier_mark mark set tries = tries + 1, try_after = ${now}::timestamptz + interval '5 minutes' * 2 ^ tries
    from ${toSame(missed)}`);
  await transaction.execute(sql`
    delete from dossier_mark
    where organisation_id = ${organisationId} and dossier_id = any (${missed.map(({ dossierId }) => dossierId)})
      and tries >= ${mostTries}`);
}

/** Clears the marks of dossiers that were made before `before`; gives the dossiers whose events were about AML screening. */
export async function clearOldDossierMarks(transaction: Queryable, organisationId: number, before: Date) {
  const rows = await transaction.query(
    z.object({ dossierId: z.string(), isAml: z.boolean() }),
    sql`delete from dossier_mark where organisation_id = ${organisationId} and last_at < ${before} returning dossier_id, is_aml`,
  );
  return rows.flatMap(({ dossierId, isAml }) => (isAml ? [dossierId] : []));
}

/** Marks the customers of a roster that these dossiers belong to. */
export async function markCustomers(
  transaction: Queryable,
  { accountId, rosterId, link }: { accountId: number; rosterId: number; link: DossierLink },
  dossierIds: readonly string[],
  now: Date,
): Promise<void> {
  if (dossierIds.length === 0) return;
  await transaction.execute(sql`
    insert into customer_mark (account_id, customer_id, marked_at)
    select distinct ${accountId}::bigint, customer.customer_id, ${now}::timestamptz
    from dossier d, customer join customer_version version using (customer_id, version)
    where d.account_id = ${accountId} and d.dossier_id = any (${dossierIds})
      and customer.roster_id = ${rosterId} and customer.left_at is null
      and ${toCustomerKey(link)} = ${toDossierKey(link.reference)}
    order by customer.customer_id
    on conflict (account_id, customer_id) do update set marked_at = excluded.marked_at, tried_run_id = null`);
}

/**
 * The marked customers of a roster that are due for a search, the longest marked first, within the limits: the searches of one run, the daily
 * calls of all such runs of the account, and `againAfterMs` between two searches of a customer.
 */
export function listMarkedCustomers(
  database: Queryable,
  scope: {
    rosterId: number;
    accountId: number;
    now: Date;
    timezone: string;
    againAfterMs: number;
    mostPerRun: number;
    mostPerDay: number;
    controlSearches: number;
  },
): Promise<readonly number[]> {
  const { accountId, rosterId, now, againAfterMs, mostPerRun, mostPerDay, controlSearches, timezone } = scope;
  return readColumn(
    database,
    z.number(),
    sql`select customer_id
     from (
       select customer_id, marked_at, sum(searches) over (order by marked_at, customer_id) as searches
       from (
         select mark.customer_id, mark.marked_at, count(*) as searches
         from customer_mark mark
         join customer on customer.customer_id = mark.customer_id and customer.roster_id = ${rosterId} and customer.left_at is null
         join party on party.customer_id = customer.customer_id and party.is_current
         left join party_state state on state.account_id = mark.account_id and state.party_id = party.party_id
         where mark.account_id = ${accountId}
         group by mark.customer_id, mark.marked_at, mark.tried_at
         having greatest(mark.tried_at, max(state.screened_at), '-infinity') <= ${now}::timestamptz - ${againAfterMs} * interval '1 millisecond'
       ) waiting
     ) in_turn
     where searches <= least(${mostPerRun}::bigint, ${mostPerDay}::bigint - ${controlSearches}::bigint - (
       select count(*) from call attempt join run using (run_id)
       where run.account_id = ${accountId} and run.selection = 'dirty' and attempt.outcome <> 'not_sent'
         and coalesce(run.finished_at, 'infinity') >= date_trunc('day', ${now}::timestamptz, ${timezone})
         and attempt.started_at >= date_trunc('day', ${now}::timestamptz, ${timezone})
     ))
     order by marked_at, customer_id`,
  );
}

/** Forces a run to search for all parties of marked customers. */
export async function forceMarkedCustomers(
  transaction: Queryable,
  { runId, accountId }: { runId: number; accountId: number },
  customerIds: readonly number[],
  now: Date,
): Promise<void> {
  await transaction.execute(sql`
    insert into forced (run_id, party_id, because)
    select ${runId}, party_id, 'an event of the service, or a change of its dossier' from party
    where customer_id = any (${customerIds}) and is_current
    on conflict (run_id, party_id) do nothing`);
  await transaction.execute(sql`
    update customer_mark set tried_run_id = ${runId}, tried_at = ${now}
    where account_id = ${accountId} and customer_id = any (${customerIds})`);
}

/** Clears the marks of customers that another run has screened since. An answer counts if it was saved at least a minute after the mark. */
export async function clearAnsweredMarks(transaction: Queryable, accountId: number): Promise<void> {
  await transaction.execute(sql`
    delete from customer_mark mark
    where mark.account_id = ${accountId} and not exists (
      select from party
      left join party_state state on state.account_id = mark.account_id and state.party_id = party.party_id
      where party.customer_id = mark.customer_id and party.is_current
        and coalesce(state.screened_at <= mark.marked_at + interval '1 minute', true)
    )`);
}

/** Clears the marks of customers for which a run has all answers, unless they were marked again since. */
export async function clearSearchedMarks(transaction: Queryable, runId: number): Promise<void> {
  await transaction.execute(sql`
    delete from customer_mark mark
    where tried_run_id = ${runId} and not exists (
      select from forced
      join party using (party_id)
      left join screening on screening.run_id = forced.run_id and screening.party_id = forced.party_id
      where forced.run_id = ${runId} and party.customer_id = mark.customer_id and coalesce(screening.outcome <> 'screened', true)
    )`);
}
