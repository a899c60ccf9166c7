import { z } from 'zod';
import type { DiscrepancyKind, DiscrepancySeverity, ReconciliationSums } from '../reconciliation/discrepancy.js';
import type { DossierLink } from '../roster/dossier-link.js';
import type { Queryable } from './database.js';
import { firstRow } from './first-row.js';

/** What a roster is compared with, and how. */
export interface ReconciliationInput {
  runId: number;
  rosterId: number;
  accountId: number;
  isTest: boolean;
  link: DossierLink;
  /** All other rosters of the organisation that dossiers may be of. */
  others: readonly { rosterId: number; link: Pick<DossierLink, 'reference' | 'customerColumn'> }[];
  sweepRunId: number;
  unprovenBecause: string | null;
  severities: Readonly<Record<string, DiscrepancySeverity>>;
  /** A dossier that has not changed since is stale; null where none is. */
  staleBefore: Date | null;
  /** Who has been a customer since before this, and was never screened, is overdue. */
  overdueBefore: Date;
  now: Date;
}

/** Gives each value of a statement its place. */
function collectParameters() {
  const values: unknown[] = [];
  return { values, bind: (value: unknown): string => `$${values.push(value)}` };
}

type Bind = ReturnType<typeof collectParameters>['bind'];

/** SQL: the customer that the reference of dossier `d` names. */
function toDossierKey(reference: DossierLink['reference'], bind: Bind): string {
  if (reference === 'exact') return 'd.reference_key';
  if ('pattern' in reference)
    return `fold_reference(substring(d.reference from ${bind(`(?i)${reference.pattern}`)}::text))`;
  const prefix = `fold_reference(${bind(reference.prefix)}::text)`;
  return `case when starts_with(d.reference_key, ${prefix}) then fold_reference(substr(d.reference_key, length(${prefix}) + 1)) end`;
}

/** SQL: what a customer is joined by. */
const toCustomerKey = ({ customerColumn }: Pick<DossierLink, 'customerColumn'>, bind: Bind): string =>
  customerColumn === undefined
    ? 'customer.reference_key'
    : `fold_reference(version.record -> 'attributes' ->> ${bind(customerColumn)}::text)`;

/** SQL: whether a customer is expected to have a dossier; of one without a readable record no attribute is known. */
function toExpected(expect: DossierLink['expect'], bind: Bind): { ofCustomer: string; ofUnaccepted: string } {
  const isAlways = String(expect === 'always');
  if (typeof expect === 'string') return { ofCustomer: isAlways, ofUnaccepted: isAlways };
  const where = `${bind(JSON.stringify(expect.where))}::text::jsonb`;
  return { ofCustomer: `coalesce(version.record -> 'attributes' @> ${where}, false)`, ofUnaccepted: 'false' };
}

/** The sums of a comparison as they are stored. */
export const sumsRow = z.object({
  customers: z.number(),
  withDossier: z.number(),
  withoutDossier: z.number(),
  notExpected: z.number(),
  ambiguousCustomers: z.number(),
  dossiers: z.number(),
  withCustomer: z.number(),
  withoutCustomer: z.number(),
  ambiguousDossiers: z.number(),
  ofOtherRosters: z.number(),
  notCompared: z.number(),
}) satisfies z.ZodType<ReconciliationSums>;

/**
 * Joins a roster's customers and an account's dossiers in tables that end with the transaction, adds them up, and gives the sums with the
 * most customers and dossiers under one reference. What disagrees is collected; nothing is stored yet.
 */
