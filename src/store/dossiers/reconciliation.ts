import { z } from 'zod';
import type { ReconciliationSums } from '../../reconciliation/discrepancy.js';
import type { DossierLink } from '../../roster/settings.js';
import { reconciliationSumsSchema } from '../../vocabulary/source-facts.js';
import type { DiscrepancySeverity } from '../../vocabulary.js';
import { type Queryable, readRow, readValue } from '../database/database.js';
import { json, rawSql, type Sql, sql } from '../database/statement.js';

/** The input of a comparison of a roster with dossiers. */
export interface ReconciliationInput {
  runId: number;
  rosterId: number;
  accountId: number;
  isTest: boolean;
  link: DossierLink;
  /** All other rosters of the organisation; dossiers may belong to their customers. */
  others: readonly { rosterId: number; link: Pick<DossierLink, 'reference' | 'customerColumn'> }[];
  sweepRunId: number;
  unprovenBecause: string | null;
  severities: Readonly<Record<string, DiscrepancySeverity>>;
  /** A dossier that was last changed before this is stale; null for no limit. */
  staleBefore: Date | null;
  /** A customer that was imported before this and never screened is overdue. */
  overdueBefore: Date;
  now: Date;
  /** Acceptances until before this day (yyyy-mm-dd) have ended. */
  today: string;
}

/** SQL: the customer that the reference of dossier `d` names. */
export function toDossierKey(reference: DossierLink['reference']): Sql {
  if (reference === 'exact') return sql`d.reference_key`;
  if ('pattern' in reference)
    return sql`fold_reference(substring(d.reference from ${`(?i)${reference.pattern}`}::text))`;
  // The rest of a folded key is folded, but for a space at its beginning.
  const prefix = sql`fold_reference(${reference.prefix})`;
  return sql`case when starts_with(d.reference_key, ${prefix}) then nullif(ltrim(substr(d.reference_key, length(${prefix}) + 1)), '') end`;
}

/** SQL: the key by which a customer is joined with dossiers. */
export const toCustomerKey = ({ customerColumn }: Pick<DossierLink, 'customerColumn'>): Sql =>
  customerColumn === undefined
    ? sql`customer.reference_key`
    : sql`fold_reference(version.record -> 'attributes' ->> ${customerColumn}::text)`;

/** SQL: whether a customer should have a dossier. A customer without a readable record has no known attributes. */
function toExpected(expect: DossierLink['expect']): { ofCustomer: Sql; ofUnaccepted: Sql } {
  if (typeof expect !== 'string') {
    const ofCustomer = sql`coalesce(version.record -> 'attributes' @> ${json(expect.where)}, false)`;
    return { ofCustomer, ofUnaccepted: sql`false` };
  }
  const isAlways = expect === 'always' ? sql`true` : sql`false`;
  return { ofCustomer: isAlways, ofUnaccepted: isAlways };
}

/**
 * Joins a roster's customers with an account's dossiers and counts them. Gives the sums and the largest numbers of customers and of dossiers with
 * one reference. Pairs that may have a discrepancy stay in temporary tables until the transaction ends; nothing is stored yet.
 */
export async function compareWithDossiers(transaction: Queryable, input: ReconciliationInput) {
  const comparison = { ...input, hasInvited: await findInvited(transaction, input) };
  await findRepeatedKeys(transaction, comparison);
  await lookAtScreenings(transaction, input);
  await keepPairs(transaction, comparison);
  await resolveRepeated(transaction);
  await noteOthers(transaction, input);
  const largest = await readRow(
    transaction,
    z.object({ customers: z.number(), dossiers: z.number() }),
    `select coalesce((select max(customers) from shared_key), 0)::integer as customers,
       coalesce((select max(dossiers) from several_of), 0)::integer as dossiers`,
  );
  return { sums: await addUp(transaction, comparison), largest };
}

const ownFactsSql = sql`version.record -> 'parties' -> 0 ->> 'name' as name, version.record -> 'parties' -> 0 ->> 'type' as type`;

/** SQL: the customers of the roster. Those without a readable record get negative ids, which no other customer has. */
function customersSql({ rosterId, link }: ReconciliationInput, wanted: 'keys' | 'all') {
  const isWhole = wanted === 'all';
  const isByColumn = link.customerColumn !== undefined;
  const expected = toExpected(link.expect);
  const versionSql = sql`join customer_version version using (customer_id, version)`;
  const known = sql`
    select customer.customer_id, ${toCustomerKey(link)} as key, customer.left_at is null as is_active
      ${isWhole ? sql`, ${expected.ofCustomer} as is_expected, customer.reference, ${ownFactsSql}` : sql``}
    from customer ${isWhole || isByColumn ? versionSql : sql``}
    where customer.roster_id = ${rosterId}`;
  const unaccepted = sql`
    select -1 - ('x' || left(md5(reference), 15))::bit(60)::bigint as customer_id,
      ${isByColumn ? sql`null::text` : sql`reference_key`} as key, true as is_active
      ${isWhole ? sql`, ${expected.ofUnaccepted}, reference, null, null` : sql``}
    from unaccepted_customer where roster_id = ${rosterId}`;
  return { known, unaccepted, all: sql`${known} union all ${unaccepted}` };
}

