import { z } from 'zod';
import type { ReconciliationFacts, ReconciliationSums } from '../../reconciliation/discrepancy.js';
import { discrepancySchema, listedDiscrepancySchema, reconciliationSchema } from '../../vocabulary/source-facts.js';
import { discrepancySeverities } from '../../vocabulary.js';
import { findValue, type Queryable, readRow, readValue } from '../database/database.js';
import { json, rawSql, replaceInto, type Sql, sql } from '../database/statement.js';
import type { ReconciliationInput } from './reconciliation.js';

/**
 * Updates the stored discrepancies from the collected findings: they open, change, return and, if the sweep is proven, are resolved. An
 * acceptance ends after its last day or when the facts change. Stores the comparison with its sums, in place of the run's former one: a held
 * run that is accepted ends twice. Gives the number of discrepancies that the run has opened (returned ones included) and resolved.
 */
export async function saveDiscrepancies(transaction: Queryable, input: ReconciliationInput, sums: ReconciliationSums) {
  const { runId, rosterId, accountId, sweepRunId, unprovenBecause, severities, now } = input;
  const assessedSql = sql`(select finding.*, coalesce(${json(severities)} ->> finding.kind, 'medium') as severity from finding)`;
  const logSql = (rows: Sql): Sql => sql`
    insert into discrepancy_event (discrepancy_id, run_id, kind, severity, facts, happened_at)
    select discrepancy_id, ${runId}, event_kind, severity, facts, ${now} from ${rows}`;
  await transaction.execute(sql`
    with opened as (
      insert into discrepancy (account_id, roster_id, kind, subject, customer_id, dossier_id, severity, facts, state, opened_at)
      select ${accountId}, ${rosterId}, kind, subject, customer_id, dossier_id, severity, facts, 'open', ${now} from ${assessedSql} found
      where not exists (
        select from discrepancy known
        where known.account_id = ${accountId} and known.kind = found.kind and known.subject = found.subject
      )
      returning discrepancy_id, severity, facts, 'opened' as event_kind
    ) ${logSql(sql`opened`)}`);
  await transaction.execute(sql`
    with former as (
      select known.discrepancy_id, known.state, known.accepted_until, found.severity, found.facts,
        (known.severity, known.facts) is distinct from (found.severity, found.facts) as is_changed
      from discrepancy known join ${assessedSql} found on found.kind = known.kind and found.subject = known.subject
      where known.account_id = ${accountId} and (known.roster_id = ${rosterId} or known.state = 'resolved')
    ), touched as (
      update discrepancy known set
        state = 'open', severity = former.severity, facts = former.facts, roster_id = ${rosterId},
        opened_at = case when former.state = 'resolved' then ${now} else known.opened_at end,
        resolved_at = null, accepted_until = null
      from former
      where former.discrepancy_id = known.discrepancy_id and (
        former.state = 'resolved' or former.is_changed or former.state = 'accepted' and former.accepted_until < ${input.today}::date
      )
      returning known.discrepancy_id, known.severity, known.facts, case
        when former.state = 'resolved' then 'returned'
        when former.is_changed then 'changed'
        else 'acceptance_ended'
      end as event_kind
    ) ${logSql(sql`touched`)}`);
  if (unprovenBecause === null) {
    await transaction.execute(sql`
      with resolved as (
        update discrepancy known set state = 'resolved', resolved_at = ${now}, accepted_until = null
        where known.account_id = ${accountId} and known.roster_id = ${rosterId} and known.state <> 'resolved'
          and not exists (select from finding found where found.kind = known.kind and found.subject = known.subject)
        returning discrepancy_id, severity, facts, 'resolved' as event_kind
      ) ${logSql(sql`resolved`)}`);
  }
  const currentSql = sql`
    select coalesce(jsonb_agg(to_jsonb(grouped) order by grouped.kind), '[]')
    from (
      select kind, severity, count(*) filter (where state = 'open') as open, count(*) filter (where state = 'accepted') as accepted,
        min(opened_at) as "oldestAt",
        count(*) filter (where opened_at < ${now}::timestamptz - interval '7 days' and state = 'open') as "overAWeek",
        count(*) filter (where opened_at < ${now}::timestamptz - interval '30 days' and state = 'open') as "overAMonth"
      from discrepancy where account_id = ${accountId} and roster_id = ${rosterId} and state <> 'resolved' group by kind, severity
    ) grouped`;
  const reconciliation = {
    runId,
    rosterId,
    accountId,
    sweepRunId,
    unprovenBecause,
    reconciledAt: now,
    lastEventId: await findValue(transaction, z.number().nullable(), 'select max(event_id) from discrepancy_event'),
    sums,
    standing: await readValue(transaction, z.unknown(), currentSql),
    invitations: null,
  };
  await transaction.execute(replaceInto('reconciliation', [reconciliation], ['run_id', 'roster_id']));
  return readRow(
    transaction,
    z.object({ opened: z.number(), resolved: z.number() }),
    sql`select count(*) filter (where event.kind in ('opened', 'returned'))::integer as opened,
       count(*) filter (where event.kind = 'resolved')::integer as resolved
     from discrepancy_event event join discrepancy using (discrepancy_id)
     where event.run_id = ${runId} and discrepancy.roster_id = ${rosterId}`,
  );
}

