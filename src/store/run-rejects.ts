import { z } from 'zod';
import type { DoubtReason, RejectedRow, RejectReason } from '../roster/customer.js';
import type { DoubtedRow } from '../roster/doubts.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** Complete by its type: a reason that the roster adds has to be added here. */
const rejectReasons = {
  missing_id: 'missing_id',
  missing_name: 'missing_name',
  missing_type: 'missing_type',
  id_too_long: 'id_too_long',
  unknown_type: 'unknown_type',
  invalid_birth_date: 'invalid_birth_date',
  unknown_country: 'unknown_country',
  unknown_risk_tier: 'unknown_risk_tier',
  control_character: 'control_character',
  name_too_long: 'name_too_long',
  name_without_letters: 'name_without_letters',
  wrong_column_count: 'wrong_column_count',
  conflicting_id: 'conflicting_id',
  malformed_csv: 'malformed_csv',
  too_many_parties: 'too_many_parties',
  field_too_long: 'field_too_long',
  line_break_in_name: 'line_break_in_name',
  replacement_character: 'replacement_character',
  unknown_standing: 'unknown_standing',
  invalid_end_date: 'invalid_end_date',
  unknown_role: 'unknown_role',
  unknown_customer: 'unknown_customer',
} as const satisfies { [Reason in RejectReason]: Reason };

/** Complete by its type as well. */
export const doubtReasonShape = z.enum({
  says_unknown: 'says_unknown',
  invalid_birth_date: 'invalid_birth_date',
  no_such_day: 'no_such_day',
  ambiguous_date: 'ambiguous_date',
  year_too_early: 'year_too_early',
  year_in_future: 'year_in_future',
  hijri_year: 'hijri_year',
  buddhist_year: 'buddhist_year',
  unknown_country: 'unknown_country',
  ambiguous_country: 'ambiguous_country',
  stateless: 'stateless',
  unknown_risk_tier: 'unknown_risk_tier',
  unknown_standing: 'unknown_standing',
  invalid_end_date: 'invalid_end_date',
  unreadable_alias: 'unreadable_alias',
  control_character: 'control_character',
  replacement_character: 'replacement_character',
} as const satisfies { [Reason in DoubtReason]: Reason });

const doubtedRow: z.ZodType<Omit<DoubtedRow, 'ordinal'>> = z.object({
  line: z.number(),
  file: z.string().nullable(),
  reference: z.string(),
  doubts: z.array(z.object({ column: z.string(), why: doubtReasonShape })),
  fields: z.record(z.string(), z.string()),
  isParty: z.boolean(),
});

const rejectRow: z.ZodType<RejectedRow> = z.object({
  line: z.number(),
  file: z.string().nullable(),
  column: z.string().nullable(),
  reason: z.enum(rejectReasons),
  valueClass: z.string().nullable(),
  reference: z.string().nullable(),
  fields: z.record(z.string(), z.string()),
});

/** The rows that a run's import rejected, by file and line; the first `limit` where one is given. */
export async function readRejects(
  database: Queryable,
  runId: number,
  limit: number | null = null,
): Promise<readonly RejectedRow[]> {
  return database.query(
    rejectRow,
    `select reject.line, reject.file, reject.column_name as "column", reject.reason,
       reject.value_class as "valueClass", reject.reference, reject.fields
     from roster_reject reject
     join roster_import using (import_id)
     where roster_import.run_id = $1
     order by coalesce(reject.file, '') collate "C", reject.line, reject.ordinal
     limit $2`,
    [runId, limit],
  );
}

/** The first rows that a run's import accepted with values in doubt, by file and line. */
export async function readDoubtedRows(
  database: Queryable,
  runId: number,
): Promise<readonly Omit<DoubtedRow, 'ordinal'>[]> {
  return database.query(
    doubtedRow,
    `select doubt.line, doubt.file, doubt.reference, doubt.doubts, doubt.fields, doubt.is_party as "isParty"
     from roster_doubt doubt
     join roster_import using (import_id)
     where roster_import.run_id = $1
     order by coalesce(doubt.file, '') collate "C", doubt.line, doubt.ordinal`,
    [runId],
  );
}

/** How many rows a run's import rejected. */
export async function countRejects(database: Queryable, runId: number): Promise<number> {
  const rows = await database.query(
    z.object({ count: z.number() }),
    'select count(*) as count from roster_reject join roster_import using (import_id) where roster_import.run_id = $1',
    [runId],
  );
  return firstRow(rows, 'roster_reject').count;
}