/** With `hasInvited` some dossiers come from invitations. They belong to the invited customers, whatever their references are. */
type DossierComparison = ReconciliationInput & { hasInvited: boolean };

/** Finds the customer of each invitation and of each dossier that comes from one. */
async function findInvited(transaction: Queryable, { rosterId, accountId, link }: ReconciliationInput) {
  await transaction.execute(sql`
    create temporary table invited on commit drop as
    select distinct on (named) named, ${toCustomerKey(link)} as key
    from invitation
    join customer on customer.customer_id = invitation.customer_id
    join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
    cross join lateral (values (invitation.reference), (invitation.dossier_id)) as known (named)
    where invitation.account_id = ${accountId} and invitation.roster_id = ${rosterId} and state in ('sending', 'invited')
      and named is not null
    order by named, invitation_id desc`);
  return readValue(transaction, z.boolean(), 'select exists (select from invited) as found');
}

/** SQL: the dossiers with the key by which they are joined with customers. */
function dossierKeysSql({ accountId, link, hasInvited }: DossierComparison): Sql {
  const byReference = toDossierKey(link.reference);
  const invitedSql = sql`
    left join invited by_reference on by_reference.named = d.reference_key
    left join invited by_id on by_id.named = d.dossier_id`;
  return sql`
    select d.*, ${hasInvited ? sql`coalesce(by_reference.key, by_id.key, ${byReference})` : byReference} as dossier_key
    from dossier d ${hasInvited ? invitedSql : sql``}
    where d.account_id = ${accountId} and d.gone_at is null`;
}

/** Finds the references that several customers or several dossiers share. */
async function findRepeatedKeys(transaction: Queryable, input: DossierComparison): Promise<void> {
  // Sorting by an index takes half the time of a hash table with a million texts.
  await transaction.execute('set local enable_hashagg = off');
  const create = async (table: string, rows: Sql): Promise<void> => {
    await transaction.execute(sql`create temporary table ${rawSql(table)} on commit drop as ${rows}`);
    await transaction.execute(`analyze ${table}`);
  };
  const { known, unaccepted } = customersSql(input, 'keys');
  await create(
    'repeated_key',
    sql`select key from (${known}) c where key is not null group by key having count(*) > 1
       union select key from (${unaccepted}) u where key is not null`,
  );
  await create(
    'key_use',
    sql`select key, count(*) filter (where is_active)::integer as customers, max(customer_id) as last_id,
         array_agg(reference order by reference) filter (where is_active) as named
       from (${customersSql(input, 'all').all}) c join repeated_key using (key) group by key`,
  );
  await create('shared_key', sql`select key, customers, named from key_use where customers > 1`);
  await create(
    'repeated_dossier_key',
    sql`select dossier_key as key from (${dossierKeysSql(input)}) d
       where dossier_key is not null group by dossier_key having count(*) > 1`,
  );
  await transaction.execute('set local enable_hashagg = on');
}

