import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { readAlertHistories } from '../../../src/store/review/decisions.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

/** Columns of tables that refuse change, by what they hold: codes and ids, words of staff, or facts of customers and listed parties. */
const codes = {
  acceptance: ['differences', 'digest', 'gap', 'kind', 'settings'],
  alert_event: ['kind', 'reasons', 'severity'],
  call: ['outcome', 'service_request_id'],
  change: 'adjustments birth_date_agreement cause country_agreement fields kind match_id rule severity'.split(' '),
  change_alert: ['reopened_because', 'state'],
  discrepancy_event: ['kind', 'severity'],
  disposition: ['kind', 'origin', 'verdict'],
  erasure: ['removed'],
  evidence_key: ['kind'],
  evidence_pack: ['calls', 'ending', 'former_sha256', 'manifest_sha256', 'run_json', 'unconfirmed_because'],
  failure: ['reason'],
  match_detail: ['entity_ids', 'kind', 'reason', 'record_id', 'service_request_id'],
  next_state:
    'former_settings_digest former_state former_unreturned reported_scores settings_digest state unreturned'.split(' '),
  packed: ['kind'],
  planned: ['reason', 'skipped_because'],
  response: ['first_match_id'],
  run_hold: ['kind', 'reasons', 'states'],
};
const staff = {
  acceptance: ['accepted_by', 'held_by', 'proposed_by', 'reason'],
  alert_event: ['actor', 'assigned_to'],
  change_alert: ['assigned_to'],
  discrepancy_event: ['reason', 'reviewer'],
  erasure: ['erased_by', 'reason'],
  disposition: ['reviewer'],
  review_sheet: ['exported_by'],
};
/** What lists publish, once; who was taken for whom stands elsewhere. */
const listed = {
  listed_party: ['birth_dates', 'countries', 'match_id', 'name', 'schema', 'topics'],
};
/** To be moved to tables whose rows may be removed; nothing is added here. */
const personal = {
  acceptance: ['changes', 'reference'],
  discrepancy_event: ['facts'],
  invitation: ['channel', 'dossier_id', 'events', 'reference', 'state', 'status', 'token'],
  match_detail: ['body'],
  response: ['body'],
  run_hold: ['roster'],
};

const list = (columns: Readonly<Record<string, readonly string[]>>): string[] =>
  Object.entries(columns).flatMap(([table, names]) => names.map((name) => `${table}.${name}`));

const parties = 'any (array(select party_id from party where customer_id = 1))';
const alerts = `any (array(select alert_id from alert where party_id = ${parties}))`;
/** Each table that holds facts of a customer, and how its rows are found from the customer: step by step, whatever the statistics say. */
const reached: Readonly<Record<string, string>> = {
  customer_version: 'select record from customer_version where customer_id = 1',
  screening_request: `select name from screening_request
    where request_id = any (array(select request_id from party where customer_id = 1))`,
  namesakes: `select customer_id from party where request_id = any (array(select request_id from party where customer_id = 1))`,
  party_state: `select state from party_state where account_id = 1 and party_id = ${parties}`,
  change: `select match_id from change where party_id = ${parties}`,
  change_alert: `select said from change_alert
    where change_id = any (array(select change_id from change where party_id = ${parties}))`,
  alert: `select listed_id from alert where party_id = ${parties}`,
  disposition_text: `select seen from disposition_text
    where disposition_id = any (array(select disposition_id from disposition where alert_id = ${alerts}))`,
  shown_alert: `select facts from shown_alert where alert_id = ${alerts}`,
  discrepancy_event: `select facts from discrepancy_event
    where discrepancy_id = any (array(select discrepancy_id from discrepancy where customer_id = 1))`,
  invitation: 'select events from invitation where customer_id = 1',
  customer_state_change: 'select reason from customer_state_change where customer_id = 1',
};

/** The columns of these types in tables that refuse change. */
const readGuarded = (database: Database, types: readonly string[]) =>
  readColumn(
    database,
    z.string(),
    sql`select distinct guarded.relname || '.' || column_name as name
     from pg_trigger guard
     join pg_proc on pg_proc.oid = guard.tgfoid and pg_proc.proname = 'refuse_rewriting'
     join pg_class guarded on guarded.oid = guard.tgrelid and not guarded.relispartition
     join information_schema.columns held on held.table_name = guarded.relname and held.table_schema = 'public'
     where held.udt_name = any (${types}::text[])
     order by 1`,
  );

