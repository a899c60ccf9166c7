import type { Database } from '../../src/store/database/database.js';

/** Four nights of a roster: all screened for the first time with two matches each, one change for two of a hundred, nobody screened, 300,000 matches under a new id. */
export async function fillReportableNights(database: Database, customers: number): Promise<void> {
  await database.runScript(fillSql(customers));
}

/** Every hundredth customer has a change of each of its two matches. */
const countChanges = (customers: number): number => 2 * Math.floor(customers / 100);

/** How many matches the last night finds under a new id. */
export const countRekeyed = (customers: number): number => 2 * Math.min(customers, 150_000);

const party = `jsonb_build_array(jsonb_build_object('role', 'customer', 'type', 'person', 'name', 'Ferdinand Achterberg ' || n,
  'birthDate', '1960-01-01', 'countries', jsonb_build_array('nl')))`;
/** What the lists say of the two parties that each customer is compared with: at first, under another spelling, and then under another id. */
const descriptions = ['first', 'respelled', 'rekeyed'] as const;

const listPartiesSql = (customers: number): string => `
  insert into listed_party (listed_id, organisation_id, digest, match_id, name, schema, topics, birth_dates, countries)
    overriding system value
    select place + 3 * (2 * n + rank - 2) + 1, 1, sha256(convert_to(place || ' ' || n || ' ' || rank, 'UTF8')),
      case when place = 2 then 'amla_new_' else 'amla_' end || n || '_' || rank,
      case when place = 0 then 'Achterberg, Ferdinand ' else 'Achterberg, F. ' end || n, 'Person', '{role.pep}', '{1961}', '{nl,be}'
    from generate_series(1, ${customers}) n cross join generate_series(1, 2) rank cross join generate_series(0, 2) place;`;

/** Of `description`, as the columns of a change have it. */
const listed = (description: (typeof descriptions)[number]) =>
  `${descriptions.indexOf(description)} + 3 * (2 * n + rank - 2) + 1, rank, n % 50 = 0, 0.71`;

/** No more than a report reads: answers and matches themselves stay out. */
const fillSql = (customers: number): string => `
  insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
  insert into roster (organisation_id, name, created_at) values (1, 'people', now());
  insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public_x', true, '', now());
  insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, selection, lease_key, epoch, owner, settings_digest,
      version, started_at, finished_at, in_scope, sums)
    select 1, 1, 1, 'test', 'screen', state, 'finished', 'due', 'k', 1, 'o', 's', 'v', timestamptz '2026-03-01' + night * interval '1 day',
      timestamptz '2026-03-01 03:00' + night * interval '1 day', ${customers}, jsonb_build_object(
        'counts', jsonb_build_object('rows', 0, 'customers', 0, 'rejected', 0, 'duplicates', 0, 'inScope', ${customers},
          'planned', ${customers}, 'screened', screened, 'reused', 0, 'failed', 0, 'skipped', 0, 'remaining', ${customers} - screened,
          'searches', screened, 'attempts', screened, 'matches', 2 * screened, 'hits', screened / 50, 'changes', changes),
        'states', jsonb_build_object('clear', 0, 'below_threshold', screened, 'false_positive', 0, 'truncated', 0,
          'not_screened', ${customers} - screened, 'open_alert', 0, 'true_match', 0),
        'failedBecause', '{}'::jsonb, 'skippedBecause', '{}'::jsonb,
        'baseline', jsonb_build_object('critical', 0, 'high', 0, 'medium', baseline, 'low', 0, 'info', 0),
        'attemptsByOutcome', '{}'::jsonb, 'possiblyBilledTwice', 0)
    from (values (1, 'complete', ${customers}, 0, ${2 * customers}), (2, 'complete', ${customers}, ${countChanges(customers)}, 0),
      (3, 'stopped', 0, 0, 0), (4, 'complete', ${customers}, ${countRekeyed(customers)}, 0)) nights (night, state, screened, changes, baseline);
  insert into search_batch (run_id, batch_id, committed_at)
    select night, night, timestamptz '2026-03-01' + night * interval '1 day' from generate_series(1, 4) night;
  insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
    values (1, 1, 's', 'd', now(), 0, 0, 0, 0, 0);
  insert into response (organisation_id, digest, body, total, truncated, first_seen_at, matches, hits) values (1, '\\x01', '{}', 0, false, now(), 0, 0);
  insert into screening_request (organisation_id, type, name)
    select 1, 'person', 'Ferdinand Achterberg ' || n from generate_series(1, ${customers}) n;
  insert into customer (roster_id, reference, version, record_digest, first_import_id)
    select 1, 'C-' || n, 1, 'd', 1 from generate_series(1, ${customers}) n;
  insert into customer_version (customer_id, version, import_id, risk_tier, record)
    select n, 1, 1, 'medium', jsonb_build_object('reference', 'C-' || n, 'riskTier', 'medium', 'parties', ${party})
    from generate_series(1, ${customers}) n;
  insert into party (customer_id, ordinal, request_id, is_current) select n, 0, n, true from generate_series(1, ${customers}) n;
  insert into planned_screening (run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome)
    select night, n, n, case when night <> 3 then 1 end, case when night <> 3 then night end, 1, 'cadence',
      case when night <> 3 then 'screened' else 'remaining' end
    from generate_series(1, 4) night cross join generate_series(1, ${customers}) n;
  insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state)
    select 1, n, 2, n, 1, 1, 's', timestamptz '2026-03-03', 'below_threshold' from generate_series(1, ${customers}) n;
  ${listPartiesSql(customers)}
  insert into change_record (run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank,
      before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, birth_date_agreement, country_agreement, sanction_hit)
    select 1, 1, n, 1, 'match_added', 'medium', 'pep_match', 'service_data', true, 'amla_' || n || '_' || rank, '{}', null::bigint,
      null::integer, null::boolean, null::float8, ${listed('first')}, 'unknown', 'agree', false
    from generate_series(1, ${customers}) n cross join generate_series(1, 2) rank;
  insert into change_record (run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank,
      before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, birth_date_agreement, country_agreement, sanction_hit)
    select 2, 2, n, 1, 'match_changed', case when n % 30000 = 0 then 'high' else 'medium' end, 'name_changed', 'service_data', false,
      'amla_' || n || '_' || rank, '{name}', ${listed('first')}, ${listed('respelled')}, 'unknown', 'agree', n % 30000 = 0
    from generate_series(100, ${customers}, 100) n cross join generate_series(1, 2) rank;
  insert into change_record (run_id, batch_id, party_id, customer_version, kind, severity, rule, cause, is_baseline, match_id, fields, before_listed_id, before_rank,
      before_is_hit, before_score, after_listed_id, after_rank, after_is_hit, after_score, birth_date_agreement, country_agreement, sanction_hit)
    select 4, 4, n, 1, 'match_rekeyed', 'info', 'rekeyed', 'service_data', false, 'amla_new_' || n || '_' || rank, '{}',
      ${listed('respelled')}, ${listed('rekeyed')}, 'unknown', 'agree', false
    from generate_series(1, ${countRekeyed(customers) / 2}) n cross join generate_series(1, 2) rank;
  insert into change_alert (change_id, state, opened_at, due_at, reopened_because, said)
    select change_id, 'open', '2026-03-02T00:00:00Z', '2026-03-12T00:00:00Z', '{}', '{}' from change_record where run_id = 4;
  analyze;`;