export async function compareWithDossiers(
  transaction: Queryable,
  input: ReconciliationInput,
): Promise<{ sums: ReconciliationSums; largest: { customers: number; dossiers: number } }> {
  await joinSides(transaction, input);
  await noteOthers(transaction, input);
  const largest = await transaction.query(
    z.object({ customers: z.number(), dossiers: z.number() }),
    `select coalesce((select max(customers) from shared_key), 0)::integer as customers,
       coalesce((select max(dossiers) from several_of), 0)::integer as dossiers`,
  );
  const sums = await transaction.query(
    sumsRow,
    `select
       (count(*) filter (where is_active and is_counted) + (select count(distinct customer_id) from pair where is_active and is_shared))::integer
         as customers,
       count(*) filter (where is_active and is_counted and dossier_id is not null)::integer as "withDossier",
       count(*) filter (where is_active and is_counted and dossier_id is null and is_expected)::integer as "withoutDossier",
       count(*) filter (where is_active and is_counted and dossier_id is null and not is_expected)::integer as "notExpected",
       (select count(distinct customer_id) from pair where is_active and is_shared)::integer as "ambiguousCustomers",
       (select count(*) from dossier where account_id = $1 and gone_at is null)::integer as dossiers,
       count(*) filter (where customer_id is not null and dossier_id is not null and not is_shared)::integer as "withCustomer",
       count(*) filter (where customer_id is null and not is_other)::integer as "withoutCustomer",
       (select count(distinct dossier_id) from pair where is_shared)::integer as "ambiguousDossiers",
       count(*) filter (where customer_id is null and is_other)::integer as "ofOtherRosters",
       count(*) filter (where is_active and is_counted and dossier_id is not null and not exists (
         select from dossier_record record
         where record.account_id = $1 and record.dossier_id = pair.dossier_id and record.kind = 'entity' and record.name is not null
       ))::integer as "notCompared"
     from pair`,
    [input.accountId],
  );
  await collectFindings(transaction, input);
  return { sums: firstRow(sums, 'pair'), largest: firstRow(largest, 'shared_key') };
}

async function joinSides(transaction: Queryable, { rosterId, accountId, link }: ReconciliationInput): Promise<void> {
  const { values, bind } = collectParameters();
  const [ofRoster, ofAccount] = [bind(rosterId), bind(accountId)];
  const expected = toExpected(link.expect, bind);
  // Ids that the roster names without a readable record are customers too: below zero, so that none is taken for another.
  await transaction.execute(
    `create temporary table pair on commit drop as
     -- A dossier that an invitation led to belongs to whom was invited, whatever its reference.
     with invited as materialized (
       select distinct on (named) named, ${toCustomerKey(link, bind)} as key
       from invitation
       join customer on customer.customer_id = invitation.customer_id
       join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
       cross join lateral (values (invitation.reference), (invitation.dossier_id)) as known (named)
       where invitation.account_id = ${ofAccount} and invitation.roster_id = ${ofRoster} and state in ('sending', 'invited')
       order by named, invitation_id desc
     )
     select c.*, d.*, false as is_shared, false as is_other, true as is_counted
     from (
       select customer.customer_id, customer.reference, customer.left_at is null as is_active, ${expected.ofCustomer} as is_expected,
         version.record -> 'parties' -> 0 ->> 'name' as name, version.record -> 'parties' -> 0 ->> 'type' as type,
         ${toCustomerKey(link, bind)} as key
       from customer join customer_version version using (customer_id, version)
       where customer.roster_id = ${ofRoster}
       union all
       select -row_number() over (), reference, true, ${expected.ofUnaccepted}, null, null,
         ${link.customerColumn === undefined ? 'fold_reference(reference)' : 'null'}
       from unaccepted_customer where roster_id = ${ofRoster}
     ) c
     full join (
       select d.dossier_id, d.reference as dossier_reference, d.status, d.name as dossier_name, d.type as dossier_type, d.is_test,
         d.created_at, d.updated_at, d.completed_at, coalesce(by_reference.key, by_id.key, ${toDossierKey(link.reference, bind)}) as dossier_key
       from dossier d
       left join invited by_reference on by_reference.named = d.reference_key
       left join invited by_id on by_id.named = d.dossier_id
       where d.account_id = ${ofAccount} and d.gone_at is null
     ) d on d.dossier_key = c.key`,
    values,
  );
  // The few that share something are found first: adding all of them up in order takes several times as long.
  await transaction.execute(
    `create temporary table shared_key on commit drop as
     select key, count(distinct customer_id)::integer as customers, array_agg(distinct reference order by reference) as named
     from pair
     where is_active and key in (select key from pair where is_active and key is not null group by key having count(*) > 1)
     group by key having count(distinct customer_id) > 1`,
  );
  await transaction.execute(
    'update pair set is_shared = true, is_counted = false from shared_key where shared_key.key = pair.key',
  );
  // Whoever has left yields to others of the same reference: to those who have not, else to the newest.
  await transaction.execute(
    `delete from pair gone using pair other
     where not gone.is_active and gone.dossier_id is not null and other.key = gone.key
       and other.customer_id <> gone.customer_id and (other.is_active or other.customer_id > gone.customer_id)`,
  );
  await transaction.execute(
    `create temporary table several_of on commit drop as
     select customer_id, count(*)::integer as dossiers,
       (array_agg(dossier_id order by status = 'approved' desc, created_at desc, dossier_id))[1] as counts
     from pair
     where not is_shared and customer_id in (
       select customer_id from pair where dossier_id is not null and not is_shared group by customer_id having count(*) > 1
     )
     group by customer_id`,
  );
  await transaction.execute(
    `update pair set is_counted = false from several_of
     where several_of.customer_id = pair.customer_id and several_of.counts <> pair.dossier_id`,
  );
}

