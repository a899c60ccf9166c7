import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import type { ImportOrigin } from './merge-roster.js';
import { requireAll } from './require-all.js';
import type { PlainCounts } from './roster-figures.js';
import { plainSql } from './settle-staging.js';

/**
 * Stores the parties of new and changed customers under what is sent for them, `shared` rows of a first snapshot under what they share with
 * others; throws StoreError when one would be lost. Of parties that are no longer named, those that nobody has cleared are noted.
 */
export async function saveParties(
  transaction: Queryable,
  origin: ImportOrigin,
  importId: number,
  plain: PlainCounts,
  shared: number,
): Promise<void> {
  const { runId, organisationId, isFirst, lastCustomerId, lastRequestId } = origin;
  const joinRequest = (type: string, name: string): string =>
    `join screening_request request on request.organisation_id = $2 and request.type = ${type} and request.name = ${name}`;
  const values = [runId, organisationId, lastCustomerId];
  if (isFirst) {
    const own = '$3::bigint + staged.ordinal';
    const saved = await transaction.execute(
      `insert into party (customer_id, ordinal, request_id, is_current)
       select $2::bigint + staged.ordinal, 0, ${shared > 0 ? `coalesce(shared.request_id, ${own})` : own}, true
       from (select ordinal from roster_staging where ${plainSql}) staged
       ${shared > 0 ? 'left join roster_request shared on shared.run_id = $1 and shared.ordinal = staged.ordinal' : ''}`,
      [runId, lastCustomerId, lastRequestId],
    );
    requireAll(saved, plain.customers);
  }
  if (plain.several > 0) {
    const wanted = await transaction.query(
      z.object({ parties: z.number() }),
      `select sum(parties - 1)::integer as parties from roster_staging where ${plainSql} and parties > 1`,
      [runId],
    );
    const saved = await transaction.execute(
      `insert into party (customer_id, ordinal, request_id, is_current)
       select $3::bigint + staged.ordinal, party.place - 1, request.request_id, true
       from (
         select ordinal, record from roster_staging join roster_record using (run_id, ordinal) where ${plainSql} and parties > 1 offset 0
       ) staged
       cross join jsonb_array_elements(staged.record -> 'parties') with ordinality as party (facts, place)
       ${joinRequest("party.facts ->> 'type'", "party.facts ->> 'sentName'")}
       where party.place > 1`,
      values,
    );
    requireAll(saved, firstRow(wanted, 'roster_staging').parties);
  }
  const seatsSql = `
    from roster_step step
    cross join jsonb_array_elements(step.record -> 'parties') with ordinality as party (facts, place)`;
  const expected = await transaction.query(
    z.object({ parties: z.number() }),
    `select count(*)::integer as parties ${seatsSql} where step.run_id = $1 and party.facts <> 'null'`,
    [runId],
  );
  const { parties } = firstRow(expected, 'roster_step');
  if (parties === 0) return;
  const saved = await transaction.execute(
    `insert into party (customer_id, ordinal, request_id, is_current)
     select step.customer_id, party.place - 1, request.request_id, true
     ${seatsSql}
     ${joinRequest("party.facts ->> 'type'", "party.facts ->> 'sentName'")}
     where step.run_id = $1 and party.facts <> 'null'
     order by step.customer_id, party.place
     on conflict (customer_id, ordinal) do update set request_id = excluded.request_id, is_current = true`,
    [runId, organisationId],
  );
  requireAll(saved, parties);
  await transaction.execute(
    `with dropped as (
       update party set is_current = false
       from roster_step step
       where step.run_id = $1 and step.kind = 'changed' and party.customer_id = step.customer_id and party.is_current
         and coalesce(step.record -> 'parties' -> party.ordinal::integer, 'null') = 'null'
       returning party.party_id, step.version
     )
     insert into dropped_party (import_id, party_id, account_id, customer_version, state)
     select $2, dropped.party_id, party.account_id, dropped.version, state
     from dropped join party_standing party on party.party_id = dropped.party_id and party.account_id is not null
     cross join lateral (
       select case
         when party.is_confirmed then 'confirmed'
         when party.waiting > 0 or party.has_new_hits then 'open_hit'
         else party.answer_state
       end as state
     ) standing
     where state in ('open_hit', 'incompletely_seen', 'confirmed')`,
    [runId, importId],
  );
}
