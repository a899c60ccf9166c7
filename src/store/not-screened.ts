import { z } from 'zod';
import type { CutNotScreened } from '../reports/cut-list.js';
import type { NotScreenedFacts } from '../reports/run-facts.js';
import type { Database, Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { heldLines } from './held-lines.js';
import { joinPartySql, partyFactsSchema, partyFactsSql } from './party-facts.js';

const notScreenedRow: z.ZodType<NotScreenedFacts> = z.object({
  party: partyFactsSchema,
  outcome: z.enum(['failed', 'skipped', 'remaining']),
  reason: z.string(),
  lastScreenedAt: z.date().nullable(),
});

/** When the party of `screening` was answered for the last time before `run`, looked up in the history, newest run first. */
const lastScreenedSql = `(
  select coalesce(reuse.answered_at, batch.committed_at)
  from run earlier
  join screening before on before.run_id = earlier.run_id and before.party_id = screening.party_id
  join commit_batch batch on batch.batch_id = before.batch_id
  left join screening_reuse reuse
    on before.outcome = 'reused' and reuse.run_id = before.run_id and reuse.party_id = before.party_id
  where earlier.roster_id = run.roster_id and earlier.account_id = run.account_id and earlier.run_id < run.run_id
    and before.outcome in ('screened', 'reused')
  order by earlier.run_id desc
  limit 1
)`;

/** Parties in scope without a valid answer; skipped ones only where no earlier answer is still valid. */
const isNotScreenedSql = `screening.run_id = $1
  and (screening.outcome in ('failed', 'remaining') or (screening.outcome = 'skipped' and screening.outcome_reason <> 'not_due'))`;

/** Of an id without a record nothing else is known. */
const unreadPartySql = `jsonb_build_object('reference', gap.reference, 'role', 'customer', 'type', 'person', 'name', '',
  'birthDate', null, 'countries', '[]'::jsonb, 'riskTier', null)`;

// The history holds a row for each party and night, so it is asked only where the party's own state says something newer, or nothing:
// after a later run, and after a control search that has taken back what its run said. Both ways give the same.
/** The lines in the order of reports. */
const notScreenedSql = `
  select party, outcome, reason, "lastScreenedAt"
  from (
    select ${partyFactsSql} as party, screening.outcome,
      coalesce(screening.outcome_reason, 'remaining') as reason,
      case
        when state.run_id is null then null
        when state.run_id < run.run_id and state.screened_at > 'epoch' then state.screened_at
        else ${lastScreenedSql}
      end as "lastScreenedAt"
    from screening
    join run on run.run_id = screening.run_id
    left join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
    ${joinPartySql('screening')}
    where ${isNotScreenedSql}
    union all
    select coalesce(own.party, ${unreadPartySql}), 'skipped', gap.reason, own.screened_at
    from run_gap gap
    left join lateral (
      select ${partyFactsSql} as party, nullif(state.screened_at, 'epoch') as screened_at
      from screening
      join run on run.run_id = screening.run_id
      ${joinPartySql('screening')}
      left join party_state state on state.account_id = run.account_id and state.party_id = screening.party_id
      where screening.run_id = gap.run_id and party.customer_id = gap.customer_id
      order by party.ordinal limit 1
    ) own on true
    where gap.run_id = $1
  ) line
  order by array_position(array['failed', 'remaining', 'skipped'], outcome), reason collate "C",
    (party ->> 'reference') collate "C", (party ->> 'name') collate "C"`;

/** Who is not screened in a run: the first `heldLines`, and where there are more how many and how to read all. */
export async function readNotScreened(
  database: Queryable,
  lists: Pick<Database, 'cursor'>,
  runId: number,
): Promise<{ held: readonly NotScreenedFacts[]; cut: CutNotScreened | null }> {
  const held = await database.query(notScreenedRow, `${notScreenedSql} limit $2`, [runId, heldLines + 1]);
  if (held.length <= heldLines) return { held, cut: null };
  const { lines, ...customers } = await countNotScreened(database, runId);
  const read = () => lists.cursor(notScreenedRow, notScreenedSql, [runId], 1_000);
  return { held: held.slice(0, heldLines), cut: { lines, customers, read } };
}

const countRow = z.object({ lines: z.number(), failed: z.number(), remaining: z.number(), skipped: z.number() });

/** Lines, and customers under the worst outcome of their parties. */
async function countNotScreened(database: Queryable, runId: number): Promise<z.infer<typeof countRow>> {
  const rows = await database.query(
    countRow,
    `select coalesce(sum(lines), 0)::integer as lines, count(*) filter (where has_failed)::integer as failed,
       count(*) filter (where has_remaining and not has_failed)::integer as remaining,
       count(*) filter (where not has_remaining and not has_failed)::integer as skipped
     from (
       select sum(lines) as lines, bool_or(has_failed) as has_failed, bool_or(has_remaining) as has_remaining
       from (
         select customer.reference, 1 as lines, outcome = 'failed' as has_failed, outcome = 'remaining' as has_remaining
         from screening join party using (party_id) join customer using (customer_id)
         where ${isNotScreenedSql}
         union all
         select reference, 1, false, false from run_gap where run_id = $1
       ) line
       group by reference
     ) listed`,
    [runId],
  );
  return firstRow(rows, 'screening');
}
