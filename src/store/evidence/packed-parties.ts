import { z } from 'zod';
import { type Queryable, readColumn } from '../database/database.js';
import { sql } from '../database/statement.js';
import { screeningKindsSql } from '../row-shapes.js';
import { runIdSql } from '../runs.js';
import { type Moment, partyRow, type ShownParty, type ShownRun, shownAnswerSql } from './show.js';

/** The screening runs of a roster from one number on, before another one, whose plans and calls are in packs only, newest first. */
export const listPackedRuns = (
  database: Queryable,
  { rosterId, at }: Moment,
  { from, before }: { from: number; before: number | null },
): Promise<readonly number[]> =>
  readColumn(
    database,
    z.number(),
    sql`select run_id from run
     where roster_id = ${rosterId} and kind in (${screeningKindsSql}) and started_at <= ${at} and history_removed_at is not null
       and run_id >= ${from} and (${before}::bigint is null or run_id < ${before})
     order by run_id desc`,
  );

const packedNightRow = z.object({
  runId: z.number(),
  name: z.string(),
  /** Its last pack by the moment. */
  pack: z.number(),
  /** Whether answers of it counted at the moment, and are not too old for any customer. */
  isCounted: z.boolean(),
  isFresh: z.boolean(),
});

/**
 * The runs whose plans are in packs only, newest first, that say who was in scope of rosters at a moment: of each roster the newest one over all
 * customers, and those after it.
 */
export const readPackedNights = (database: Queryable, rosterIds: readonly number[], at: Date) =>
  database.query(
    packedNightRow,
    sql`select run.run_id, ${runIdSql('run')} as name, pack.number as pack,
       pack.applied_wave > 0 and not pack.is_held and run.state <> 'unbalanced' and (run.mode = 'test' or pack.proven_wave > 0) as is_counted,
       run.started_at + to_validity(coalesce((
         select min(hours.value::double precision) from jsonb_each_text(run.cadence -> 'hours') hours
       ), 24) * interval '1 hour') >= ${at} as is_fresh
     from run
     cross join lateral (
       select * from evidence_pack one where one.run_id = run.run_id and (one.queued_at <= ${at} or run.finished_at <= ${at}) order by one.number desc limit 1
     ) pack
     where run.roster_id = any (${rosterIds}) and run.kind in (${screeningKindsSql}) and run.started_at <= ${at}
       and run.history_removed_at is not null and run.run_id >= (
         select max(whole.run_id) from run whole
         where whole.roster_id = run.roster_id and whole.kind in (${screeningKindsSql}) and whole.started_at <= ${at}
           and whole.in_scope is not null and whole.selection is distinct from 'dirty'
       )
     order by run.run_id desc`,
  );

/** A party of a customer in a pack, with its calls as `[startedAt, endedAt, status, outcome, serviceRequestId]`. */
export interface PackedParty {
  party: number;
  ordinal: number;
  request: number;
  version: number;
  reason: string;
  outcome: string;
  because: string | null;
  answer: number | null;
  calls: readonly unknown[];
}

/** The parties that a pack has of a customer, with their names and answers; only these, unless null. */
export const readPackedParties = (
  database: Queryable,
  { mode, provenWave, appliedWave, isHeld }: ShownRun,
  { customerId, at }: Moment,
  packed: readonly PackedParty[],
  partyIds: readonly number[] | null,
): Promise<readonly ShownParty[]> =>
  database.query(
    partyRow,
    sql`select one.party as party_id, version.record -> 'parties' -> one.ordinal ->> 'role' as role, request.type, request.name,
       one.version as customer_version, one.reason, one.outcome, one.because,
       ${appliedWave > 0 && !isHeld}::boolean as is_applied, ${mode === 'test' || provenWave > 0}::boolean as is_proven,
       null as reused_from, case when one.answer is not null then (one.calls -> -1 ->> 1)::timestamptz end as answered_at, calls.made as calls,
       ${shownAnswerSql('one.answer')} as answer
     from jsonb_to_recordset(${JSON.stringify(packed)}::text::jsonb) as one (
       party bigint, ordinal integer, request bigint, version integer, reason text, outcome text, because text, answer bigint, calls jsonb
     )
     join screening_request request on request.request_id = one.request
     join customer_version version on version.customer_id = ${customerId} and version.version = one.version
     cross join lateral (
       select coalesce(jsonb_agg(jsonb_build_object(
         'startedAt', call -> 0, 'endedAt', call -> 1, 'status', call -> 2, 'outcome', call -> 3, 'serviceRequestId', call -> 4
       ) order by place), '[]') as made
       from jsonb_array_elements(one.calls) with ordinality as made (call, place)
       where (call ->> 0)::timestamptz <= ${at}
     ) calls
     where ${partyIds}::bigint[] is null or one.party = any (${partyIds})
     order by one.ordinal`,
  );