/** The sweep of a roster's last comparison; null if it was not proven, or without a comparison. */
export function findLastCompared(database: Queryable, rosterId: number, accountId: number): Promise<number | null> {
  return findValue(
    database,
    z.number().nullable(),
    sql`select case when unproven_because is null then sweep_run_id end as "sweepRunId" from reconciliation
     where roster_id = ${rosterId} and account_id = ${accountId} order by reconciled_at desc, run_id desc limit 1`,
  );
}

const reconciliationRow = reconciliationSchema.extend({ rosterId: z.number() });

/** SQL: the place of a severity, most urgent first. */
const urgencySql = (severity: 'severity' | 'event.severity'): Sql =>
  sql`array_position(${discrepancySeverities}::text[], ${rawSql(severity)})`;

const mostNews = 1_000;

/**
 * The comparisons of a run, each with the first discrepancies that opened, changed, returned or were resolved in it, or in the `earlier` runs of
 * its report.
 */
export async function readReconciliations(database: Queryable, runId: number, earlier: readonly number[]) {
  const runIds = [runId, ...earlier];
  const rows = await database.query(
    reconciliationRow,
    sql`select roster.roster_id, roster.name as roster, reconciled_at, swept.finished_at as "sweptAt",
       unproven_because, reconciliation.sums, standing, invitations,
       (
         select count(*)::integer from discrepancy_event event join discrepancy using (discrepancy_id)
         where event.run_id = any (${runIds}) and event.reviewer is null and discrepancy.roster_id = reconciliation.roster_id
       ) as "newsCount"
     from reconciliation join roster on roster.roster_id = reconciliation.roster_id join run swept on swept.run_id = sweep_run_id
     where reconciliation.run_id = ${runId} order by roster.name`,
  );
  const facts: ReconciliationFacts[] = [];
  for (const { rosterId, ...reconciliation } of rows) {
    const news = await database.query(
      discrepancySchema,
      sql`select event.discrepancy_id, event.kind as event, discrepancy.kind, event.severity, event.facts, discrepancy.opened_at
       from discrepancy_event event join discrepancy using (discrepancy_id)
       where event.run_id = any (${runIds}) and event.reviewer is null and discrepancy.roster_id = ${rosterId}
       order by event.kind = 'resolved', ${urgencySql('event.severity')}, discrepancy.kind, event.discrepancy_id, event_id limit ${mostNews}`,
    );
    facts.push({ ...reconciliation, news });
  }
  return facts;
}

const listedRow = listedDiscrepancySchema.extend({ discrepancyId: z.number(), eventId: z.number() });

/**
 * The open and accepted discrepancies of an organisation or a roster now, or at the end of a run's comparison; the most urgent `limit` of
 * `count`, null for all.
 */