/** Finds the customers with screening facts that can disagree with a dossier: alerts, true matches, truncated lists, no search, a new name. */
async function lookAtScreenings(transaction: Queryable, { rosterId, accountId, overdueBefore }: ReconciliationInput) {
  await transaction.execute(sql`
    create temporary table alerting on commit drop as
    select party.customer_id, bool_or(alert.is_true_match) as is_true_match,
      bool_or(alert.topic = 'sanction' and alert.state in ('open', 'pending_approval')) as is_sanction,
      count(*) filter (where alert.state in ('open', 'pending_approval'))::integer as waiting
    from alert join party on party.party_id = alert.party_id
    join customer on customer.customer_id = party.customer_id and customer.roster_id = ${rosterId}
    where alert.account_id = ${accountId} and (alert.state in ('open', 'pending_approval') or alert.is_true_match and alert.state <> 'no_longer_matched')
    group by party.customer_id`);
  // A merge of two indexes takes half the time of a hash table with a million keys.
  await transaction.execute('set local enable_hashjoin = off');
  await transaction.execute(sql`
    create temporary table half_seen on commit drop as
    select seen.*, first.imported_at < ${overdueBefore} as is_overdue
    from (
      select customer_id, bool_or(is_truncated) as is_truncated, bool_or(not is_truncated) as is_unscreened
      from (
        select party.customer_id, false as is_truncated from party
        where party.is_current
          and not exists (select from party_state newest where newest.account_id = ${accountId} and newest.party_id = party.party_id)
        union all
        select party.customer_id, true from party_state newest join party using (party_id)
        where newest.account_id = ${accountId} and newest.state = 'truncated' and party.is_current
      ) party
      join customer using (customer_id)
      where customer.roster_id = ${rosterId}
      group by customer_id
    ) seen
    join customer using (customer_id)
    join roster_import first on first.import_id = customer.first_import_id
    where is_truncated or first.imported_at < ${overdueBefore}`);
  await transaction.execute('set local enable_hashjoin = on');
  await transaction.execute(sql`
    create temporary table renamed on commit drop as
    select distinct on (customer_id) customer_id, former, name, imported_at
    from (
      select version.customer_id, version.version, version.record -> 'parties' -> 0 ->> 'name' as name,
        lag(version.record -> 'parties' -> 0 ->> 'name') over (partition by version.customer_id order by version.version) as former,
        roster_import.imported_at
      from customer_version version
      join customer on customer.customer_id = version.customer_id and customer.roster_id = ${rosterId} and customer.version > 1
      join roster_import using (import_id)
    ) versions
    where former <> name
    order by customer_id, version desc`);
  await transaction.execute(
    `create temporary table marked on commit drop as
     select customer_id from alerting union select customer_id from half_seen union select customer_id from renamed`,
  );
  await transaction.execute('analyze marked');
}

/** SQL: the columns of a dossier in a pair. */
const dossiersSql = (input: DossierComparison): Sql => sql`
  select dossier_id, reference as dossier_reference, status, name as dossier_name, type as dossier_type, is_test, created_at, updated_at,
    completed_at, dossier_key from (${dossierKeysSql(input)}) d`;

/** SQL: whether several customers or dossiers share the reference of a pair. */
const isRepeatedSql = sql`(key in (select key from repeated_key) or key in (select key from repeated_dossier_key))`;

/** SQL: whether the types of customer and dossier differ. `type` occurs once, because reading it from a record is expensive. */
export const toTypesDifferSql = (type: string, dossierType: string): string =>
  `${type} <> case ${dossierType} when 'kyb' then 'entity' when 'kyc' then 'person' end`;

/** Stores the pairs that may have a discrepancy in a temporary table. */
async function keepPairs(transaction: Queryable, input: DossierComparison): Promise<void> {
  // Without temporary tables and `union all` the server can run this query in parallel.
  await transaction.execute(sql`
    create temporary table pair on commit drop as
    select c.*, d.*, false as is_shared, false as is_other, true as is_counted
    from (${customersSql(input, 'all').known}) c
    full join (${dossiersSql(input)}) d on d.dossier_key = c.key
    where c.customer_id is null or d.dossier_id is null
      or d.status in ('rejected', 'needs_attention', 'closed', 'archived') or d.updated_at < ${input.staleBefore}
      or not c.is_active and d.status in ('draft', 'open', 'completed')
      or ${rawSql(toTypesDifferSql('c.type', 'd.dossier_type'))}
      or c.name <> d.dossier_name and lower(c.name collate "C") <> lower(d.dossier_name collate "C")
      or d.is_test and not ${input.isTest}::boolean
      or d.dossier_id in (select dossier_id from dossier_record where account_id = ${input.accountId} and kind = 'entity')`);
  if (input.link.customerColumn === undefined) {
    await transaction.execute(sql`
      delete from pair using unaccepted_customer
      where roster_id = ${input.rosterId} and pair.customer_id is null and pair.dossier_key = unaccepted_customer.reference_key`);
  }
  const { known, unaccepted } = customersSql(input, 'keys');
  await transaction.execute(sql`
    create temporary table wanted on commit drop as
    select customer_id from marked
    union select customer_id from (${known}) c join (table repeated_key union table repeated_dossier_key) repeated using (key)
    union select customer_id from (${unaccepted}) u`);
  await transaction.execute('analyze wanted');
  await transaction.execute(sql`
    insert into pair
    select c.*, d.*, false, false, true
    from wanted join (${customersSql(input, 'all').all}) c using (customer_id)
    left join (${dossiersSql(input)}) d on d.dossier_key = c.key
    where not exists (
      select from pair where pair.customer_id = c.customer_id and pair.dossier_id is not distinct from d.dossier_id
    )`);
}

