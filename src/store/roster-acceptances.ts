import { z } from 'zod';
import type { RosterAcceptanceFacts } from '../reports/accepted-facts.js';
import type { Queryable } from './database.js';

const acceptanceRow = z.object({
  acceptedBy: z.string(),
  isAttested: z.boolean(),
  reason: z.string(),
  acceptedAt: z.date(),
  heldBy: z.array(z.object({ guard: z.string(), message: z.string() })),
}) satisfies z.ZodType<RosterAcceptanceFacts>;

/** Notes who has taken a run's roster against which guards, and why. */
export async function saveRosterAcceptance(
  transaction: Queryable,
  runId: number,
  acceptance: RosterAcceptanceFacts,
): Promise<void> {
  const { acceptedBy, isAttested, reason, acceptedAt } = acceptance;
  const heldBy = acceptance.heldBy.map(({ guard, message }) => ({ guard, message }));
  await transaction.execute(
    `insert into roster_acceptance (run_id, accepted_by, is_attested, reason, accepted_at, held_by)
     values ($1, $2, $3, $4, $5, $6::text::jsonb)`,
    [runId, acceptedBy, isAttested, reason, acceptedAt, JSON.stringify(heldBy)],
  );
}

/** Who took the roster that a run went by against its guards: for the run itself, and for the import that it went by. */
export async function readRosterAcceptances(
  database: Queryable,
  runId: number,
): Promise<readonly RosterAcceptanceFacts[]> {
  return database.query(
    acceptanceRow,
    `select accepted_by as "acceptedBy", is_attested as "isAttested", reason, accepted_at as "acceptedAt", held_by as "heldBy"
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