export async function readCurrentDiscrepancies(
  database: Queryable,
  choice: { organisationId: number; roster: string | null } | { runId: number },
  limit: number | null,
) {
  const comparedSql =
    'runId' in choice
      ? sql`select roster_id, account_id, last_event_id, reconciled_at from reconciliation where run_id = ${choice.runId}`
      : sql`
        select distinct on (roster_id, account_id) roster_id, account_id, null::bigint as last_event_id, reconciled_at
        from reconciliation join roster using (roster_id)
        where roster.organisation_id = ${choice.organisationId} and roster.name = coalesce(${choice.roster}, roster.name)
        order by roster_id, account_id, reconciled_at desc`;
  const rows = await database.query(
    listedRow.extend({ count: z.number() }),
    sql`with compared as (
       ${comparedSql}
     ), last_said as (
       select distinct on (event.discrepancy_id) event.discrepancy_id, event.event_id, event.kind, event.reviewer, event.reason,
         event.accepted_until, discrepancy.kind as found_kind, discrepancy.roster_id, discrepancy.account_id,
         -- What people stored before it was checked may be unreadable.
         case when event.severity = any (${discrepancySeverities}) then event.severity else discrepancy.severity end as severity,
         case jsonb_typeof(event.facts) when 'object' then event.facts else discrepancy.facts end as facts
       from compared join discrepancy using (roster_id, account_id) join discrepancy_event event using (discrepancy_id)
       where event.event_id <= coalesce(compared.last_event_id, event.event_id)
       order by event.discrepancy_id, event.event_id desc
     ), chosen as (
       select *, count(*) over ()::integer as count from last_said where kind <> 'resolved'
       order by ${urgencySql('severity')}, found_kind, discrepancy_id limit ${limit}
     )
     select discrepancy_id, event_id, roster.name as roster, found_kind as kind, severity, facts,
       opened.at as "openedAt", opened.seen, count,
       case when kind in ('proposed', 'accepted') then jsonb_build_object(
         'isFinal', kind = 'accepted', 'reviewer', reviewer, 'reason', reason, 'until', accepted_until
       ) end as acceptance
     from chosen
     join roster using (roster_id)
     join compared using (roster_id, account_id)
     cross join lateral (
       select max(first.happened_at) as at, 1 + (
         select count(*) from reconciliation later
         where later.roster_id = chosen.roster_id and later.account_id = chosen.account_id and later.unproven_because is null
           and later.reconciled_at > max(first.happened_at) and later.reconciled_at <= compared.reconciled_at
       )::integer as seen
       from discrepancy_event first
       where first.discrepancy_id = chosen.discrepancy_id and first.event_id <= chosen.event_id and first.kind in ('opened', 'returned')
     ) opened
     order by ${urgencySql('severity')}, found_kind, discrepancy_id`,
  );
  return { count: rows[0]?.count ?? 0, listed: rows.map(({ count: _, ...listed }) => listed) };
}

const decidableRow = z.object({
  discrepancyId: z.number(),
  accountId: z.number(),
  severity: z.enum(discrepancySeverities),
  isResolved: z.boolean(),
  last: z.object({
    eventId: z.number(),
    kind: z.string(),
    reviewer: z.string().nullable(),
    until: z.string().nullable(),
  }),
});

/** The known ones of these discrepancies with their last event, by number. */
export async function readDecidable(database: Queryable, organisationId: number, discrepancyIds: readonly number[]) {
  const rows = await database.query(
    decidableRow,
    sql`select discrepancy_id, account_id, severity, state = 'resolved' as "isResolved", last
     from discrepancy
     join account using (account_id)
     cross join lateral (
       select jsonb_build_object('eventId', event_id, 'kind', event.kind, 'reviewer', reviewer, 'until', event.accepted_until) as last
       from discrepancy_event event where event.discrepancy_id = discrepancy.discrepancy_id order by event_id desc limit 1
     ) said
     where account.organisation_id = ${organisationId} and discrepancy_id = any (${discrepancyIds})`,
  );
  return new Map(rows.map((row) => [row.discrepancyId, row]));
}

/** Stores a decision about a discrepancy; a trigger of the database checks the rules and sets the discrepancy's state. */
export async function saveAcceptance(
  transaction: Queryable,
  said: {
    discrepancyId: number;
    seenEventId: number;
    kind: 'proposed' | 'accepted' | 'acceptance_ended';
    reviewer: { name: string; isAttested: boolean };
    reason: string;
    /** Null for `acceptance_ended`. */
    until: string | null;
  },
  now: Date,
): Promise<void> {
  const { discrepancyId, seenEventId, kind, reviewer, reason, until } = said;
  await transaction.execute(sql`
    insert into discrepancy_event
      (discrepancy_id, seen_event_id, kind, severity, facts, happened_at, reviewer, is_attested, reason, accepted_until)
    select discrepancy_id, ${seenEventId}, ${kind}, severity, facts, ${now}, ${reviewer.name}, ${reviewer.isAttested}, ${reason}, ${until}
    from discrepancy where discrepancy_id = ${discrepancyId}`);
}
