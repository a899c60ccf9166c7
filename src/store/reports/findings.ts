import { z } from 'zod';
import type { compareApplicant, namesAgree } from '../../reconciliation/applicant.js';
import { insertRows, type Queryable } from '../database/database.js';
import { rawSql, type Sql, sql } from '../database/statement.js';
import { type ReconciliationInput, toTypesDifferSql } from '../dossiers/reconciliation.js';

/** SQL: each kind of finding with its condition (`p` is the pair that counts for a customer) and its facts. */
const perPairSql = (staleBefore: Date | null): Sql => sql`(values
  ('rejected_dossier', p.status = 'rejected', jsonb_build_object('status', p.status)),
  ('dossier_needs_attention', p.status = 'needs_attention', jsonb_build_object('status', p.status)),
  ('closed_dossier', p.status = 'closed', jsonb_build_object('status', p.status)),
  ('archived_dossier', p.status = 'archived', jsonb_build_object('status', p.status)),
  (
    'stale_dossier', p.status not in ('rejected', 'closed', 'archived') and p.updated_at < ${staleBefore},
    jsonb_build_object('updatedAt', p.updated_at)
  ),
  ('type_conflict', ${typesDifferSql}, jsonb_build_object('roster', p.type, 'dossier', p.dossier_type))
)`;

const typesDifferSql = rawSql(toTypesDifferSql('p.type', 'p.dossier_type'));
const aboutSql = sql`'reference', p.reference, 'dossier', p.dossier_id`;
/** SQL: the pairs that count, of customers in the roster with a dossier. */
const countingSql = sql`from pair p where p.is_active and p.customer_id > 0 and p.dossier_id is not null and p.is_counted`;

/**
 * Collects the discrepancies of the stored pairs in the table `finding`, which ends with the transaction. `compare` decides on names that
 * differ for the database, and compares fetched applicants with the customer's parties.
 */
