import { z } from 'zod';
import type { ReconciliationFacts, ReconciliationSums } from '../../reconciliation/discrepancy.js';
import { discrepancySchema, listedDiscrepancySchema, reconciliationSchema } from '../../vocabulary/source-facts.js';
import { discrepancySeverities } from '../../vocabulary.js';
import { findValue, firstRow, type Queryable } from '../database/database.js';
import { toSqlList } from '../row-shapes.js';
import type { ReconciliationInput } from './reconciliation.js';

/**
 * Updates the stored discrepancies from the collected findings: they open, change, return and, if the sweep is proven, are resolved. An
 * acceptance ends after its last day or when the facts change. Stores the comparison with its sums, in place of the run's former one: a held
 * run that is accepted ends twice. Gives the number of discrepancies that the run has opened (returned ones included) and resolved.
 */
export async function saveDiscrepancies(transaction: Queryable, input: ReconciliationInput, sums: ReconciliationSums) {
  const { runId, rosterId, accountId, sweepRunId, unprovenBecause, severities, now } = input;
  const common = [accountId, rosterId, runId, now, JSON.stringify(severities)];
  const assessed = `(select finding.*, coalesce($5::text::jsonb ->> finding.kind, 'medium') as severity from finding)`;
  const log = (kind: string, rows: string): string =>
    `insert into discrepancy_event (discrepancy_id, run_id, kind, severity, facts, happened_at)
     select discrepancy_id, $3, ${kind}, severity, facts, $4 from ${rows}`;
  await transaction.execute(
    `with opened as (
       insert into discrepancy (account_id, roster_id, kind, subject, customer_id, dossier_id, severity, facts, state, opened_at)
       select $1, $2, kind, subject, customer_id, dossier_id, severity, facts, 'open', $4 from ${assessed} found
       where not exists (
         select from discrepancy known where known.account_id = $1 and known.kind = found.kind and known.subject = found.subject
       )
       returning discrepancy_id, severity, facts
     ) ${log(`'opened'`, 'opened')}`,
    common,
  );
  await transaction.execute(
    `with former as (
       select known.discrepancy_id, known.state, known.accepted_until, found.severity, found.facts,
         (known.severity, known.facts) is distinct from (found.severity, found.facts) as is_changed
       from discrepancy known join ${assessed} found on found.kind = known.kind and found.subject = known.subject
       where known.account_id = $1 and (known.roster_id = $2 or known.state = 'resolved')
     ), touched as (
       update discrepancy known set
         state = 'open', severity = former.severity, facts = former.facts, roster_id = $2,
         opened_at = case when former.state = 'resolved' then $4 else known.opened_at end,
         resolved_at = null, accepted_until = null
       from former
       where former.discrepancy_id = known.discrepancy_id
         and (former.state = 'resolved' or former.is_changed or former.state = 'accepted' and former.accepted_until < $6::date)
       returning known.discrepancy_id, known.severity, known.facts,
         case when former.state = 'resolved' then 'returned' when former.is_changed then 'changed' else 'acceptance_ended' end as what
     ) ${log('what', 'touched')}`,
    [...common, input.today],
  );
  if (unprovenBecause === null) {
    await transaction.execute(
      `with resolved as (
         update discrepancy known set state = 'resolved', resolved_at = $4, accepted_until = null
         where known.account_id = $1 and known.roster_id = $2 and known.state <> 'resolved'
           and not exists (select from finding found where found.kind = known.kind and found.subject = known.subject)
         returning discrepancy_id, severity, facts
       ) ${log(`'resolved'`, 'resolved')}`,
      common.slice(0, 4),
    );
  }
  await transaction.execute(
    `insert into reconciliation (run_id, roster_id, account_id, sweep_run_id, unproven_because, reconciled_at, last_event_id, sums, standing)
     select $1, $2, $3, $4, $5, $6, (select max(event_id) from discrepancy_event), $7::text::jsonb, coalesce((
       select jsonb_agg(to_jsonb(grouped) order by grouped.kind) from (
         select kind, severity, count(*) filter (where state = 'open') as open, count(*) filter (where state = 'accepted') as accepted,
           min(opened_at) as "oldestAt", count(*) filter (where opened_at < $6::timestamptz - interval '7 days' and state = 'open') as "overAWeek",
           count(*) filter (where opened_at < $6::timestamptz - interval '30 days' and state = 'open') as "overAMonth"
         from discrepancy where account_id = $3 and roster_id = $2 and state <> 'resolved' group by kind, severity
       ) grouped
     ), '[]')
     on conflict (run_id, roster_id) do update set
       account_id = excluded.account_id, sweep_run_id = excluded.sweep_run_id, unproven_because = excluded.unproven_because,
       reconciled_at = excluded.reconciled_at, last_event_id = excluded.last_event_id, sums = excluded.sums, standing = excluded.standing,
       invitations = null`,
    [runId, rosterId, accountId, sweepRunId, unprovenBecause, now, JSON.stringify(sums)],
  );
  const rows = await transaction.query(
    z.object({ opened: z.number(), resolved: z.number() }),
    `select count(*) filter (where event.kind in ('opened', 'returned'))::integer as opened,
       count(*) filter (where event.kind = 'resolved')::integer as resolved
     from discrepancy_event event join discrepancy using (discrepancy_id)
     where event.run_id = $1 and discrepancy.roster_id = $2`,
    [runId, rosterId],
  );
  return firstRow(rows, 'discrepancy_event');
}

