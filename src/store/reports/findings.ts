import { z } from 'zod';
import type { compareApplicant, namesAgree } from '../../reconciliation/applicant.js';
import type { DiscrepancyKind } from '../../vocabulary.js';
import type { Queryable } from '../database/database.js';
import { type ReconciliationInput, toTypesDifferSql } from '../dossiers/reconciliation.js';

/** A kind of finding with its condition (`p` is the pair that counts for a customer) and its facts. */
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
  ['type_conflict', toTypesDifferSql('p.type', 'p.dossier_type'), `'roster', p.type, 'dossier', p.dossier_type`],
];

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
  const about = `'reference', p.reference, 'dossier', p.dossier_id`;
  const counting = 'from pair p where p.is_active and p.customer_id > 0 and p.dossier_id is not null and p.is_counted';
  // One pass over all pairs; a pair can have several findings.
  await transaction.execute(
    `insert into finding
     select found.kind, p.customer_id || '/' || p.dossier_id, p.customer_id, p.dossier_id,
       jsonb_build_object(${about}) || found.facts
     from (select p.* ${counting} and (
       p.status in ('rejected', 'needs_attention', 'closed', 'archived') or p.updated_at < $1::timestamptz
         or ${toTypesDifferSql('p.type', 'p.dossier_type')}
     )) p
     cross join lateral (values ${perPair
       .map(([kind, condition, facts]) => `('${kind}', ${condition}, jsonb_build_object(${facts}))`)
       .join(', ')}) found (kind, holds, facts)
     where found.holds`,
    [staleBefore],
  );
  await transaction.execute(
    `insert into finding
     select 'roster_incomplete', $1, null, null, facts
     from (
       select imported.imported_at as at, imported.control_total > imported.rows as is_below,
         jsonb_build_object('stated', imported.control_total, 'read', imported.rows) as facts
       from roster_import imported where imported.roster_id = $1::bigint and not imported.is_delta
       union all
       select held_at, found is not null, jsonb_build_object('held', found ->> 'message')
       from run_hold hold join run using (run_id) left join lateral (
         select found from jsonb_array_elements(hold.roster -> 'heldBy') found where found ->> 'guard' = 'control_total'
       ) guards on true
       where hold.kind = 'roster' and run.roster_id = $1::bigint
       order by at desc limit 1
     ) last_read
     where is_below`,
    [String(rosterId)],
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
  await collectScreeningFindings(transaction, { counting, about });
  await collectNameConflicts(transaction, compare.namesAgree);
  await collectApplicantFindings(transaction, input.accountId, compare.compareApplicant);
}

/** Compares dossiers with screenings. */
async function collectScreeningFindings(
  transaction: Queryable,
  { counting, about }: { counting: string; about: string },
): Promise<void> {
  const collect = (kind: string, facts: string, rest: string): Promise<number> =>
    transaction.execute(
      `insert into finding
       select ${kind}, p.customer_id || '/' || p.dossier_id, p.customer_id, p.dossier_id, jsonb_build_object(${about}${facts})
       from (select p.* ${counting}) p ${rest}`,
    );
  await collect(
    `case when is_true_match then 'approved_with_true_match' when is_sanction then 'approved_with_sanctions_alert' else 'approved_with_open_alert' end`,
    `, 'alerts', waiting`,
    `join alerting using (customer_id) where p.status = 'approved'`,
  );
  await collect(
    'found.kind',
    '',
    `join half_seen using (customer_id)
     cross join lateral (values
       ('never_screened', is_unscreened and is_overdue),
       ('approved_with_truncated_answer', is_truncated and not is_unscreened and p.status = 'approved')
     ) found (kind, holds)
     where found.holds`,
  );
  await collect(
    `'approved_before_name_change'`,
    `, 'former', changed.former, 'name', changed.name, 'changedAt', changed.imported_at`,
    `join renamed changed using (customer_id)
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
    if (conflicts.length > 0) {
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

async function collectApplicantFindings(
  transaction: Queryable,
  accountId: number,
  compare: typeof compareApplicant,
): Promise<void> {
  await transaction.execute(
    `declare applicant no scroll cursor for
     select pair.customer_id, pair.dossier_id, pair.reference, record.record_id as "applicantId",
       pair.dossier_type = 'kyb' as "isCompany", record.name, record.birth_date, record.country,
       version.record -> 'parties' as parties
     from dossier_record record
     join pair on pair.dossier_id = record.dossier_id and pair.is_active and pair.customer_id > 0 and pair.is_counted
     join customer on customer.customer_id = pair.customer_id
     join customer_version version on version.customer_id = customer.customer_id and version.version = customer.version
     where record.account_id = $1 and record.kind = 'entity' and record.fetched_at is not null
     order by record.dossier_id, record.record_id`,
    [accountId],
  );
  let rows: readonly z.infer<typeof applicantRow>[];
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
