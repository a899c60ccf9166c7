import { z } from 'zod';
import type { CustomerRecordFacts, RosterAcceptanceFacts, RosterChangeFacts } from '../reports/accepted-facts.js';
import type { Queryable } from './database.js';
import { withoutNul } from './roster-staging.js';
import type { StagedImport } from './settle-staging.js';

const record = z.object({
  name: z.string(),
  type: z.string(),
  birthDate: z.string().nullable(),
  countries: z.array(z.string()),
  parties: z.array(z.string()),
}) satisfies z.ZodType<CustomerRecordFacts>;
const heldBy = z.array(z.object({ guard: z.string(), message: z.string() }));
const changes = z.array(z.object({ reference: z.string(), before: record, after: record })) satisfies z.ZodType<
  readonly RosterChangeFacts[]
>;
const acceptanceRow = z.object({
  acceptedBy: z.string(),
  isAttested: z.boolean(),
  reason: z.string(),
  acceptedAt: z.date(),
  heldBy,
  changes,
}) satisfies z.ZodType<RosterAcceptanceFacts>;

/** Notes who has taken a run's roster against which guards, and why. */
export async function saveRosterAcceptance(
  transaction: Queryable,
  runId: number,
  acceptance: RosterAcceptanceFacts,
): Promise<void> {
  const { acceptedBy, isAttested, reason, acceptedAt } = acceptance;
  await transaction.execute(
    `insert into roster_acceptance (run_id, accepted_by, is_attested, reason, accepted_at, held_by, changes)
     values ($1, $2, $3, $4, $5, $6::text::jsonb, $7::text::jsonb)`,
    [runId, acceptedBy, isAttested, reason, acceptedAt, toGuardsJson(acceptance), toChangesJson(acceptance)],
  );
}

/** The first changes that somebody accepted with a run's own roster. */
export async function readAcceptedChanges(database: Queryable, runId: number): Promise<readonly RosterChangeFacts[]> {
  const rows = await database.query(
    z.object({ changes }),
    'select changes from roster_acceptance where run_id = $1 order by acceptance_id',
    [runId],
  );
  return rows.flatMap((accepted) => accepted.changes);
}

type Found = Pick<RosterAcceptanceFacts, 'heldBy' | 'changes'>;
const toGuardsJson = (found: Found): string =>
  JSON.stringify(found.heldBy.map(({ guard, message }) => ({ guard, message })));
const toChangesJson = (found: Found): string => withoutNul(JSON.stringify(found.changes));

/** A roster that guards held while its run went on with the last accepted one. */
export interface RosterHold extends Found {
  source: string;
  sourceDigest: string;
  /** Its ids of which no accepted roster has a record. */
  newIds: number;
  /** What to type to take it all the same. */
  command: string;
}

/** Notes that guards held a run's roster, and that the run goes on with the last accepted one. */
export async function saveRosterHold(
  transaction: Queryable,
  { runId, rosterId }: StagedImport,
  hold: RosterHold & { heldAt: Date },
): Promise<void> {
  const { source, sourceDigest, heldAt, newIds, command } = hold;
  await transaction.execute(
    `insert into roster_hold (run_id, roster_id, source, source_digest, held_at, new_ids, held_by, changes, command)
     values ($1, $2, $3, $4, $5, $6, $7::text::jsonb, $8::text::jsonb, $9)`,
    [runId, rosterId, source, sourceDigest, heldAt, newIds, toGuardsJson(hold), toChangesJson(hold), command],
  );
}

/** The roster that guards held in this run; null where none was. */
export async function readRosterHold(database: Queryable, runId: number): Promise<RosterHold | null> {
  const rows = await database.query(
    z.object({
      source: z.string(),
      sourceDigest: z.string(),
      newIds: z.number(),
      command: z.string(),
      heldBy,
      changes,
    }),
    `select source, source_digest as "sourceDigest", new_ids as "newIds", command, held_by as "heldBy", changes
     from roster_hold where run_id = $1 order by hold_id desc limit 1`,
    [runId],
  );
  return rows[0] ?? null;
}

/** Who took the roster that a run went by against its guards: for the run itself, and for the import that it went by. */
export async function readRosterAcceptances(
  database: Queryable,
  runId: number,
): Promise<readonly RosterAcceptanceFacts[]> {
  return database.query(
    acceptanceRow,
    `select accepted_by as "acceptedBy", is_attested as "isAttested", reason, accepted_at as "acceptedAt", held_by as "heldBy", changes
     from roster_acceptance
     where run_id in (
       select $1::bigint
       union all
       (select roster_import.run_id from roster_import join run on run.run_id = $1 and run.roster_id = roster_import.roster_id
        where roster_import.run_id <= $1 order by import_id desc limit 1)
     )
     order by acceptance_id`,
    [runId],
  );
}
