import { z } from 'zod';
import type { FactMapping } from '../../roster/compare-records.js';
import type { ColumnDoubts, DoubtedRow } from '../../roster/doubts.js';
import type { RosterChanges } from '../../roster/field-changes.js';
import { firstRow, type Queryable, readValue, requireAll, toInsert } from '../database/database.js';
import { type SnapshotCounts, saveAttendance } from './figures.js';
import type { PlainCounts } from './save-requests.js';
import {
  clearStaging,
  countOnTheWay,
  fieldSeparator,
  plainSql,
  requireStaged,
  rowSeparator,
  type StagedImport,
  takeRoom,
  toJson,
} from './staging.js';

/** Reserves blocks of customer and request numbers; gives the numbers before their first. */
export async function takeNumbers(transaction: Queryable, wanted: number) {
  // Only another import waits for this lock.
  await transaction.execute('lock table roster_import in share update exclusive mode');
  const rows = await transaction.query(
    z.object({ lastCustomerId: z.number(), lastRequestId: z.number() }),
    `select setval(customers, nextval(customers) + $1::bigint) - $1 as "lastCustomerId",
       setval(requests, nextval(requests) + $1::bigint) - $1 as "lastRequestId"
     from (values (pg_get_serial_sequence('customer', 'customer_id')::regclass, 'screening_request_block'::regclass)) as block (customers, requests)`,
    [wanted],
  );
  return firstRow(rows, 'block');
}

/**
 * Merges a compared snapshot into the roster in one transaction: new customers, new versions of changed ones, their parties, absence, rejects. A
 * rejected row with a known id keeps the last accepted record in scope. `requests` resolves once all requests are stored. Throws StoreError, with nothing changed, when a row of any kind would be lost.
 */
export async function mergeSnapshot(
  transaction: Queryable,
  origin: ImportOrigin,
  {
    counts,
    plain,
    onTheWay,
  }: { counts: SnapshotCounts; plain: PlainCounts; onTheWay: Awaited<ReturnType<typeof countOnTheWay>> },
  requests: Promise<void>,
): Promise<void> {
  await takeRoom(transaction);
  const found = await countOnTheWay(transaction, origin.runId);
  requireStaged(found.rows + found.steps, onTheWay.rows + onTheWay.steps);
  const importId = await insertImport(transaction, origin, counts);
  if (counts.rejected + counts.partyRejected > 0) await saveRejects(transaction, origin, importId, counts);
  if (origin.doubted.length > 0) await saveDoubts(transaction, origin, importId);
  await numberNewCustomers(transaction, origin);
  await saveCustomers(transaction, origin, importId, counts);
  await saveVersions(transaction, origin, importId, counts, plain.customers < counts.rows);
  await saveAttendance(transaction, origin, importId, counts);
  await awake(transaction, requests);
  await saveParties(transaction, origin, importId, plain);
  if (origin.isFirst || counts.joined + counts.changed > 0) {
    await transaction.execute('analyze customer, customer_version (customer_id, version, import_id, risk_tier), party');
  }
  await saveUnreadable(transaction, origin, origin.importedAt);
  await clearStaging(transaction, origin.runId);
}

const pollMs = 1_000;

/** Awaits work and sends a statement at intervals: the server ends a transaction that is idle for too long. */
async function awake(transaction: Queryable, work: Promise<void>): Promise<void> {
  const done = work.then(() => true);
  let timer: NodeJS.Timeout | undefined;
  for (;;) {
    const pause = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), pollMs);
    });
    try {
      if (await Promise.race([done, pause])) return;
    } finally {
      clearTimeout(timer);
    }
    await transaction.execute('select 1');
  }
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
    doubts: toJson(origin.doubts),
    mapping: toJson(origin.mapping),
    changes: origin.changes && toJson(origin.changes),
    ...sums,
  };
  return readValue(transaction, z.number(), ...toInsert('roster_import', row, 'returning import_id'));
}