export async function collectFindings(
  transaction: Queryable,
  input: ReconciliationInput,
  compare: { namesAgree: typeof namesAgree; compareApplicant: typeof compareApplicant },
): Promise<void> {
  const { rosterId, unprovenBecause, isTest, staleBefore } = input;
  await transaction.execute(
    `create temporary table finding (
       kind text, subject text, customer_id bigint, dossier_id text, facts jsonb, primary key (kind, subject)
     ) on commit drop`,
  );
  // One pass over all pairs; a pair can have several findings.
  await transaction.execute(
    sql`insert into finding
     select found.kind, p.customer_id || '/' || p.dossier_id, p.customer_id, p.dossier_id, jsonb_build_object(${aboutSql}) || found.facts
     from (select p.* ${countingSql} and (
       p.status in ('rejected', 'needs_attention', 'closed', 'archived') or p.updated_at < ${staleBefore} or ${typesDifferSql}
     )) p
     cross join lateral ${perPairSql(staleBefore)} found (kind, holds, facts)
     where found.holds`,
  );
  await transaction.execute(
    sql`insert into finding
     select 'roster_incomplete', ${rosterId}::text, null, null, facts
     from (
       select imported.imported_at as at, imported.control_total > imported.rows as is_below,
         jsonb_build_object('stated', imported.control_total, 'read', imported.rows) as facts
       from roster_import imported where imported.roster_id = ${rosterId} and not imported.is_delta
       union all
       select held_at, found is not null, jsonb_build_object('held', found ->> 'message')
       from run_hold hold join run using (run_id) left join lateral (
         select found from jsonb_array_elements(hold.roster -> 'heldBy') found where found ->> 'guard' = 'control_total'
       ) guards on true
       where hold.kind = 'roster' and run.roster_id = ${rosterId}
       order by at desc limit 1
     ) last_read
     where is_below`,
  );
  if (unprovenBecause === null) {
    await transaction.execute(
      sql`insert into finding
       select 'customer_without_dossier', ${rosterId}::text || '/' || reference, nullif(greatest(customer_id, 0), 0), null, jsonb_build_object('reference', reference)
       from pair where is_active and is_expected and dossier_id is null and not is_shared`,
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
    sql`insert into finding
     select case when dossier.dossier_id is null then 'duplicate_reference' else 'shared_dossier' end,
       ${rosterId}::text || '/' || coalesce(dossier.dossier_id, shared_key.key), null, dossier.dossier_id,
       jsonb_build_object('references', named[1:20], 'customers', customers, 'dossier', dossier.dossier_id)
     from shared_key
     left join lateral (
       select min(dossier_id) as dossier_id from pair where pair.key = shared_key.key and pair.is_shared
     ) dossier on true`,
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
    sql`insert into finding
     select 'left_with_open_dossier', customer_id || '/' || dossier_id, customer_id, dossier_id, jsonb_build_object(${aboutSql}, 'status', status)
     from pair p where not is_active and status in ('draft', 'open', 'needs_attention', 'completed')`,
  );
  await collectScreeningFindings(transaction);
  await collectNameConflicts(transaction, compare.namesAgree);
  await collectApplicantFindings(transaction, input.accountId, compare.compareApplicant);
}

/** Compares dossiers with screenings. */
async function collectScreeningFindings(transaction: Queryable): Promise<void> {
  const collect = (kind: Sql, facts: Sql, rest: Sql): Promise<number> =>
    transaction.execute(
      sql`insert into finding
       select ${kind}, p.customer_id || '/' || p.dossier_id, p.customer_id, p.dossier_id, jsonb_build_object(${aboutSql}${facts})
       from (select p.* ${countingSql}) p ${rest}`,
    );
  await collect(
    sql`case when is_true_match then 'approved_with_true_match' when is_sanction then 'approved_with_sanctions_alert' else 'approved_with_open_alert' end`,
    sql`, 'alerts', waiting`,
    sql`join alerting using (customer_id) where p.status = 'approved'`,
  );
  await collect(
    sql`found.kind`,
    sql``,
    sql`join half_seen using (customer_id)
     cross join lateral (values
       ('never_screened', is_unscreened and is_overdue),
       ('approved_with_truncated_answer', is_truncated and not is_unscreened and p.status = 'approved')
     ) found (kind, holds)
     where found.holds`,
  );
  await collect(
    sql`'approved_before_name_change'`,
    sql`, 'former', changed.former, 'name', changed.name, 'changedAt', changed.imported_at`,
    sql`join renamed changed using (customer_id)
     where p.status = 'approved' and coalesce(p.completed_at, p.updated_at) < changed.imported_at`,
  );
}

const nameRow = z.object({
  customerId: z.number(),
  dossierId: z.string(),
  reference: z.string(),
  roster: z.string(),
  dossier: z.string(),
});

const namesAtOnce = 5_000;

async function collectNameConflicts(transaction: Queryable, agree: typeof namesAgree): Promise<void> {
  await transaction.execute(
    `declare unlike no scroll cursor for
     select customer_id, dossier_id, reference, name as roster, dossier_name as dossier from pair
     where is_active and customer_id > 0 and is_counted and lower(name collate "C") <> lower(dossier_name collate "C") and dossier_name ~ '\\S'`,
  );
  let pairs: readonly z.infer<typeof nameRow>[];
  do {
    pairs = await transaction.query(nameRow, `fetch ${namesAtOnce} from unlike`);
    const conflicts = pairs.filter(({ roster, dossier }) => !agree(roster, dossier));
    const found = conflicts.map(({ customerId, dossierId, reference, roster, dossier }) => ({
      kind: 'name_conflict',
      subject: `${customerId}/${dossierId}`,
      customerId,
      dossierId,
      facts: { reference, dossier: dossierId, rosterName: roster, dossierName: dossier },
    }));
    await insertRows(transaction, 'finding', found);
  } while (pairs.length === namesAtOnce);
  await transaction.execute('close unlike');
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

async function collectApplicantFindings(transaction: Queryable, accountId: number, compare: typeof compareApplicant) {
  await transaction.execute(
    sql`declare applicant no scroll cursor for
     select pair.customer_id, pair.dossier_id, pair.reference, record.record_id as "applicantId",
       pair.dossier_type = 'kyb' as "isCompany", record.name, record.birth_date, record.country,
       version.record -> 'parties' as parties
     from dossier_record record
     join pair on pair.dossier_id = record.dossier_id and pair.is_active and pair.customer_id > 0 and pair.is_counted
     join customer on customer.customer_id = pair.customer_id
     join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
     where record.account_id = ${accountId} and record.kind = 'entity' and record.fetched_at is not null
     order by record.dossier_id, record.record_id`,
  );
  let rows: readonly z.infer<typeof applicantRow>[];
  do {
    rows = await transaction.query(applicantRow, `fetch ${namesAtOnce} from applicant`);
    const found = rows.flatMap((row) =>
      compare(row).map(({ kind, facts }) => ({
        kind,
        subject: `${row.customerId}/${row.dossierId}/${row.applicantId}`,
        customerId: row.customerId,
        dossierId: row.dossierId,
        facts: { reference: row.reference, dossier: row.dossierId, applicant: row.applicantId, ...facts },
      })),
    );
    await insertRows(transaction, 'finding', found);
  } while (rows.length === namesAtOnce);
  await transaction.execute('close applicant');
}
