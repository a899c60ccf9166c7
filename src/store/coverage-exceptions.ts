import { z } from 'zod';
import type { Queryable } from './database.js';
import { gapsSql } from './unaccepted-customers.js';

/** Why customers of a roster cannot be screened as it stands; `unreadable_id` counts rows of which nobody can say whose they are. */
const gapReasons = [
  'row_rejected',
  'conflicting_duplicate',
  'roster_held',
  'related_party_unreadable',
  'unreadable_id',
] as const;
const gapReason = z.enum(gapReasons);
export type GapReason = (typeof gapReasons)[number];

/** So many customers or rows of a roster cannot be screened as it stands, and so many of them somebody has accepted. */
export interface CoverageGap {
  reason: GapReason;
  count: number;
  accepted: number;
}

/** One of them; `reference` is null for all rows without a readable id together. */
export interface OpenGap {
  reason: GapReason;
  reference: string | null;
  rows: number | null;
}

/** What somebody accepts: who, why, and until which day (`yyyy-mm-dd`, UTC, that day included). */
export interface CoverageException {
  until: string;
  acceptedBy: string;
  isAttested: boolean;
  because: string;
  acceptedAt: Date;
}

/** SQL: the gaps of roster $1 one by one, each with whether an exception holds for it on the day of $2. */
const eachGapSql = `
  select gap.reason, gap.reference, null::integer as rows, exists (
    select from coverage_exception exception
    where exception.roster_id = $1 and exception.reference = gap.reference and exception.reason = gap.reason
      and exception.until >= ($2::timestamptz at time zone 'UTC')::date
  ) as is_accepted
  from (${gapsSql('$1')}) gap
  union all
  -- A part of a roster mends no row of the whole one before it.
  select 'unreadable_id', null, unreadable.rows, exists (
    select from coverage_exception exception
    where exception.roster_id = $1 and exception.reason = 'unreadable_id' and exception.rows >= unreadable.rows
      and exception.until >= ($2::timestamptz at time zone 'UTC')::date
  )
  from (
    select sum(unreadable_ids)::integer as rows from roster_import
    where roster_id = $1 and import_id >= coalesce((
      select max(import_id) from roster_import where roster_id = $1 and not is_delta
    ), 0)
  ) unreadable
  where unreadable.rows > 0`;

/** Why customers of a roster cannot be screened as it stands, and for how many of them an exception holds at a moment. */
export async function readCoverageGaps(
  database: Queryable,
  rosterId: number,
  now: Date,
): Promise<readonly CoverageGap[]> {
  return database.query(
    z.object({ reason: gapReason, count: z.number(), accepted: z.number() }),
    `select reason, sum(coalesce(rows, 1))::integer as count,
       coalesce(sum(coalesce(rows, 1)) filter (where is_accepted), 0)::integer as accepted
     from (${eachGapSql}) gap group by reason order by reason`,
    [rosterId, now],
  );
}

/** How many customers who cannot be screened somebody has accepted; rows without a readable id are no customers. */
export const countAccepted = (gaps: readonly CoverageGap[]): number =>
  gaps.reduce((sum, gap) => sum + (gap.reason === 'unreadable_id' ? 0 : gap.accepted), 0);

/** The gaps of a roster for which no exception holds at a moment. */
export async function listOpenGaps(database: Queryable, rosterId: number, now: Date): Promise<readonly OpenGap[]> {
  return database.query(
    z.object({ reason: gapReason, reference: z.string().nullable(), rows: z.number().nullable() }),
    `select reason, reference, rows from (${eachGapSql}) gap where not is_accepted
     order by reference collate "C" nulls last, reason`,
    [rosterId, now],
  );
}

/** Notes exceptions for these gaps. */
export async function saveCoverageExceptions(
  transaction: Queryable,
  rosterId: number,
  gaps: readonly OpenGap[],
  exception: CoverageException,
): Promise<void> {
  const { until, acceptedBy, isAttested, because, acceptedAt } = exception;
  await transaction.execute(
    `insert into coverage_exception (roster_id, reason, reference, rows, until, accepted_by, is_attested, because, accepted_at)
     select $1::bigint, reason, reference, rows, $3::date, $4, $5, $6, $7
     from jsonb_to_recordset($2::text::jsonb) as gap (reason text, reference text, rows integer)`,
    [rosterId, JSON.stringify(gaps), until, acceptedBy, isAttested, because, acceptedAt],
  );
}