async function saveRejects(
  transaction: Queryable,
  origin: ImportOrigin,
  importId: number,
  { rejected, partyRejected }: SnapshotCounts,
): Promise<void> {
  const saved = await transaction.execute(
    `insert into roster_row (import_id, ordinal, line, file, column_name, reason, value_class, reference, fields, is_party)
     select $2::bigint, ordinal, line, file, reject_column, reject_reason, value_class, reference,
       case when raw.fields is null then coalesce(rejected.fields, '{}'::json) else json_object($3::text[], raw.fields) end, is_party
     from roster_staging rejected
     -- The source texts of contradicting rows.
     left join (
       select place[1]::integer as ordinal, place[2:] as fields
       from roster_raw chunk
       cross join lateral string_to_table(chunk.rows, $5::text) as row (text)
       cross join lateral string_to_array(row.text, $4::text) as place
       where chunk.run_id = $1 and exists (
         select from roster_staging contradicted
         where contradicted.run_id = $1 and contradicted.reject_reason is not null and contradicted.record_digest is not null
           and contradicted.ordinal between chunk.first_ordinal and chunk.last_ordinal
       )
     ) raw using (ordinal)
     where run_id = $1 and reject_reason is not null`,
    [origin.runId, importId, [...origin.headers], fieldSeparator, rowSeparator],
  );
  requireAll(saved, rejected + partyRejected, 'rejected rows');
}

/** Repeating and contradicting rows are counted as such, so their doubts are not stored. */
async function saveDoubts(transaction: Queryable, { runId, doubted }: ImportOrigin, importId: number): Promise<void> {
  await transaction.execute(
    `insert into roster_row (import_id, ordinal, line, file, reference, doubts, fields, is_party)
     select $2::bigint, ordinal, line, file, reference, doubts, fields, "isParty"
     from json_to_recordset($3::text::json) as row (
       ordinal integer, line integer, file text, reference text, doubts jsonb, fields json, "isParty" boolean
     )
     where not exists (
       select from roster_staging staged
       where staged.run_id = $1 and staged.ordinal = row.ordinal and (staged.reject_reason is not null or staged.is_repetition)
     )`,
    [runId, importId, toJson(doubted)],
  );
}

/** A customer's number follows from the position of its row, so dependent rows need no lookup. */
async function numberNewCustomers(transaction: Queryable, { runId, lastCustomerId }: ImportOrigin): Promise<void> {
  await transaction.execute(
    `update roster_step step set customer_id = $2::bigint + numbered.place
     from (
       select reference, coalesce(ordinal, (select max(ordinal) from roster_staging where run_id = $1 and not is_party)
         + row_number() over (partition by ordinal is null order by reference)) as place
       from roster_step where run_id = $1 and kind = 'new'
     ) numbered
     where step.run_id = $1 and step.kind = 'new' and step.reference = numbered.reference`,
    [runId, lastCustomerId],
  );
}

async function saveCustomers(
  transaction: Queryable,
  origin: ImportOrigin,
  importId: number,
  { joined, changed }: SnapshotCounts,
): Promise<void> {
  const { runId, rosterId, importedAt, lastCustomerId, isFirst } = origin;
  const columns =
    'customer_id, roster_id, reference, version, record_digest, own_digest, first_import_id, left_at, left_because';
  const values = [runId, rosterId, importId, importedAt];
  let saved = 0;
  if (isFirst) {
    saved += await transaction.execute(
      `insert into customer (${columns}) overriding system value
       select $5::bigint + ordinal, $2, reference, 1, record_digest, null, $3, case when leaves is not null then $4::timestamptz end, leaves
       from roster_staging where ${plainSql}`,
      [...values, lastCustomerId],
    );
  }
  saved += await transaction.execute(
    `insert into customer (${columns}) overriding system value
     select customer_id, $2, reference, 1, record_digest, own_digest, $3, case when leaves is not null then $4::timestamptz end, leaves
     from roster_step where run_id = $1 and kind = 'new'
     order by customer_id`,
    values,
  );
  requireAll(saved, joined, 'new customers');
  const updated = await transaction.execute(
    `update customer set version = customer.version + 1, record_digest = step.record_digest, own_digest = step.own_digest
     from roster_step step
     where step.run_id = $1 and step.kind = 'changed' and step.customer_id = customer.customer_id`,
    [runId],
  );
  requireAll(updated, changed, 'changed customers');
}

