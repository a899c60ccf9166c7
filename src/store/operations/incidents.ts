import { z } from 'zod';
import { incidentKinds } from '../../vocabulary.js';
import { type Queryable, readRow } from '../database/database.js';
import { insertInto, type Sql, sql } from '../database/statement.js';
import type { ProjectionScope } from '../review/waiting.js';
import { screeningKindsSql } from '../row-shapes.js';
import { runIdSql } from '../runs.js';
import { takenAtSql } from './metrics.js';

const incidentRow = z.object({
  incidentId: z.number(),
  kind: z.enum(incidentKinds),
  /** A roster, or `sweep`; for a stuck run, the run; for a job, its name. A roster may have the name of a job. */
  subject: z.string(),
  /** Null when it concerns no single roster. */
  roster: z.string().nullable(),
  /** A sentence without personal data. */
  reason: z.string(),
  /** While it is unchanged, there is nothing new to report. */
  mark: z.string(),
  /** The newest run that was assessed. */
  runId: z.number().nullable(),
  openedAt: z.date(),
  reportedAt: z.date(),
  timesReported: z.number(),
  recoveredAt: z.date().nullable(),
});
export type Incident = z.infer<typeof incidentRow>;

const incidentColumns = sql`incident_id, kind, subject, roster, reason, mark, run_id, opened_at,
  told_at as "reportedAt", times_told as "timesReported", recovered_at`;

/** The incident of the same kind, subject and roster, if any. A roster may be named `sweep`, or like a job. */
export const findSame = <One extends Pick<Incident, 'kind' | 'subject' | 'roster'>>(
  incidents: readonly One[],
  { kind, subject, roster }: Pick<Incident, 'kind' | 'subject' | 'roster'>,
): One | undefined =>
  incidents.find((incident) => incident.kind === kind && incident.subject === subject && incident.roster === roster);

/** The open incidents, oldest first. `isHeld` makes watchdogs that look at the same time report one after the other, until the transaction ends. */
export async function readOpenIncidents(
  database: Queryable,
  organisationId: number,
  { isHeld = false }: { isHeld?: boolean } = {},
): Promise<readonly Incident[]> {
  if (isHeld) {
    await database.execute(sql`select from organisation where organisation_id = ${organisationId} for no key update`);
  }
  return database.query(
    incidentRow,
    sql`select ${incidentColumns} from incident where organisation_id = ${organisationId} and recovered_at is null order by incident_id`,
  );
}

/**
 * Stores the news of incidents, and gives each as stored: new ones, known ones with news, those that are over, and those without a watchdog
 * (`dropped`). Throws DatabaseError when a new one is already open.
 */
export async function saveIncidentNews(
  transaction: Queryable,
  organisationId: number,
  news: {
    begun: readonly Pick<Incident, 'kind' | 'subject' | 'roster' | 'reason' | 'mark' | 'runId'>[];
    again: readonly { incident: Incident; finding: Pick<Incident, 'reason' | 'mark' | 'runId'> }[];
    over: readonly Incident[];
    dropped: readonly Incident[];
  },
  now: Date,
) {
  const saveEach = async (statements: readonly Sql[]): Promise<readonly Incident[]> => {
    const saved: Incident[] = [];
    for (const statement of statements) {
      saved.push(await readRow(transaction, incidentRow, sql`${statement} returning ${incidentColumns}`));
    }
    return saved;
  };
  const toBegin = ({ kind, subject, roster, reason, mark, runId }: (typeof news.begun)[number]): Sql =>
    insertInto('incident', [
      { organisationId, kind, subject, roster, reason, mark, runId, openedAt: now, toldAt: now },
    ]);
  const toRepeat = ({ incident, finding }: (typeof news.again)[number]): Sql => sql`
    update incident set reason = ${finding.reason}, mark = ${finding.mark}, run_id = ${finding.runId},
      told_at = greatest(told_at, ${now}), times_told = times_told + 1
    where incident_id = ${incident.incidentId}`;
  const toClose = ({ incidentId }: Incident, isDropped: boolean): Sql => sql`
    update incident set recovered_at = greatest(told_at, ${now}), is_dropped = ${isDropped}
    where incident_id = ${incidentId}`;
  return {
    begun: await saveEach(news.begun.map(toBegin)),
    again: await saveEach(news.again.map(toRepeat)),
    over: await saveEach(news.over.map((incident) => toClose(incident, false))),
    dropped: await saveEach(news.dropped.map((incident) => toClose(incident, true))),
  };
}

/** Something that watchdogs watch; nothing is expected before `watchedSince`. */
const watchedRow = z.object({
  subject: z.string(),
  watchedSince: z.date(),
  lastWatchedAt: z.date(),
});
/** The watched subject of a roster. */
export const toRosterSubject = (roster: string): string => `roster/${roster}`;
/** The watched subject of a job. */
export const toJobSubject = (job: string): string => `job/${job}`;

/**
 * Notes that these subjects are watched at a moment, and gives all that are or were. A new subject counts from then on, a roster from its
 * creation. A subject that was not watched for a day while others were counts anew.
 */
