import { z } from 'zod';
import type { FactMapping } from '../../roster/compare-records.js';
import type { ColumnDoubts, DoubtedRow } from '../../roster/doubts.js';
import type { RosterChanges } from '../../roster/field-changes.js';
import { type Queryable, readValue, requireAll } from '../database/database.js';
import { insertInto, rawSql, type Sql, sql, toJsonText } from '../database/statement.js';
import { type SnapshotCounts, saveAttendance } from './figures.js';
import { clearStaging, countOnTheWay, requireStaged, type StagedImport, takeRoom } from './staging.js';

/** SQL: the parties of the new and changed records of a run. */
const toPartiesSql = (runId: number): Sql => sql`
  (select * from roster_step where run_id = ${runId}) step
  cross join jsonb_array_elements(step.record -> 'parties') with ordinality as slot (party, place)`;

/**
 * Merges a compared snapshot into the roster in one transaction: new customers, new versions of changed ones, their parties, absence, rejects. A
 * rejected row with a known id keeps the last accepted record in scope. Throws StoreError, with nothing changed, when a row of any kind would
 * be lost.
 */
export async function mergeSnapshot(
  transaction: Queryable,
  origin: ImportOrigin,
  { counts, onTheWay }: { counts: SnapshotCounts; onTheWay: Awaited<ReturnType<typeof countOnTheWay>> },
): Promise<void> {
  await takeRoom(transaction);
  const found = await countOnTheWay(transaction, origin.runId);
  requireStaged(found.rows + found.steps, onTheWay.rows + onTheWay.steps);
  const importId = await insertImport(transaction, origin, counts);
  await saveRejects(transaction, origin, importId, counts);
  if (origin.doubted.length > 0) await saveDoubts(transaction, origin, importId);
  await saveCustomers(transaction, origin, importId, counts);
  await saveVersions(transaction, origin, importId, counts);
  await saveAttendance(transaction, origin, importId, counts);
  await saveRequests(transaction, origin);
  await saveParties(transaction, origin);
  await noteDroppedParties(transaction, origin, importId);
  if (counts.joined + counts.changed > 0) {
    await transaction.execute('analyze customer, customer_version (customer_id, version, import_id, risk_tier), party');
  }
  await saveUnaccepted(transaction, origin);
  await saveUnreadableParties(transaction, origin);
  await clearStaging(transaction, origin.runId);
}

function insertImport(transaction: Queryable, origin: ImportOrigin, counts: SnapshotCounts): Promise<number> {
  const { runId, rosterId, source, sourceDigest, importedAt, isDelta, headers } = origin;
  const { overriddenGuards, partyHeaders, unmappedNames, controlTotal } = origin;
  const { newlyAbsent: _absent, otherRoles: _others, leaversByRow: _leavers, ...sums } = counts;
  const row = {
    runId,
    rosterId,
    source,
    sourceDigest,
    importedAt,
    isDelta,
    headers,
    overriddenGuards,
    partyHeaders,
    unmappedNames,
    controlTotal,
    doubts: origin.doubts,
    mapping: origin.mapping,
    changes: origin.changes,
    ...sums,
  };
  return readValue(transaction, z.number(), sql`${insertInto('roster_import', [row])} returning import_id`);
}

async function saveRejects(
  transaction: Queryable,
  origin: ImportOrigin,
  importId: number,
  { rejected, partyRejected }: SnapshotCounts,
): Promise<void> {
  const saved = await transaction.execute(sql`
    insert into roster_row (import_id, ordinal, line, file, column_name, reason, value_class, reference, fields, is_party)
    select ${importId}::bigint, ordinal, line, file, reject_column, reject_reason, value_class, reference,
      case when texts is null then coalesce(fields, '{}') else json_object(${origin.headers}::text[], texts) end, is_party
    from roster_staging
    where run_id = ${origin.runId} and reject_reason is not null`);
  requireAll(saved, rejected + partyRejected, 'rejected rows');
}