async function saveVersions(
  transaction: Queryable,
  origin: ImportOrigin,
  importId: number,
  { joined, changed }: SnapshotCounts,
  isMixed: boolean,
): Promise<void> {
  let saved = 0;
  const columns = 'customer_id, version, import_id, risk_tier, record, changed_fields';
  if (origin.isFirst) {
    const notPlainSql = `
      select from roster_staging staged where staged.run_id = $1 and staged.ordinal = said.ordinal and not staged.is_plain`;
    saved += await transaction.execute(
      `insert into customer_version (${columns})
       select $3::bigint + ordinal, 1, $2, risk_tier, record, null
       from roster_record said
       where run_id = $1 ${isMixed ? `and not exists (${notPlainSql})` : ''}`,
      [origin.runId, importId, origin.lastCustomerId],
    );
  }
  saved += await transaction.execute(
    `insert into customer_version (${columns})
     select step.customer_id, 1, $2::bigint, step.record ->> 'riskTier', step.record, null
     from roster_step step where step.run_id = $1 and step.kind = 'new'
     union all
     select step.customer_id, step.version + 1, $2::bigint, step.record ->> 'riskTier', step.record, ${changedFieldsSql('former.record', 'step.record')}
     from roster_step step
     join customer_version former on former.customer_id = step.customer_id and former.version = step.version
     where step.run_id = $1 and step.kind = 'changed'
     order by 1`,
    [origin.runId, importId],
  );
  requireAll(saved, joined + changed, 'records');
}

/**
 * Stores the parties of new and changed customers with their requests. Throws StoreError when one would be lost. Dropped parties with
 * an open state are recorded.
 */
async function saveParties(
  transaction: Queryable,
  origin: ImportOrigin,
  importId: number,
  plain: PlainCounts,
): Promise<void> {
  const { runId, organisationId, isFirst, lastCustomerId, lastRequestId } = origin;
  const joinRequest = (type: string, name: string): string =>
    `join screening_request request on request.organisation_id = $2 and request.type = ${type} and request.name = ${name}`;
  const values = [runId, organisationId, lastCustomerId];
  if (isFirst) {
    const saved = await transaction.execute(
      `insert into party (customer_id, ordinal, request_id, is_current)
       select $2::bigint + ordinal, 0, coalesce(request_id, $3::bigint + ordinal), true from roster_staging where ${plainSql}`,
      [runId, lastCustomerId, lastRequestId],
    );
    requireAll(saved, plain.customers);
  }
  if (plain.several > 0) {
    const wanted = await transaction.query(
      z.object({ parties: z.number() }),
      `select sum(parties - 1)::integer as parties from roster_staging where ${plainSql} and parties > 1`,
      [runId],
    );
    const saved = await transaction.execute(
      `insert into party (customer_id, ordinal, request_id, is_current)
       select $3::bigint + staged.ordinal, party.place - 1, request.request_id, true
       from (
         select ordinal, record from roster_staging join roster_record using (run_id, ordinal) where ${plainSql} and parties > 1 offset 0
       ) staged
       cross join jsonb_array_elements(staged.record -> 'parties') with ordinality as party (facts, place)
       ${joinRequest("party.facts ->> 'type'", "party.facts ->> 'sentName'")}
       where party.place > 1`,
      values,
    );
    requireAll(saved, firstRow(wanted, 'roster_staging').parties);
  }
  const slotsSql = `
    from roster_step step
    cross join jsonb_array_elements(step.record -> 'parties') with ordinality as party (facts, place)`;
  const expected = await transaction.query(
    z.object({ parties: z.number() }),
    `select count(*)::integer as parties ${slotsSql} where step.run_id = $1 and party.facts <> 'null'`,
    [runId],
  );
  const { parties } = firstRow(expected, 'roster_step');
  if (parties === 0) return;
  const saved = await transaction.execute(
    `insert into party (customer_id, ordinal, request_id, is_current)
     select step.customer_id, party.place - 1, request.request_id, true
     ${slotsSql}
     ${joinRequest("party.facts ->> 'type'", "party.facts ->> 'sentName'")}
     where step.run_id = $1 and party.facts <> 'null'
     order by step.customer_id, party.place
     on conflict (customer_id, ordinal) do update set request_id = excluded.request_id, is_current = true`,
    [runId, organisationId],
  );
  requireAll(saved, parties);
  await transaction.execute(
    `with dropped as (
       update party set is_current = false
       from roster_step step
       where step.run_id = $1 and step.kind = 'changed' and party.customer_id = step.customer_id and party.is_current
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
     where import_id = $2`,
    [runId, importId],
  );
}

/** The condition of a JSON path for a party from a source of related parties. */
const relatedPath = '@.role != "customer" && @.role != "alias" && @.role != "conflicting_row"';

/** SQL: roster $2 has a customer with this reference, possibly only from contradicting rows. */
const isKnownSql = (reference: string): string => `exists (
  select from customer known where known.roster_id = $2 and known.reference = ${reference}
)`;

