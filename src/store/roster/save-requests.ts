import { z } from 'zod';
import {
  DatabaseError,
  firstRow,
  type Queryable,
  readValue,
  requireAll,
  type Transaction,
} from '../database/database.js';
import { plainSql, takeRoom } from './staging.js';

/** The plain rows of a staged snapshot. */
export interface PlainCounts {
  customers: number;
  /** Those with more than one party. */
  several: number;
}

interface RequestOrigin {
  runId: number;
  organisationId: number;
  isFirst: boolean;
  /** In a first snapshot, a row's request gets this number plus the row's ordinal, unless its name is already known or comes from another row. */
  lastRequestId: number;
}

const uniqueViolation = '23505';

const toSeveralRequestsSql = (rows: string): string => `
  select party ->> 'type' as type, party ->> 'sentName' as name from (
    select record from roster_staging join roster_record using (run_id, ordinal) where ${rows} and parties > 1 offset 0
  ) several, jsonb_array_elements(several.record -> 'parties') as party`;
const severalRequestsSql = toSeveralRequestsSql(plainSql);

const toPlainRequestsSql = (rows: string): string => `
  select type, sent_name as name from roster_staging where ${rows}
  union all ${toSeveralRequestsSql(rows)}`;

const stepRequestsSql = `
  select party ->> 'type' as type, party ->> 'sentName' as name
  from roster_step step, jsonb_array_elements(step.record -> 'parties') as party
  where step.run_id = $1 and party <> 'null'`;

/**
 * Stores the requests of a compared snapshot, each once, and notes the rows of a first snapshot that share one. Requests have no effect until a party uses them, so they may be stored outside the import's transaction.
 */
export async function saveRequests(
  write: <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T>,
  origin: RequestOrigin,
  plain: PlainCounts,
): Promise<void> {
  try {
    await write((transaction) => insertRequests(transaction, origin, plain, ''));
  } catch (error) {
    if (!(error instanceof DatabaseError && error.sqlState === uniqueViolation)) throw error;
    // A concurrent import stored one of them. Always tolerating this would take a third longer.
    await write((transaction) =>
      insertRequests(transaction, origin, plain, 'on conflict (organisation_id, name, type) do nothing'),
    );
  }
}

async function insertRequests(transaction: Queryable, origin: RequestOrigin, plain: PlainCounts, onConflict: string) {
  await takeRoom(transaction);
  const { runId, organisationId, isFirst } = origin;
  const own = isFirst ? await insertOwnRequests(transaction, origin, onConflict) : 0;
  const wanted = isFirst && plain.several > 0 ? `${severalRequestsSql} union all ${stepRequestsSql}` : stepRequestsSql;
  const others = await transaction.execute(
    `insert into screening_request (organisation_id, type, name)
     select $2, type, name from (select distinct type, name from (${wanted}) wanted) wanted
     where ${isUnknownSql}
     order by name, type
     ${onConflict}`,
    [runId, organisationId],
  );
  if (own + others > 0) await transaction.execute('analyze screening_request (organisation_id, type, name)');
  if (own < plain.customers) await noteSharedRequests(transaction, origin, plain.customers - own);
}

const isUnknownSql = `
  not exists (
    select from screening_request known
    where known.organisation_id = $2 and known.type = wanted.type and known.name = wanted.name
  )`;

/** Sorted by name, so that the index grows at its end. The row's ordinal finds each request again without a search for the name. */
async function insertOwnRequests(
  transaction: Queryable,
  { runId, organisationId, lastRequestId }: RequestOrigin,
  onConflict: string,
): Promise<number> {
  const found = await transaction.query(
    z.object({ anyKnown: z.boolean() }),
    'select exists (select from screening_request where organisation_id = $1) as any_known',
    [organisationId],
  );
  const { anyKnown } = firstRow(found, 'screening_request');
  return transaction.execute(
    `insert into screening_request (request_id, organisation_id, type, name) overriding system value
     select $3::bigint + ordinal, $2, type, name
     from (
       select distinct on (sent_name, type) ordinal, type, sent_name as name
       from roster_staging where ${plainSql} order by sent_name, type
     ) wanted
     ${anyKnown ? `where ${isUnknownSql}` : ''}
     order by name, type
     ${onConflict}`,
    [runId, organisationId, lastRequestId],
  );
}

async function noteSharedRequests(
  transaction: Queryable,
  { runId, organisationId, lastRequestId }: RequestOrigin,
  expected: number,
): Promise<void> {
  const noted = await transaction.execute(
    `update roster_staging staged set request_id = request.request_id
     from screening_request request
     where ${plainSql} and request.organisation_id = $2 and request.type = staged.type and request.name = staged.sent_name
       and not exists (select from screening_request own where own.request_id = $3::bigint + staged.ordinal)`,
    [runId, organisationId, lastRequestId],
  );
  requireAll(noted, expected);
}

const screenedFactsSql = (facts: string): string =>
  `jsonb_build_array(${facts} -> 'type', ${facts} -> 'sentName', ${facts} -> 'birthDate', ${facts} -> 'countries')`;

/** SQL: the requests of new customers and of new facts of changed ones, without offboarded customers. */
const newStepRequestsSql = `
  select slot.party ->> 'type' as type, slot.party ->> 'sentName' as name
  from roster_step step
  cross join jsonb_array_elements(step.record -> 'parties') with ordinality as slot (party, place)
  left join customer_version former on former.customer_id = step.customer_id and former.version = step.version
  where step.run_id = $1 and step.kind in ('new', 'changed') and step.leaves is null and slot.party <> 'null'
    and (
      step.kind = 'new'
      or former.record -> 'parties' -> (slot.place::integer - 1) is null
      or ${screenedFactsSql("(former.record -> 'parties' -> (slot.place::integer - 1))")} <> ${screenedFactsSql('slot.party')}
    )`;

/** The number of different requests for the new and changed customers of a compared snapshot. */
export async function countNewRequests(
  transaction: Queryable,
  { runId, isFirst }: { runId: number; isFirst: boolean },
): Promise<number> {
  const staying = `${plainSql} and leaves is null`;
  const wanted = isFirst ? `${toPlainRequestsSql(staying)} union all ${newStepRequestsSql}` : newStepRequestsSql;
  return readValue(
    transaction,
    z.number(),
    `select count(*)::integer as requests from (select distinct type, name from (${wanted}) wanted) wanted`,
    [runId],
  );
}