/** Repeating and contradicting rows are counted as such, so their doubts are not stored. */
async function saveDoubts(transaction: Queryable, { runId, doubted }: ImportOrigin, importId: number): Promise<void> {
  await transaction.execute(sql`
    insert into roster_row (import_id, ordinal, line, file, reference, doubts, fields, is_party)
    select ${importId}::bigint, ordinal, line, file, reference, doubts, fields, "isParty"
    from json_to_recordset(${toJsonText(doubted)}::text::json) as row (
      ordinal integer, line integer, file text, reference text, doubts jsonb, fields json, "isParty" boolean
    )
    where not exists (
      select from roster_staging staged
      where staged.run_id = ${runId} and staged.ordinal = row.ordinal and (staged.reject_reason is not null or staged.is_repetition)
    )`);
}

async function saveCustomers(
  transaction: Queryable,
  { runId, rosterId }: ImportOrigin,
  importId: number,
  { joined, changed }: SnapshotCounts,
): Promise<void> {
  // In the order of their rows.
  const saved = await transaction.execute(sql`
    insert into customer (roster_id, reference, version, record_digest, own_digest, first_import_id)
    select ${rosterId}, reference, 1, record_digest, own_digest, ${importId}
    from roster_step where run_id = ${runId} and kind = 'new'
    order by ordinal, reference`);
  requireAll(saved, joined, 'new customers');
  const updated = await transaction.execute(sql`
    update customer set version = customer.version + 1, record_digest = step.record_digest, own_digest = step.own_digest
    from roster_step step
    where step.run_id = ${runId} and step.kind = 'changed' and step.customer_id = customer.customer_id`);
  requireAll(updated, changed, 'changed customers');
}

async function saveVersions(
  transaction: Queryable,
  { runId, rosterId }: ImportOrigin,
  importId: number,
  { joined, changed }: SnapshotCounts,
): Promise<void> {
  const saved = await transaction.execute(sql`
    insert into customer_version (customer_id, version, import_id, risk_tier, record, changed_fields)
    select customer.customer_id, customer.version, ${importId}, step.record ->> 'riskTier', step.record,
      case when step.kind = 'changed' then ${changedFieldsSql('former.record', 'step.record')} end
    from roster_step step
    join customer on customer.roster_id = ${rosterId} and customer.reference = step.reference
    left join customer_version former on former.customer_id = step.customer_id and former.version = step.version
    where step.run_id = ${runId} and step.kind in ('new', 'changed')
    order by customer.customer_id`);
  requireAll(saved, joined + changed, 'records');
}

/** Stores the new requests, in the order of the rows that need them first. */
async function saveRequests(transaction: Queryable, { runId, organisationId }: ImportOrigin): Promise<void> {
  const saved = await transaction.execute(sql`
    insert into screening_request (organisation_id, type, name)
    select ${organisationId}, type, name
    from (
      select slot.party ->> 'type' as type, slot.party ->> 'sentName' as name, min(step.ordinal) as ordinal
      from ${toPartiesSql(runId)}
      where slot.party <> 'null'
      group by 1, 2
    ) wanted
    order by ordinal, name, type
    on conflict (organisation_id, name, type) do nothing`);
  if (saved > 0) await transaction.execute('analyze screening_request (organisation_id, type, name)');
}

const toScreenedFacts = (facts: string): Sql =>
  rawSql(
    `jsonb_build_array(${facts} -> 'type', ${facts} -> 'sentName', ${facts} -> 'birthDate', ${facts} -> 'countries')`,
  );

/** The number of different requests for the new facts of new and changed customers of a compared snapshot, without offboarded ones. */
export async function countNewRequests(transaction: Queryable, runId: number): Promise<number> {
  return readValue(
    transaction,
    z.number(),
    sql`select count(distinct (slot.party ->> 'type', slot.party ->> 'sentName'))::integer as requests
     from ${toPartiesSql(runId)}
     left join customer_version known on known.customer_id = step.customer_id and known.version = step.version
     cross join lateral (select known.record -> 'parties' -> (slot.place::integer - 1) as party) former
     where step.kind in ('new', 'changed') and step.leaves is null and slot.party <> 'null'
       and (former.party is null or ${toScreenedFacts('former.party')} <> ${toScreenedFacts('slot.party')})`,
  );
}

