import { z } from 'zod';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { toPlainRequestsSql } from './save-requests.js';
import { plainSql } from './settle-staging.js';

/** A staged row that is rejected: where it stands and why, without what it holds. */
export interface StagedRejection {
  line: number;
  file: string | null;
  reference: string | null;
  column: string | null;
  reason: string;
  valueClass: string | null;
}

const rejectionRow: z.ZodType<StagedRejection> = z.object({
  line: z.number(),
  file: z.string().nullable(),
  reference: z.string().nullable(),
  column: z.string().nullable(),
  reason: z.string(),
  valueClass: z.string().nullable(),
});

/** The first rows that an import rejects, related parties last. */
export async function listStagedRejections(
  transaction: Queryable,
  runId: number,
  limit: number,
): Promise<readonly StagedRejection[]> {
  const columns =
    'ordinal, line, file, reference, reject_column as "column", reject_reason as reason, value_class as "valueClass"';
  return transaction.query(
    rejectionRow,
    `select * from (
       select ${columns} from roster_staging where run_id = $1 and reject_reason is not null
       union all
       select ${columns} from roster_party_staging where run_id = $1 and reject_reason is not null
     ) rejected
     order by ordinal limit $2`,
    [runId, limit],
  );
}

/** How many staged rows are rejected, related parties included, by reason. */
export async function countRejectReasons(
  transaction: Queryable,
  runId: number,
): Promise<Readonly<Record<string, number>>> {
  const rows = await transaction.query(
    z.object({ reason: z.string(), count: z.number() }),
    `select reject_reason as reason, count(*)::integer as count
     from (
       select reject_reason from roster_staging where run_id = $1
       union all select reject_reason from roster_party_staging where run_id = $1
     ) staged
     where reject_reason is not null group by reject_reason order by reject_reason`,
    [runId],
  );
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]));
}

const askedOfSql = (facts: string): string =>
  `jsonb_build_array(${facts} -> 'type', ${facts} -> 'sentName', ${facts} -> 'birthDate', ${facts} -> 'countries')`;

/** SQL: what is asked about new customers and about what is new of changed ones, who leaves left aside. */
const newStepRequestsSql = `
  select seat.party ->> 'type' as type, seat.party ->> 'sentName' as name
  from roster_step step
  cross join jsonb_array_elements(step.record -> 'parties') with ordinality as seat (party, place)
  left join customer_version former on former.customer_id = step.customer_id and former.version = step.version
  where step.run_id = $1 and step.kind in ('new', 'changed') and step.leaves is null and seat.party <> 'null'
    and (
      step.kind = 'new'
      or former.record -> 'parties' -> (seat.place::integer - 1) is null
      or ${askedOfSql("(former.record -> 'parties' -> (seat.place::integer - 1))")} <> ${askedOfSql('seat.party')}
    )`;

/** How many different requests an onboarding makes for the new and changed customers of a settled snapshot. */
export async function countNewRequests(
  transaction: Queryable,
  { runId, isFirst }: { runId: number; isFirst: boolean },
): Promise<number> {
  const staying = `${plainSql} and leaves is null`;
  const wanted = isFirst ? `${toPlainRequestsSql(staying)} union all ${newStepRequestsSql}` : newStepRequestsSql;
  const rows = await transaction.query(
    z.object({ requests: z.number() }),
    `select count(*)::integer as requests from (select distinct type, name from (${wanted}) wanted) wanted`,
    [runId],
  );
  return firstRow(rows, 'roster_step').requests;
}