/** The sweep of a roster's last comparison; null if it was not proven, or without a comparison. */
export function findLastCompared(database: Queryable, rosterId: number, accountId: number): Promise<number | null> {
  return findValue(
    database,
    z.number().nullable(),
    `select case when unproven_because is null then sweep_run_id end as "sweepRunId" from reconciliation
     where roster_id = $1 and account_id = $2 order by reconciled_at desc, run_id desc limit 1`,
    [rosterId, accountId],
  );
}

const reconciliationRow = reconciliationSchema.extend({ rosterId: z.number() });

/** SQL: the place of a severity, most urgent first. */
const urgencySql = (severity: string): string =>
  `array_position(array[${toSqlList(discrepancySeverities)}], ${severity})`;

const mostNews = 1_000;

/**
 * The comparisons of a run, each with the first discrepancies that opened, changed, returned or were resolved in it, or in the `earlier` runs of
 * its report.
 */
export async function readReconciliations(database: Queryable, runId: number, earlier: readonly number[]) {
  const rows = await database.query(
    reconciliationRow,
    `select roster.roster_id, roster.name as roster, reconciled_at, swept.finished_at as "sweptAt",
       unproven_because, reconciliation.sums, standing as current, invitations,
       (select count(*) from discrepancy_event event join discrepancy using (discrepancy_id)
        where event.run_id = any ($2::bigint[]) and event.reviewer is null and discrepancy.roster_id = reconciliation.roster_id)::integer as "newsCount"
     from reconciliation join roster on roster.roster_id = reconciliation.roster_id join run swept on swept.run_id = sweep_run_id
     where reconciliation.run_id = $1 order by roster.name`,
    [runId, [runId, ...earlier]],
  );
  const facts: ReconciliationFacts[] = [];
  for (const { rosterId, ...reconciliation } of rows) {
    const news = await database.query(
      discrepancySchema,
      `select event.discrepancy_id, event.kind as event, discrepancy.kind, event.severity, event.facts, discrepancy.opened_at
       from discrepancy_event event join discrepancy using (discrepancy_id)
       where event.run_id = any ($1::bigint[]) and event.reviewer is null and discrepancy.roster_id = $2
       order by event.kind = 'resolved', ${urgencySql('event.severity')}, discrepancy.kind, event.discrepancy_id, event_id limit $3`,
      [[runId, ...earlier], rosterId, mostNews],
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
  const ofRun = 'runId' in choice;
  const rows = await database.query(
    listedRow.extend({ count: z.number() }),
    `with compared as (
       ${
         ofRun
           ? 'select roster_id, account_id, last_event_id, reconciled_at from reconciliation where run_id = $1 and $2::text is null'
           : `select distinct on (roster_id, account_id) roster_id, account_id, null::bigint as last_event_id, reconciled_at
              from reconciliation join roster using (roster_id)
              where roster.organisation_id = $1 and roster.name = coalesce($2, roster.name)
              order by roster_id, account_id, reconciled_at desc`
       }
     ), last_said as (
       select distinct on (event.discrepancy_id) event.discrepancy_id, event.event_id, event.kind, event.reviewer, event.reason,
         event.accepted_until, discrepancy.kind as found_kind, discrepancy.roster_id, discrepancy.account_id,
         -- What people stored before it was checked may be unreadable.
         case when event.severity in (${toSqlList(discrepancySeverities)}) then event.severity else discrepancy.severity end as severity,
         case jsonb_typeof(event.facts) when 'object' then event.facts else discrepancy.facts end as facts
       from compared join discrepancy using (roster_id, account_id) join discrepancy_event event using (discrepancy_id)
       where event.event_id <= coalesce(compared.last_event_id, event.event_id)
       order by event.discrepancy_id, event.event_id desc
     ), chosen as (
       select *, count(*) over ()::integer as count from last_said where kind <> 'resolved'
       order by ${urgencySql('severity')}, found_kind, discrepancy_id limit $3
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
    ofRun ? [choice.runId, null, limit] : [choice.organisationId, choice.roster, limit],
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
    `select discrepancy_id, account_id, severity, state = 'resolved' as "isResolved", last
     from discrepancy
     join account using (account_id)
     cross join lateral (
       select jsonb_build_object('eventId', event_id, 'kind', event.kind, 'reviewer', reviewer, 'until', event.accepted_until) as last
       from discrepancy_event event where event.discrepancy_id = discrepancy.discrepancy_id order by event_id desc limit 1
     ) said
     where account.organisation_id = $1 and discrepancy_id = any ($2::bigint[])`,
    [organisationId, discrepancyIds],
  );
  return new Map(rows.map((row) => [row.discrepancyId, row]));
}

interface AcceptanceEvent {
  discrepancyId: number;
  seenEventId: number;
  kind: 'proposed' | 'accepted' | 'acceptance_ended';
  reviewer: { name: string; isAttested: boolean };
  reason: string;
  /** Null for `acceptance_ended`. */
  until: string | null;
}

/** Stores a decision about a discrepancy; a trigger of the database checks the rules and sets the discrepancy's state. */
export async function saveAcceptance(transaction: Queryable, said: AcceptanceEvent, now: Date): Promise<void> {
  const { discrepancyId, seenEventId, kind, reviewer, reason, until } = said;
  await transaction.execute(
    `insert into discrepancy_event
       (discrepancy_id, seen_event_id, kind, severity, facts, happened_at, reviewer, is_attested, reason, accepted_until)
     select discrepancy_id, $2, $3, severity, facts, $4, $5, $6, $7, $8::date from discrepancy where discrepancy_id = $1`,
    [discrepancyId, seenEventId, kind, now, reviewer.name, reviewer.isAttested, reason, until],
  );
}