/** Marks the dossiers that belong to customers of other rosters. */
async function noteOthers(transaction: Queryable, { accountId, others }: ReconciliationInput): Promise<void> {
  for (const { rosterId, link } of others) {
    const { values, bind } = collectParameters();
    await transaction.execute(
      `update pair set is_other = true
       from dossier d
       where pair.customer_id is null and not pair.is_other and d.account_id = ${bind(accountId)} and d.dossier_id = pair.dossier_id
         and exists (
           select from customer join customer_version version using (customer_id, version)
           where customer.roster_id = ${bind(rosterId)} and ${toCustomerKey(link, bind)} = ${toDossierKey(link.reference, bind)}
         )`,
      values,
    );
    await transaction.execute(
      `update pair set is_other = true
       where customer_id is null and not is_other and dossier_id in (
         select d.dossier_id from invitation join dossier d on d.account_id = $1 and d.reference_key = invitation.reference
         where invitation.account_id = $1 and invitation.roster_id = $2
         union all
         select dossier_id from invitation where account_id = $1 and roster_id = $2 and dossier_id is not null
       )`,
      [accountId, rosterId],
    );
  }
}

/** One kind of finding: where it is found (`p` is the pair that counts for a customer), and what it tells. */
const perPair: readonly (readonly [kind: DiscrepancyKind, condition: string, facts: string])[] = [
  ['rejected_dossier', `p.status = 'rejected'`, `'status', p.status`],
  ['dossier_needs_attention', `p.status = 'needs_attention'`, `'status', p.status`],
  ['closed_dossier', `p.status = 'closed'`, `'status', p.status`],
  ['archived_dossier', `p.status = 'archived'`, `'status', p.status`],
  [
    'stale_dossier',
    `p.status not in ('rejected', 'closed', 'archived') and p.updated_at < $1`,
    `'updatedAt', p.updated_at`,
  ],
  [
    'type_conflict',
    `p.type = 'person' and p.dossier_type = 'kyb' or p.type = 'entity' and p.dossier_type = 'kyc'`,
    `'roster', p.type, 'dossier', p.dossier_type`,
  ],
];