export async function noteWatched(database: Queryable, organisationId: number, subjects: readonly string[], now: Date) {
  await database.execute(
    // In order, so that two watchdogs at the same time wait for each other. A clock that was ahead must not suppress expectations.
    sql`with latest as (
       select max(last_watched_at) as at from watched where organisation_id = ${organisationId} and last_watched_at <= ${now}
     )
     insert into watched as known (organisation_id, subject, watched_since, last_watched_at)
     select ${organisationId}, subject,
       least(${now}::timestamptz, (select created_at from roster where organisation_id = ${organisationId} and 'roster/' || name = subject)), ${now}
     from unnest(${[...new Set(subjects)]}::text[]) as given (subject)
     order by subject collate "C"
     on conflict (organisation_id, subject) do update set
       watched_since = case
         when known.last_watched_at < (select at - interval '1 day' from latest) then excluded.last_watched_at
         else least(known.watched_since, excluded.last_watched_at)
       end,
       last_watched_at = excluded.last_watched_at`,
  );
  return database.query(
    watchedRow,
    sql`select subject, watched_since, last_watched_at from watched where organisation_id = ${organisationId} and last_watched_at is not null`,
  );
}

const failingRow = z
  .object({
    customers: z.number(),
    /** Those whose searches did not fail yet at the last report. */
    newly: z.number(),
    /** Those without a valid answer for longer than tolerated, which was not so at the last report. */
    aged: z.number(),
    /** Since when the one that waits longest has had no valid answer. */
    since: z.date().nullable(),
    runId: z.number().nullable(),
    name: z.string().nullable(),
  })
  .transform(({ runId, name, ...counts }) => ({
    ...counts,
    /** The newest assessed run with failures; null without one. */
    run: runId === null || name === null ? null : { runId, name },
  }));
/** Customers of a roster whose searches fail, compared with the last report. */
export type FailingFacts = z.infer<typeof failingRow>;

/**
 * Counts the customers in scope whose last search failed and who have had no valid answer since. `reported`: newest run and moment of the last
 * report; null before the first. `agedMs`: the tolerated age.
 */
export async function readFailing(
  database: Queryable,
  { rosterId, accountId }: ProjectionScope,
  { reported, agedMs, now }: { reported: { runId: number; at: Date } | null; agedMs: number; now: Date },
): Promise<FailingFacts> {
  const rows = await database.query(
    failingRow,
    // A reported run that was resumed counts as before.
    sql`with plans as materialized (
       select run_id from run
       where roster_id = ${rosterId} and account_id = ${accountId} and in_scope is not null and state <> 'unbalanced'
         and (state <> 'running' or run_id <= ${reported?.runId ?? null}::bigint)
         and (sums #>> '{counts,failed}')::integer > 0
       order by run_id desc limit 30
     ),
     failing as (
       select party.customer_id, array_agg(screening.run_id) as failed_run_ids,
         coalesce(min(state.screened_at), min(joined.imported_at)) as since
       from plans
       join screening on screening.run_id = plans.run_id and screening.outcome = 'failed'
       join party on party.party_id = screening.party_id and party.is_current
       join customer on customer.customer_id = party.customer_id and customer.left_at is null
       join roster_import joined on joined.import_id = customer.first_import_id
       left join party_state state on state.account_id = ${accountId} and state.party_id = party.party_id
       where screening.run_id > coalesce(state.run_id, 0)
       group by party.customer_id, party.party_id
     ),
     customers as (
       select customer_id, min(since) as since,
         bool_or(not exists (select from unnest(failed_run_ids) failed where failed <= coalesce(${reported?.runId ?? null}::bigint, 0))) as is_new
       from failing group by customer_id
     )
     select count(*) as customers, count(*) filter (where is_new) as newly, min(since) as since,
       count(*) filter (
         where since <= ${now}::timestamptz - ${agedMs}::float8 * interval '1 millisecond'
           and (${reported?.at ?? null}::timestamptz is null
             or since > ${reported?.at ?? null}::timestamptz - ${agedMs}::float8 * interval '1 millisecond')
       ) as aged,
       (select max(run_id) from plans) as "runId",
       (select ${runIdSql('run')} from run where run_id = (select max(run_id) from plans)) as name
     from customers`,
  );
  return rows[0] ?? { customers: 0, newly: 0, aged: 0, since: null, run: null };
}

const aheadRow = z.object({
  roster: z.string(),
  /** Its last run, when that began in the future. */
  run: z.string().nullable(),
  startedAt: z.date().nullable(),
  /** Customers in scope whose last valid answer is from the future. */
  customers: z.number(),
  latestScreenedAt: z.date().nullable(),
});
/** Facts of a roster that are dated in the future: a clock was ahead when they were stored. */
export type AheadFacts = z.infer<typeof aheadRow>;

/** A difference beyond this is not explained by two clocks that differ a little. */
const toleratedSql = sql`interval '5 minutes'`;

/** The facts of these rosters that are dated in the future; rosters without any are missing. */
export async function readAhead(database: Queryable, organisationId: number, rosters: readonly string[], now: Date) {
  return database.query(
    aheadRow,
    sql`select roster.name as roster, newest.name as run, newest.began_at as "startedAt",
       coalesce(screened.customers, 0) as customers, screened.latest_at as "latestScreenedAt"
     from roster
     left join lateral (
       select ${runIdSql('run')} as name, ${takenAtSql} as began_at
       from run
       where run.roster_id = roster.roster_id and run.kind in (${screeningKindsSql}) and run.state <> 'abandoned'
       order by run.run_id desc limit 1
     ) newest on newest.began_at > ${now}::timestamptz + ${toleratedSql}
     left join (
       select customer.roster_id, count(distinct customer.customer_id) as customers, max(state.screened_at) as latest_at
       from party_state state
       join party on party.party_id = state.party_id and party.is_current
       join customer on customer.customer_id = party.customer_id and customer.left_at is null
       where state.screened_at > ${now}::timestamptz + ${toleratedSql}
       group by customer.roster_id
     ) screened on screened.roster_id = roster.roster_id
     where roster.organisation_id = ${organisationId} and roster.name = any (${rosters})
       and coalesce(newest.began_at, screened.latest_at) is not null
     order by roster.name`,
  );
}
