import type { Database } from '../../src/store/database/database.js';

const blockColumns =
  'run_id, party_range, part, plan_reason, outcome, request_base, response_base, batch_base, customer_version, places, requests, responses, batches';

/** SQL: stores screenings of rows of `night`, `batch` (after `batchBase`) and `n`, the number of customer, party and request. */
const insertBlocks = (rows: string, batchBase: string): string => `
    insert into screening_block (${blockColumns})
      select night, n >> 7, 1, 'cadence', 'screened', n >> 7 << 7, 1, ${batchBase}, 1, array_agg((n & 127)::integer::"char" order by n),
        array_agg((n & 127)::integer order by n), array_agg(0 order by n), array_agg(batch::integer order by n)
      from (${rows}) screened group by night, n >> 7;`;

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
    select open_run_range(n) from generate_series(0, ${nights}, 256) n;
    insert into search_batch (run_id, batch_id, committed_at) select n, n, ${at} from generate_series(1, ${nights}) n;
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
    insert into planned_screening (run_id, party_id, request_id, customer_version, plan_reason, outcome, outcome_reason)
      select night, n, n, 1, 'cadence', 'failed', 'timeout'
      from generate_series(greatest(1, ${nights} - 2), ${nights}) night cross join generate_series(7, ${customers}, 1000) n;
    ${insertBlocks(`select 1 as night, 0 as batch, n from generate_series(1, ${customers}) n`, '1')}
    ${insertBlocks(`select ${nights} as night, (n - 1) / 256 as batch, n from generate_series(1, ${customers}) n where n % 1000 <> 7`, '1::bigint << 32')}
    -- All other nights are as the first; the customers that the last three missed are in neither.
    insert into screening_block (${blockColumns})
      select other, party_range, part, plan_reason, outcome, request_base, response_base, other, customer_version, places, requests, responses, zeros
      from screening_block cross join generate_series(2, ${nights} - 1) other
      cross join lateral (select array_fill(0, array[cardinality(places)]) as zeros) none
      where run_id = case when other > ${nights} - 3 then ${nights} else 1 end;
    -- Of the last night all calls are known.
    insert into search_batch (run_id, batch_id, committed_at, request_base, requests, call_base, calls, service_prefix, service_ids)
      select ${nights}, (1::bigint << 32) + (n - 1) / 256, timestamptz '${lastAt.toISOString()}', first, array_agg((n - first)::integer order by n),
        first,
        array_agg((n - first)::bigint << 48 | 500::bigint << 24 | 90 order by n), 'req_', array_agg(md5(n::text)::uuid order by n)
      from generate_series(1, ${customers}) n cross join lateral (select (n - 1) / 256 * 256 + 1 as first) batch
      where n % 1000 <> 7
      group by (n - 1) / 256, first;
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