async function collectFindings(transaction: Queryable, input: ReconciliationInput): Promise<void> {
  const { rosterId, accountId, unprovenBecause, isTest, staleBefore, overdueBefore } = input;
  await transaction.execute(
    `create temporary table finding (
       kind text, subject text, customer_id bigint, dossier_id text, facts jsonb, primary key (kind, subject)
     ) on commit drop`,
  );
  const about = `'reference', p.reference, 'dossier', p.dossier_id`;
  const counting = 'from pair p where p.is_active and p.customer_id > 0 and p.dossier_id is not null and p.is_counted';
  // One look at all pairs, and each that disagrees in whatever ways it does.
  await transaction.execute(
    `insert into finding
     select found.kind, p.customer_id || '/' || p.dossier_id, p.customer_id, p.dossier_id,
       jsonb_build_object(${about}) || found.facts
     from (select p.* ${counting} and (
       p.status in ('rejected', 'needs_attention', 'closed', 'archived') or p.updated_at < $1::timestamptz
         or p.type = 'person' and p.dossier_type = 'kyb' or p.type = 'entity' and p.dossier_type = 'kyc'
     )) p
     cross join lateral (values ${perPair
       .map(([kind, condition, facts]) => `('${kind}', ${condition}, jsonb_build_object(${facts}))`)
       .join(', ')}) found (kind, holds, facts)
     where found.holds`,
    [staleBefore],
  );
  if (unprovenBecause === null) {
    await transaction.execute(
      `insert into finding
       select 'customer_without_dossier', $1 || '/' || reference, nullif(greatest(customer_id, 0), 0), null, jsonb_build_object('reference', reference)
       from pair where is_active and is_expected and dossier_id is null and not is_shared`,
      [String(rosterId)],
    );
  }
  await transaction.execute(
    `insert into finding
     select 'dossier_without_customer', dossier_id, null, dossier_id,
       jsonb_build_object('dossier', dossier_id, 'reference', dossier_reference, 'name', dossier_name, 'status', status)
     from pair where customer_id is null and not is_other`,
  );
  if (!isTest) {
    await transaction.execute(
      `insert into finding
       select 'test_dossier', dossier_id, min(customer_id) filter (where customer_id > 0), dossier_id,
         jsonb_build_object('dossier', dossier_id, 'reference', min(reference))
       from pair p where is_test and dossier_id is not null and not is_other group by dossier_id`,
    );
  }
  await transaction.execute(
    `insert into finding
     select case when dossier.dossier_id is null then 'duplicate_reference' else 'shared_dossier' end,
       $1 || '/' || coalesce(dossier.dossier_id, shared_key.key), null, dossier.dossier_id,
       jsonb_build_object('references', named[1:20], 'customers', customers, 'dossier', dossier.dossier_id)
     from shared_key
     left join lateral (
       select min(dossier_id) as dossier_id from pair where pair.key = shared_key.key and pair.is_shared
     ) dossier on true`,
    [String(rosterId)],
  );
  await transaction.execute(
    `insert into finding
     select 'several_dossiers', p.customer_id::text, p.customer_id, several_of.counts,
       jsonb_build_object('reference', p.reference, 'dossier', several_of.counts, 'others',
         (select jsonb_agg(other.dossier_id order by other.dossier_id) from pair other
          where other.customer_id = p.customer_id and other.dossier_id <> several_of.counts))
     from several_of join pair p on p.customer_id = several_of.customer_id and p.dossier_id = several_of.counts
     where p.is_active and p.customer_id > 0`,
  );
  await transaction.execute(
    `insert into finding
     select 'left_with_open_dossier', customer_id || '/' || dossier_id, customer_id, dossier_id,
       jsonb_build_object(${about}, 'status', status)
     from pair p where not is_active and status in ('draft', 'open', 'needs_attention', 'completed')`,
  );
  await collectScreeningFindings(transaction, { counting, about, rosterId, accountId, overdueBefore });
}

