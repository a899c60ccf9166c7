import { z } from 'zod';
import type { ComparedCustomer } from '../roster/guards/judge-changes.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';
import { type SeatedRecord, seatedRecordSchema } from './roster-cases.js';
import { fieldSeparator, rowSeparator } from './roster-staging.js';
import type { StagedImport } from './settle-staging.js';

const batchSize = 5_000;

const comparedRow = z.object({
  customerId: z.number(),
  reference: z.string(),
  hasAlerts: z.boolean(),
  known: seatedRecordSchema,
  next: seatedRecordSchema.nullable(),
  weekAgo: seatedRecordSchema.nullable(),
}) satisfies z.ZodType<ComparedCustomer & { known: SeatedRecord }>;

/** SQL: something about the customer waits for a decision or was decided. */
const hasAlertsSql = `exists (
  select from party join review_item item on item.party_id = party.party_id
  where party.customer_id = customer.customer_id and item.state <> 'gone'
)`;

/**
 * The known customers whose records a settled snapshot changes, and those whose records were changed by snapshots of the seven days before
 * `now`, in batches. Changes that were there when somebody overrode one of `guards` count no more.
 */
export async function* compareRecords(
  transaction: Queryable,
  { runId, rosterId }: StagedImport,
  { now, guards }: { now: Date; guards: readonly string[] },
): AsyncGenerator<readonly ComparedCustomer[]> {
  const recent = await transaction.query(
    z.object({ importId: z.number() }),
    `select import_id as "importId" from roster_import
     where roster_id = $1 and imported_at > $2::timestamptz - interval '7 days' and changed > 0
       and import_id > coalesce((
         select max(import_id) from roster_import where roster_id = $1 and overridden_guards && $3::text[]
       ), 0)`,
    [rosterId, now, [...guards]],
  );
  let after = 0;
  for (;;) {
    const compared = await transaction.query(
      comparedRow,
      // Both sides are cut before they are joined: of a roster of which everything changed, each batch reads the steps once.
      `with tonight as materialized (
         select customer_id, record from roster_step
         where run_id = $1 and kind = 'changed' and customer_id > $2 order by customer_id limit $3
       ),
       earlier as materialized (
         select customer_id, min(version) - 1 as version from customer_version
         where import_id = any($4::bigint[]) and version > 1 and customer_id > $2
           and changed_fields && array['name', 'type', 'birth_date', 'countries', 'aliases', 'related_parties']
         group by customer_id order by customer_id limit $3
       ),
       touched as (
         select customer_id, tonight.record, earlier.version from tonight full join earlier using (customer_id)
         order by customer_id limit $3
       )
       select touched.customer_id as "customerId", customer.reference, ${hasAlertsSql} as "hasAlerts",
         known.record as known, touched.record as next, former.record as "weekAgo"
       from touched
       join customer on customer.customer_id = touched.customer_id
       join customer_version known on known.customer_id = touched.customer_id and known.version = customer.version
       left join customer_version former on former.customer_id = touched.customer_id and former.version = touched.version
       order by touched.customer_id`,
      [runId, after, batchSize, recent.map(({ importId }) => importId)],
    );
    const last = compared.at(-1);
    if (last === undefined) return;
    yield compared;
    after = last.customerId;
  }
}

/** How many customers of the roster have an alert or a decision, and how many new rows have a known customer's id as their name. */
export async function readComparedFigures(
  transaction: Queryable,
  { runId, rosterId }: StagedImport,
): Promise<{ withAlerts: number; namesAsIds: number }> {
  const rows = await transaction.query(
    z.object({ withAlerts: z.number(), namesAsIds: z.number() }),
    `select
       (
         select count(distinct party.customer_id)::integer
         from review_item item join party using (party_id) join customer using (customer_id)
         where customer.roster_id = $2 and item.state <> 'gone'
       ) as "withAlerts",
       (
         select count(*)::integer from roster_step step
         where step.run_id = $1 and step.kind = 'new' and exists (
           select from customer where roster_id = $2 and reference = step.record #>> '{parties,0,name}'
         )
       ) as "namesAsIds"`,
    [runId, rosterId],
  );
  return firstRow(rows, 'review_item');
}

/** Whether any accepted row of a staged snapshot has a birth date. */
export async function hasBirthDates(transaction: Queryable, runId: number): Promise<boolean> {
  const rows = await transaction.query(
    z.object({ found: z.boolean() }),
    `select exists (
       select from roster_record where run_id = $1 and record #>> '{parties,0,birthDate}' is not null
     ) as found`,
    [runId],
  );
  return firstRow(rows, 'roster_record').found;
}

/** The accepted rows of these customers as they were read, under the headers of the source. */
export async function readStagedFields(
  transaction: Queryable,
  runId: number,
  headers: readonly string[],
  references: readonly string[],
): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const rows = await transaction.query(
    z.object({ reference: z.string(), fields: z.array(z.string()) }),
    `select staged.reference, place[2:] as fields
     from roster_raw chunk
     cross join lateral string_to_table(chunk.rows, $4::text) as row (text)
     cross join lateral string_to_array(row.text, $3::text) as place
     join roster_staging staged on staged.run_id = chunk.run_id and staged.ordinal = place[1]::integer
     where chunk.run_id = $1 and staged.reference = any($2::text[]) and staged.reject_reason is null`,
    [runId, [...references], fieldSeparator, rowSeparator],
  );
  return new Map(
    rows.map(({ reference, fields }) => [
      reference,
      Object.fromEntries(headers.map((header, index) => [header, fields[index] ?? ''])),
    ]),
  );
}