async function saveUnreadable(transaction: Queryable, staged: StagedImport, importedAt: Date): Promise<void> {
  await saveUnaccepted(transaction, staged, importedAt);
  await saveUnreadableParties(transaction, staged, importedAt);
}

/**
 * Stores the ids of a merged snapshot without any accepted record: such customers cannot be screened. Ids that have a
 * record now, or that a whole snapshot no longer names, are deleted.
 */
async function saveUnaccepted(transaction: Queryable, staged: StagedImport, importedAt: Date): Promise<void> {
  const { runId, rosterId, isDelta } = staged;
  await transaction.execute(
    `delete from unaccepted_customer unaccepted
     where roster_id = $2 and (
       ${isKnownSql('unaccepted.reference')}
       or not $3 and not exists (
         select from roster_staging staged
         where staged.run_id = $1 and staged.reference = unaccepted.reference and staged.reject_reason is not null
           and not staged.is_party
       )
     )`,
    [runId, rosterId, isDelta],
  );
  await transaction.execute(
    `insert into unaccepted_customer (roster_id, reference, reason, since, run_id)
     select $2::bigint, reference, 'row_rejected', $3, $1::bigint
     from (
       select distinct reference from roster_staging
       where run_id = $1 and reject_reason is not null and reference is not null and not is_party
     ) named
     where not ${isKnownSql('named.reference')}
     on conflict (roster_id, reference) do update set reason = excluded.reason, run_id = excluded.run_id`,
    [runId, rosterId, importedAt],
  );
}

/**
 * Marks the customers with an unreadable related party: more unreadable rows than known parties without another row
 * mean that one of them was never known. The mark ends when no unreadable row may concern the customer.
 */
async function saveUnreadableParties(transaction: Queryable, staged: StagedImport, importedAt: Date): Promise<void> {
  const { runId, rosterId, isDelta } = staged;
  await transaction.execute(
    `with named as materialized (
       select reference, count(distinct fields::text) filter (where reject_reason is not null) as unreadable,
         count(distinct party) filter (where reject_reason is null) as readable
       from roster_staging
       where run_id = $1 and is_party and reference is not null and reject_reason is distinct from 'unknown_customer'
       group by reference
     ),
     assessed as (
       select customer.customer_id, named.unreadable > (
         select count(*) from jsonb_path_query(latest.record, '$.parties[*] ? (${relatedPath})')
       ) - named.readable or customer.unreadable_party_since is not null as is_unreadable
       from named
       join customer on customer.roster_id = $2 and customer.reference = named.reference
       join customer_version latest on latest.customer_id = customer.customer_id and latest.version = customer.version
       where named.unreadable > 0
     )
     update customer set unreadable_party_since = coalesce(unreadable_party_since, $3)
     from assessed where assessed.customer_id = customer.customer_id and assessed.is_unreadable`,
    [runId, rosterId, importedAt],
  );
  await transaction.execute(
    `update customer set unreadable_party_since = null
     where roster_id = $2 and unreadable_party_since is not null
       and not exists (
         select from roster_staging party
         where party.run_id = $1 and party.is_party and party.reject_reason <> 'not_a_customer'
           and (party.reference is null or party.reference = customer.reference and party.reject_reason <> 'unknown_customer')
       )
       and (not $3 or exists (
         select from roster_staging party
         where party.run_id = $1 and party.is_party and party.reference = customer.reference
       ))`,
    [runId, rosterId, isDelta],
  );
}

/** Sorted and without source texts: another order or spelling is no change. */
const rolesSql = (record: string, roles: string): string =>
  `(select jsonb_agg(party - 'said' order by party - 'said') from jsonb_path_query(${record}, '$.parties[*] ? (${roles})') as party)`;

const aliases = '@.role == "alias"';

const conflicting = '@.role == "conflicting_row"';

function changedFieldsSql(before: string, after: string): string {
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
  return `array_remove(array[${cases.join(', ')}], null)`;
}

interface ImportOrigin {
  runId: number;
  rosterId: number;
  organisationId: number;
  source: string;
  sourceDigest: string;
  importedAt: Date;
  headers: readonly string[];
  partyHeaders: readonly string[];
  isFirst: boolean;
  isDelta: boolean;
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
  /** New customers get the next numbers; at least as many as staged rows and conflicts are reserved. */
  lastCustomerId: number;
  /** The same for new requests. */
  lastRequestId: number;
}