/** Dossiers against what screening knows: true matches, alerts, cut lists, customers never searched for, and names that have changed since. */
async function collectScreeningFindings(
  transaction: Queryable,
  of: { counting: string; about: string; rosterId: number; accountId: number; overdueBefore: Date },
): Promise<void> {
  const { counting, about, rosterId, accountId, overdueBefore } = of;
  await transaction.execute(
    `insert into finding
     select case when alerts.is_confirmed then 'approved_with_true_match'
         when alerts.is_sanction then 'approved_with_sanctions_alert' else 'approved_with_open_alert' end,
       p.customer_id || '/' || p.dossier_id, p.customer_id, p.dossier_id, jsonb_build_object(${about}, 'alerts', alerts.waiting)
     from (select p.* ${counting} and p.status = 'approved') p
     join (
       select party.customer_id, bool_or(item.is_confirmed) as is_confirmed,
         bool_or(item.topic = 'sanction' and item.state in ('open', 'proposed')) as is_sanction,
         count(*) filter (where item.state in ('open', 'proposed'))::integer as waiting
       from review_item item join party on party.party_id = item.party_id
       join customer on customer.customer_id = party.customer_id and customer.roster_id = $1
       where item.account_id = $2 and (item.state in ('open', 'proposed') or item.is_confirmed and item.state <> 'gone')
       group by party.customer_id
     ) alerts on alerts.customer_id = p.customer_id`,
    [rosterId, accountId],
  );
  await transaction.execute(
    `insert into finding
     select found.kind, p.customer_id || '/' || p.dossier_id, p.customer_id, p.dossier_id, jsonb_build_object(${about})
     from (
       select party.customer_id, bool_or(newest.state = 'incompletely_seen') as is_truncated, bool_or(newest.state is null) as is_unscreened
       from party left join party_state newest on newest.party_id = party.party_id and newest.account_id = $2
       join customer on customer.customer_id = party.customer_id and customer.roster_id = $3
       where party.is_current and (newest.state is null or newest.state = 'incompletely_seen')
       group by party.customer_id
     ) seen
     join (select p.* ${counting}) p using (customer_id)
     join customer using (customer_id)
     join roster_import first on first.import_id = customer.first_import_id
     cross join lateral (values
       ('never_screened', is_unscreened and first.imported_at < $1),
       ('approved_with_truncated_answer', is_truncated and not is_unscreened and p.status = 'approved')
     ) found (kind, holds)
     where found.holds`,
    [overdueBefore, accountId, rosterId],
  );
  await transaction.execute(
    `insert into finding
     select 'approved_before_name_change', p.customer_id || '/' || p.dossier_id, p.customer_id, p.dossier_id,
       jsonb_build_object(${about}, 'former', changed.former, 'name', changed.name, 'changedAt', changed.imported_at)
     from (select p.* ${counting} and p.status = 'approved') p
     join (
       select distinct on (customer_id) customer_id, former, name, imported_at
       from (
         select version.customer_id, version.version, version.record -> 'parties' -> 0 ->> 'name' as name,
           lag(version.record -> 'parties' -> 0 ->> 'name') over (partition by version.customer_id order by version.version) as former,
           roster_import.imported_at
         from customer_version version
         join customer on customer.customer_id = version.customer_id and customer.roster_id = $1 and customer.version > 1
         join roster_import using (import_id)
       ) versions
       where former <> name
       order by customer_id, version desc
     ) changed on changed.customer_id = p.customer_id
     where coalesce(p.completed_at, p.updated_at) < changed.imported_at`,
    [rosterId],
  );
}

const nameRow = z.object({
  customerId: z.number(),
  dossierId: z.string(),
  reference: z.string(),
  roster: z.string(),
  dossier: z.string(),
});
type NamePair = z.infer<typeof nameRow>;

const namesAtOnce = 5_000;