/** Decides which customer and which dossier of a shared reference count. */
async function resolveRepeated(transaction: Queryable): Promise<void> {
  await transaction.execute(
    'update pair set is_shared = true, is_counted = false from shared_key where shared_key.key = pair.key',
  );
  // An offboarded customer yields the reference to active ones, else to the newest customer.
  await transaction.execute(
    `delete from pair using key_use
     where key_use.key = pair.key and not pair.is_active and pair.dossier_id is not null
       and (key_use.customers > 0 or pair.customer_id <> key_use.last_id)`,
  );
  await transaction.execute(
    `create temporary table several_of on commit drop as
     select customer_id, count(*)::integer as dossiers,
       (array_agg(dossier_id order by status = 'approved' desc, created_at desc, dossier_id))[1] as counts
     from pair
     where dossier_id is not null and not is_shared and key in (select key from repeated_dossier_key)
     group by customer_id having count(*) > 1`,
  );
  await transaction.execute(
    `update pair set is_counted = false from several_of
     where several_of.customer_id = pair.customer_id and several_of.counts <> pair.dossier_id`,
  );
}

/**
 * Counts both sides by place, and the matches of each from the other side: customers minus those without a dossier must be dossiers minus those
 * without a customer. So a balanced sum proves that no row of either side is lost.
 */
async function addUp(transaction: Queryable, input: DossierComparison): Promise<ReconciliationSums> {
  const { rosterId, accountId } = input;
  const { known } = customersSql(input, 'keys');
  const { surplus, ofDeparted, compared, ...sums } = await readRow(
    transaction,
    reconciliationSumsSchema.omit({ withDossier: true, withCustomer: true, notCompared: true }).extend({
      surplus: z.number(),
      ofDeparted: z.number(),
      compared: z.number(),
    }),
    sql`select (
         (select count(*) from customer where roster_id = ${rosterId} and left_at is null)
         + (select count(*) from unaccepted_customer where roster_id = ${rosterId})
       )::integer as customers,
       (select count(*) from dossier where account_id = ${accountId} and gone_at is null)::integer as dossiers,
       count(distinct customer_id) filter (where is_shared and is_active)::integer as "ambiguousCustomers",
       count(*) filter (where is_active and is_counted and dossier_id is null and is_expected)::integer as "withoutDossier",
       count(*) filter (where is_active and is_counted and dossier_id is null and not is_expected)::integer as "notExpected",
       count(*) filter (where customer_id is null and not is_other)::integer as "withoutCustomer",
       count(*) filter (where customer_id is null and is_other)::integer as "ofOtherRosters",
       count(distinct dossier_id) filter (where is_shared)::integer as "ambiguousDossiers",
       count(*) filter (where is_active and dossier_id is not null and not is_counted and not is_shared)::integer as surplus,
       (count(*) filter (where not is_active and dossier_id is not null and ${isRepeatedSql})
         + (select count(*) from (${known}) c join (${dossierKeysSql(input)}) d on d.dossier_key = c.key
            where not c.is_active and not ${isRepeatedSql}))::integer as "ofDeparted",
       count(*) filter (where is_active and is_counted and exists (
         select from dossier_record record
         where record.account_id = ${accountId} and record.dossier_id = pair.dossier_id and record.kind = 'entity' and record.name is not null
       ))::integer as compared
     from pair`,
  );
  const matchedCustomers = sums.customers - sums.withoutDossier - sums.notExpected - sums.ambiguousCustomers;
  const matchedDossiers = sums.dossiers - sums.withoutCustomer - sums.ofOtherRosters - sums.ambiguousDossiers;
  const withDossier = matchedDossiers - surplus - ofDeparted;
  const withCustomer = matchedCustomers + surplus + ofDeparted;
  return { ...sums, withDossier, withCustomer, notCompared: withDossier - compared };
}

/** Marks the dossiers that belong to customers of other rosters. */
async function noteOthers(transaction: Queryable, { accountId, others }: ReconciliationInput): Promise<void> {
  for (const { rosterId, link } of others) {
    await transaction.execute(sql`
      update pair set is_other = true
      from dossier d
      where pair.customer_id is null and not pair.is_other and d.account_id = ${accountId} and d.dossier_id = pair.dossier_id
        and exists (
          select from customer join customer_version version using (customer_id, version)
          where customer.roster_id = ${rosterId} and ${toCustomerKey(link)} = ${toDossierKey(link.reference)}
        )`);
    await transaction.execute(sql`
      update pair set is_other = true
      where customer_id is null and not is_other and dossier_id in (
        select d.dossier_id from invitation join dossier d on d.account_id = ${accountId} and d.reference_key = invitation.reference
        where invitation.account_id = ${accountId} and invitation.roster_id = ${rosterId}
        union all
        select dossier_id from invitation where account_id = ${accountId} and roster_id = ${rosterId} and dossier_id is not null
      )`);
  }
}
