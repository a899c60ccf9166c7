import type { Database } from '../../src/store/database/database.js';

/**
 * Fills an empty database with one roster and its closed nights, one party per customer: each night screened every customer, of the last three
 * one customer in a thousand failed. One customer in 200 has an alert that waits. Only this function knows how a night is stored.
 */
export async function fillClosedNights(
  database: Database,
  { customers, nights, lastAt }: { customers: number; nights: number; lastAt: Date },
): Promise<void> {
  const at = `timestamptz '${lastAt.toISOString()}' - (${nights} - n) * interval '1 day'`;
  await database.runScript(`
    insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
    insert into roster (organisation_id, name, created_at) values (1, 'people', now());
    insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public_x', true, '', now());
    insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, selection, in_scope, lease_key, epoch, owner, settings_digest, version, started_at, finished_at)
      select 1, 1, 1, 'test', 'rescreen', 'incomplete', 'finished', 'due', ${customers}, 'k', 1, 'o', 's', 'v', ${at}, ${at} + interval '2 hours'
      from generate_series(1, ${nights}) n;
    insert into search_batch (run_id, batch_id, committed_at) select n, n, ${at} from generate_series(1, ${nights}) n;
    insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
      values (1, 1, 's', 'd', now(), 0, 0, 0, 0, 0);
    insert into response (organisation_id, digest, body, total, truncated, first_seen_at)
      select 1, int8send(n), '{}', 0, false, now() from generate_series(1, 2) n;
    insert into screening_request (organisation_id, type, name) select 1, 'person', 'Name ' || n from generate_series(1, ${customers}) n;
    insert into customer (roster_id, reference, version, record_digest, first_import_id)
      select 1, 'C-' || n, 1, 'd', 1 from generate_series(1, ${customers}) n;
    insert into customer_version (customer_id, version, import_id, risk_tier, record)
      select n, 1, 1, (array['high', 'medium', 'low'])[n % 3 + 1], jsonb_build_object('reference', 'C-' || n, 'parties', jsonb_build_array(jsonb_build_object(
        'role', 'customer', 'type', 'person', 'name', 'Name ' || n, 'birthDate', null, 'countries', '[]'::jsonb)))
      from generate_series(1, ${customers}) n;
    insert into party (customer_id, ordinal, request_id, is_current) select n, 0, n, true from generate_series(1, ${customers}) n;
    insert into planned_screening (run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome, outcome_reason)
      select night, n, n, case when not has_failed then 1 end, case when not has_failed then night end, 1, 'cadence',
        case when has_failed then 'failed' else 'screened' end, case when has_failed then 'timeout' end
      from generate_series(1, ${nights}) night cross join generate_series(1, ${customers}) n
      cross join lateral (select n % 1000 = 7 and night > ${nights} - 3 as has_failed) what;
    insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state)
      select 1, n, case when n % 1000 = 7 then ${nights} - 3 else ${nights} end, n, case when n % 200 = 0 then 2 else 1 end, 1, 's',
        timestamptz '${lastAt.toISOString()}' + (n * 7200.0 / ${customers}) * interval '1 second'
          - case when n % 1000 = 7 then interval '3 days' else interval '0' end,
        case when n % 200 = 0 then 'open_alert' else 'clear' end
      from generate_series(1, ${customers}) n;
    insert into listed_party (organisation_id, digest, match_id, name, schema, topics, birth_dates, countries)
      values (1, '\\x01', 'm', 'N', 'Person', '{}', '{}', '{}');
    insert into alert (account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, topic)
      select 1, n, 'open', 1, 1, true, 0.9, 1, 'high', 'r', 1, true, now(), 'sanction' from generate_series(200, ${customers}, 200) n;
    select set_config('nightscreen.status_at', (timestamptz '${lastAt.toISOString()}' + interval '2 hours')::text, true);
    select record_state_changes(1, null, true);
    select note_coverage(${nights});
    analyze;`);
}
