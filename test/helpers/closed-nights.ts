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
    insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, selection, in_scope, lease_key, epoch, owner, settings_digest, version, started_at, finished_at, applied_wave)
      select 1, 1, 1, 'test', 'rescreen', 'incomplete', 'finished', 'due', ${customers}, 'k', 1, 'o', 's', 'v', ${at}, ${at} + interval '2 hours', 1
      from generate_series(1, ${nights}) n;
    select open_run_range(n) from generate_series(0, ${nights}, 256) n;
    insert into batch (run_id, worker, number, wave, committed_at) select n, 1, 1, 1, ${at} from generate_series(1, ${nights}) n;
    insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
      values (1, 1, 's', 'd', now(), 0, 0, 0, 0, 0);
    insert into response (organisation_id, digest, body, total, truncated, first_seen_at, matches, hits)
      select 1, int8send(n), '{}', 0, false, now(), 0, 0 from generate_series(1, 2) n;
    insert into screening_request (organisation_id, type, name) select 1, 'person', 'Name ' || n from generate_series(1, ${customers}) n;
    insert into customer (roster_id, reference, version, record_digest, first_import_id)
      select 1, 'C-' || n, 1, 'd', 1 from generate_series(1, ${customers}) n;
    insert into customer_version (customer_id, version, import_id, risk_tier, record)
      select n, 1, 1, (array['high', 'medium', 'low'])[n % 3 + 1], jsonb_build_object('reference', 'C-' || n, 'parties', jsonb_build_array(jsonb_build_object(
        'role', 'customer', 'type', 'person', 'name', 'Name ' || n, 'birthDate', null, 'countries', '[]'::jsonb)))
      from generate_series(1, ${customers}) n;
    insert into party (customer_id, ordinal, request_id, is_current) select n, 0, n, true from generate_series(1, ${customers}) n;
    insert into planned (run_id, party_id, request_id, customer_version, search_order, reason)
      select night, n, n, 1, n, 'cadence' from generate_series(1, ${nights}) night cross join generate_series(1, ${customers}) n;
    insert into failure (run_id, request_id, reason)
      select night, n, 'timeout'
      from generate_series(greatest(1, ${nights} - 2), ${nights}) night cross join generate_series(7, ${customers}, 1000) n;
    insert into call (run_id, request_id, worker, number, started_at, ended_at, status, outcome, service_request_id, response_id, batch)
      select night, n, 1, n, at.moment, at.moment + interval '90 ms', 201, 'ok', 'req_' || md5(n::text)::uuid, 1, 1
      from generate_series(1, ${nights}) night cross join generate_series(1, ${customers}) n
      cross join lateral (select timestamptz '${lastAt.toISOString()}' - (${nights} - night) * interval '1 day' as moment) at
      where night <= ${nights} - 3 or n % 1000 <> 7;
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
    -- As before a run is closed.
    analyze;
    select judge_customers(1, 1, null, true, timestamptz '${lastAt.toISOString()}' + interval '2 hours');
    update customer_state set because = 'timeout', because_run_id = ${nights}, has_failed = true where customer_id % 1000 = 7;
    analyze;`);
}