/** Looks at the names that the database does not find alike, and collects those that `isConflict` says disagree. */
export async function collectNameConflicts(
  transaction: Queryable,
  isConflict: (roster: string, dossier: string) => boolean,
): Promise<void> {
  await transaction.execute(
    `declare unlike no scroll cursor for
     select customer_id as "customerId", dossier_id as "dossierId", reference, name as roster, dossier_name as dossier from pair
     where is_active and customer_id > 0 and is_counted and lower(name collate "C") <> lower(dossier_name collate "C") and dossier_name ~ '\\S'`,
  );
  let pairs: readonly NamePair[];
  do {
    pairs = await transaction.query(nameRow, `fetch ${namesAtOnce} from unlike`);
    const conflicts = pairs.filter(({ roster, dossier }) => isConflict(roster, dossier));
    await saveNameConflicts(transaction, conflicts);
  } while (pairs.length === namesAtOnce);
  await transaction.execute('close unlike');
}

async function saveNameConflicts(transaction: Queryable, conflicts: readonly NamePair[]): Promise<void> {
  if (conflicts.length === 0) return;
  await transaction.execute(
    `insert into finding
     select 'name_conflict', customer_id || '/' || dossier_id, customer_id, dossier_id,
       jsonb_build_object('reference', reference, 'dossier', dossier_id, 'rosterName', roster, 'dossierName', dossier)
     from unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[]) as named (customer_id, dossier_id, reference, roster, dossier)`,
    [
      conflicts.map(({ customerId }) => customerId),
      conflicts.map(({ dossierId }) => dossierId),
      conflicts.map(({ reference }) => reference),
      conflicts.map(({ roster }) => roster),
      conflicts.map(({ dossier }) => dossier),
    ],
  );
}

const applicantRow = z.object({
  customerId: z.number(),
  dossierId: z.string(),
  reference: z.string(),
  applicantId: z.string(),
  isCompany: z.boolean(),
  name: z.string().nullable(),
  birthDate: z.string().nullable(),
  country: z.string().nullable(),
  parties: z.array(z.object({ name: z.string(), birthDate: z.string().nullable(), countries: z.array(z.string()) })),
});
type ApplicantRow = z.infer<typeof applicantRow>;

/** Looks at the applicants of which a record was fetched, beside the customer's parties, and collects what `compare` finds. */
export async function collectApplicantFindings(
  transaction: Queryable,
  accountId: number,
  compare: (applicant: ApplicantRow) => readonly { kind: DiscrepancyKind; facts: Readonly<Record<string, string>> }[],
): Promise<void> {
  await transaction.execute(
    `declare applicant no scroll cursor for
     select pair.customer_id as "customerId", pair.dossier_id as "dossierId", pair.reference, record.record_id as "applicantId",
       pair.dossier_type = 'kyb' as "isCompany", record.name, record.birth_date as "birthDate", record.country,
       version.record -> 'parties' as parties
     from dossier_record record
     join pair on pair.dossier_id = record.dossier_id and pair.is_active and pair.customer_id > 0 and pair.is_counted
     join customer on customer.customer_id = pair.customer_id
     join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
     where record.account_id = $1 and record.kind = 'entity' and record.fetched_at is not null
     order by record.dossier_id, record.record_id`,
    [accountId],
  );
  let rows: readonly ApplicantRow[];
  do {
    rows = await transaction.query(applicantRow, `fetch ${namesAtOnce} from applicant`);
    const found = rows.flatMap((row) =>
      compare(row).map(({ kind, facts }) => ({
        kind,
        subject: `${row.customerId}/${row.dossierId}/${row.applicantId}`,
        customer_id: row.customerId,
        dossier_id: row.dossierId,
        facts: { reference: row.reference, dossier: row.dossierId, applicant: row.applicantId, ...facts },
      })),
    );
    if (found.length > 0) {
      await transaction.execute(
        `insert into finding
         select kind, subject, customer_id, dossier_id, facts from jsonb_to_recordset($1::text::jsonb)
           as row (kind text, subject text, customer_id bigint, dossier_id text, facts jsonb)`,
        [JSON.stringify(found)],
      );
    }
  } while (rows.length === namesAtOnce);
  await transaction.execute('close applicant');
}