/** Stores the parties of new and changed customers with their requests. Throws StoreError when one would be lost. */
async function saveParties(transaction: Queryable, origin: ImportOrigin): Promise<void> {
  const { runId, rosterId, organisationId } = origin;
  const countSql = sql`select count(*)::integer as parties from ${toPartiesSql(runId)} where slot.party <> 'null'`;
  const expected = await readValue(transaction, z.number(), countSql);
  const saved = await transaction.execute(sql`
    insert into party (customer_id, ordinal, request_id, is_current)
    select customer.customer_id, slot.place - 1, request.request_id, true
    from ${toPartiesSql(runId)}
    join customer on customer.roster_id = ${rosterId} and customer.reference = step.reference
    join screening_request request on request.organisation_id = ${organisationId} and request.type = slot.party ->> 'type'
      and request.name = slot.party ->> 'sentName'
    where slot.party <> 'null'
    order by customer.customer_id, slot.place
    on conflict (customer_id, ordinal) do update set request_id = excluded.request_id, is_current = true`);
  requireAll(saved, expected);
}

/** Ends the parties that changed customers no longer have, and stores those with an open state with the import. */
async function noteDroppedParties(transaction: Queryable, { runId }: ImportOrigin, importId: number): Promise<void> {
  await transaction.execute(sql`
    with dropped as (
      update party set is_current = false
      from roster_step step
      where step.run_id = ${runId} and step.kind = 'changed' and party.customer_id = step.customer_id and party.is_current
        and coalesce(step.record -> 'parties' -> party.ordinal::integer, 'null') = 'null'
      returning party.party_id, step.version
    )
    update roster_import set dropped_parties = (
      select coalesce(jsonb_agg(jsonb_build_object(
        'partyId', dropped.party_id, 'accountId', party.account_id, 'customerVersion', dropped.version, 'state', state
      ) order by dropped.party_id, party.account_id), '[]')
      from dropped join party_standing party on party.party_id = dropped.party_id and party.account_id is not null
      cross join lateral (
        select case
          when party.is_true_match then 'true_match'
          when party.waiting > 0 then 'open_alert'
          else party.answer_state
        end as state
      ) attendance
      where state in ('open_alert', 'truncated', 'true_match')
    )
    where import_id = ${importId}`);
}

/** The condition of a JSON path for a party from a source of related parties. */
const relatedPath = '@.role != "customer" && @.role != "alias" && @.role != "conflicting_row"';

/** SQL: the roster has a customer with this reference, possibly only from contradicting rows. */
const toKnownSql = (rosterId: number, reference: string): Sql => sql`exists (
  select from customer known where known.roster_id = ${rosterId} and known.reference = ${rawSql(reference)}
)`;

/**
 * Stores the ids of a merged snapshot without any accepted record: such customers cannot be screened. Ids that have a
 * record now, or that a whole snapshot no longer names, are deleted.
 */
async function saveUnaccepted(transaction: Queryable, origin: ImportOrigin): Promise<void> {
  const { runId, rosterId, isDelta, importedAt } = origin;
  await transaction.execute(sql`
    delete from unaccepted_customer unaccepted
    where roster_id = ${rosterId} and (
      ${toKnownSql(rosterId, 'unaccepted.reference')}
      or not ${isDelta} and not exists (
        select from roster_staging staged
        where staged.run_id = ${runId} and staged.reference = unaccepted.reference and staged.reject_reason is not null
          and not staged.is_party
      )
    )`);
  await transaction.execute(sql`
    insert into unaccepted_customer (roster_id, reference, reason, since, run_id)
    select ${rosterId}::bigint, reference, 'row_rejected', ${importedAt}, ${runId}::bigint
    from (
      select distinct reference from roster_staging
      where run_id = ${runId} and reject_reason is not null and reference is not null and not is_party
    ) named
    where not ${toKnownSql(rosterId, 'named.reference')}
    on conflict (roster_id, reference) do update set reason = excluded.reason, run_id = excluded.run_id`);
}

