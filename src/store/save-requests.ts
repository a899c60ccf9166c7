import { DatabaseError, type Queryable, type Transaction } from './database.js';
import { plainSql } from './settle-staging.js';

/** Whose requests are to be stored. */
export interface RequestOrigin {
  runId: number;
  organisationId: number;
  isFirst: boolean;
}

const uniqueViolation = '23505';

/** SQL: what the parties of a first snapshot's rows that stand by themselves have sent for them. */
export const plainRequestsSql = `
  select type, sent_name as name from roster_staging where ${plainSql}
  union all
  select party ->> 'type', party ->> 'sentName' from (
    select record from roster_staging where ${plainSql} and parties > 1 offset 0
  ) several, jsonb_array_elements(several.record -> 'parties') as party`;

/** SQL: the same of new and changed customers. */
export const stepRequestsSql = `
  select party ->> 'type' as type, party ->> 'sentName' as name
  from roster_step step, jsonb_array_elements(step.record -> 'parties') as party
  where step.run_id = $1 and party <> 'null'`;

/**
 * Stores what is sent for the parties of a settled snapshot, each request once. They count for nothing until a party has them, so they may
 * be stored beside the import's own transaction.
 */
export async function saveRequests(
  write: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  origin: RequestOrigin,
): Promise<void> {
  try {
    await write((transaction) => insertRequests(transaction, origin, ''));
  } catch (error) {
    if (!(error instanceof DatabaseError && error.sqlState === uniqueViolation)) throw error;
    // Somebody else has stored one of them meanwhile. To be ready for it each time would take a third longer.
    await write((transaction) =>
      insertRequests(transaction, origin, 'on conflict (organisation_id, type, name) do nothing'),
    );
  }
}

async function insertRequests(
  transaction: Queryable,
  { runId, organisationId, isFirst }: RequestOrigin,
  onConflict: string,
): Promise<void> {
  await transaction.execute("select set_config('work_mem', '256MB', true)");
  const wanted = isFirst ? `${plainRequestsSql} union all ${stepRequestsSql}` : stepRequestsSql;
  let saved = 0;
  // One type after the other, so that their index grows at one end and then at the other instead of at both by turns.
  for (const type of ['entity', 'person']) {
    saved += await transaction.execute(
      `insert into screening_request (organisation_id, type, name)
       select $2, type, name from (select distinct type, name from (${wanted}) wanted) wanted
       where type = $3 and not exists (
         select from screening_request known
         where known.organisation_id = $2 and known.type = wanted.type and known.name = wanted.name
       )
       order by name
       ${onConflict}`,
      [runId, organisationId, type],
    );
  }
  if (saved > 0) await transaction.execute('analyze screening_request (organisation_id, type, name)');
  if (!isFirst) return;
  // Found here, beside the import's own transaction, and in the order of the rows, so that the indexes grow at their end.
  await transaction.execute(
    `insert into roster_request (run_id, ordinal, request_id)
     select $1, staged.ordinal, request.request_id
     from roster_staging staged
     join screening_request request on request.organisation_id = $2 and request.type = staged.type and request.name = staged.sent_name
     where ${plainSql}
     order by staged.ordinal`,
    [runId, organisationId],
  );
}