describeOnEachDatabase('personal data', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  }, 120_000);

  it('stands in no column of a table that refuses change but those that are known', async () => {
    const columns = await readGuarded(database, [
      'text',
      'clean_text',
      'written_text',
      'json',
      'jsonb',
      '_text',
      '_jsonb',
    ]);
    const known = [...list(codes), ...list(staff), ...list(listed), ...list(personal)];
    expect(new Set(known).size).toBe(known.length);
    expect(columns.toSorted()).toEqual(known.toSorted());
  });

  it('is committed to by no digest there that outlives both its salt and what it is of', async () => {
    const columns = await readGuarded(database, ['bytea']);
    // The salt of a text goes with the text; the others stand beside what they are of.
    expect(columns).toEqual([
      'disposition.text_digest',
      // Keyed, and of the reference only.
      'erasure.reference_digest',
      // A key is random, and an erasure deletes it.
      'evidence_key.key',
      'listed_party.digest',
      'match_detail.digest',
      'match_detail.received_digest',
      'response.digest',
    ]);
  });

  it('tells with how many other customers a name is shared', async () => {
    await database.runScript(`
      insert into organisation (name, digest_key, created_at) select name, '\\x00', now() from unnest('{default,other}'::text[]) name;
      insert into roster (organisation_id, name, created_at) values (1, 'people', now()), (2, 'people', now());
      insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public_x', true, '', now());
      insert into run (organisation_id, roster_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
        values (1, 1, 'test', 'import', 'running', 'started', 'k', 1, 'o', 's', 'v', now());
      insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
        values (1, 1, 's', 'd', now(), 0, 0, 0, 0, 0);
      insert into screening_request (organisation_id, type, name) values (1, 'person', 'A'), (1, 'person', 'B'), (2, 'person', 'A');
      insert into customer (roster_id, reference, version, record_digest, first_import_id)
        select case when n < 5 then 1 else 2 end, 'C-' || n, 1, 'd', 1 from generate_series(1, 5) n;
      insert into customer_version (customer_id, version, import_id, record) select n, 1, 1, jsonb_build_object('parties', jsonb_build_array(
        jsonb_build_object('role', 'customer', 'type', 'person', 'name', 'A', 'birthDate', null, 'countries', '[]'::jsonb))) from generate_series(1, 5) n;
      insert into party (customer_id, ordinal, request_id, is_current)
        values (1, 0, 1, true), (2, 0, 1, true), (3, 0, 1, false), (3, 1, 1, true), (4, 0, 2, true), (5, 0, 3, true);
      insert into listed_party (organisation_id, digest, match_id, name, schema, topics, birth_dates, countries)
        values (1, '\\x01', 'm', 'A', 'Person', '{}', '{}', '{}');
      insert into alert (account_id, party_id, state, listed_id, rank, is_hit, score, customer_version, severity, rule, priority, is_baseline, opened_at, topic)
        select 1, party_id, 'open', 1, 1, true, 0.9, 1, 'high', 'r', 1, true, now(), 'sanction' from party where customer_id in (1, 4)`);
    const show = async (reference: string) => {
      const alerts = await readAlertHistories(database, 'default', reference);
      return alerts.map(({ namesakes }) => namesakes);
    };
    expect(await show('C-1')).toEqual([2]);
    expect(await show('C-4')).toEqual([0]);
  });

  it('is found from the customer by indexes, wherever it stands', async () => {
    const scanned: string[] = [];
    await database.transaction(async (transaction) => {
      await transaction.execute('set local enable_seqscan = off');
      for (const [table, sql] of Object.entries(reached)) {
        const lines = await transaction.query(z.record(z.string(), z.string()), `explain ${sql}`);
        const plan = lines.flatMap((line) => Object.values(line)).join('\n');
        expect(plan).toMatch(/Index Cond: .*\bcustomer_id = /);
        if (/Seq Scan/.test(plan)) scanned.push(`${table}\n${plan}`);
      }
    });
    expect(scanned).toEqual([]);
  });
});