/**
 * Marks the customers with an unreadable related party: more unreadable rows than known parties without another row
 * mean that one of them was never known. The mark ends when no unreadable row may concern the customer.
 */
async function saveUnreadableParties(transaction: Queryable, origin: ImportOrigin): Promise<void> {
  const { runId, rosterId, isDelta, importedAt } = origin;
  await transaction.execute(sql`
    with named as materialized (
      select reference, count(distinct fields::text) filter (where reject_reason is not null) as unreadable,
        count(distinct party) filter (where reject_reason is null) as readable
      from roster_staging
      where run_id = ${runId} and is_party and reference is not null and reject_reason is distinct from 'unknown_customer'
      group by reference
    ),
    assessed as (
      select customer.customer_id, named.unreadable > (
        select count(*) from jsonb_path_query(latest.record, '$.parties[*] ? (${rawSql(relatedPath)})')
      ) - named.readable or customer.unreadable_party_since is not null as is_unreadable
      from named
      join customer on customer.roster_id = ${rosterId} and customer.reference = named.reference
      join customer_version latest on latest.customer_id = customer.customer_id and latest.version = customer.version
      where named.unreadable > 0
    )
    update customer set unreadable_party_since = coalesce(unreadable_party_since, ${importedAt})
    from assessed where assessed.customer_id = customer.customer_id and assessed.is_unreadable`);
  await transaction.execute(sql`
    update customer set unreadable_party_since = null
    where roster_id = ${rosterId} and unreadable_party_since is not null
      and not exists (
        select from roster_staging party
        where party.run_id = ${runId} and party.is_party and party.reject_reason <> 'not_a_customer'
          and (party.reference is null or party.reference = customer.reference and party.reject_reason <> 'unknown_customer')
      )
      and (not ${isDelta} or exists (
        select from roster_staging party
        where party.run_id = ${runId} and party.is_party and party.reference = customer.reference
      ))`);
}

/** Sorted and without source texts: another order or spelling is no change. */
const rolesSql = (record: string, roles: string): string =>
  `(select jsonb_agg(party - 'said' order by party - 'said') from jsonb_path_query(${record}, '$.parties[*] ? (${roles})') as party)`;

const aliases = '@.role == "alias"';

const conflicting = '@.role == "conflicting_row"';

function changedFieldsSql(before: string, after: string): Sql {
  const own = (key: string) => (record: string) => `${record} #> '{parties,0,${key}}'`;
  const parts: readonly (readonly [string, (record: string) => string])[] = [
    // A newer version may normalise names differently, so the sent name is compared as well.
    ['name', (record) => `jsonb_build_array(${own('name')(record)}, ${own('sentName')(record)})`],
    ['type', own('type')],
    ['birth_date', own('birthDate')],
    ['countries', own('countries')],
    ['risk_tier', (record) => `${record} -> 'riskTier'`],
    ['aliases', (record) => rolesSql(record, aliases)],
    ['related_parties', (record) => rolesSql(record, relatedPath)],
    ['conflicting_rows', (record) => rolesSql(record, conflicting)],
    ['standing', (record) => `${record} -> 'isActive'`],
    ['end_date', (record) => `${record} -> 'endDate'`],
    ['attributes', (record) => `${record} -> 'attributes'`],
    ['doubts', (record) => `${record} -> 'doubts'`],
  ];
  const cases = parts.map(([field, of]) => `case when ${of(before)} is distinct from ${of(after)} then '${field}' end`);
  return rawSql(`array_remove(array[${cases.join(', ')}], null)`);
}

interface ImportOrigin extends StagedImport {
  organisationId: number;
  source: string;
  sourceDigest: string;
  importedAt: Date;
  headers: readonly string[];
  partyHeaders: readonly string[];
  leaveAfterDays: number;
  overriddenGuards: readonly string[];
  unmappedNames: readonly string[];
  doubts: readonly ColumnDoubts[];
  doubted: readonly DoubtedRow[];
  /** The settings of each fact that no search sends. */
  mapping: FactMapping;
  /** Null for a first import. */
  changes: RosterChanges | null;
  /** The row count that the source states. */
  controlTotal?: number | null;
}
