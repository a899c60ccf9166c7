import { beforeAll, expect, it } from 'vitest';
import { type Database, DatabaseError } from '../../../src/store/database/database.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

const setUp = `
  insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
  insert into roster (organisation_id, name, created_at) values (1, 'referred', now());
  insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public_x', true, '', now());
  insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
    select 1, 1, 1, 'test', 'rescreen', 'running', 'started', 'k', 1, 'o', 's', 'v', now() from generate_series(1, 3);
  insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
    values (3, 1, 's', 'd', now(), 1, 1, 0, 0, 0);
  insert into screening_request (organisation_id, type, name) values (1, 'person', 'Name');
  insert into customer (roster_id, reference, version, record_digest, first_import_id) values (1, 'C-1', 1, 'd', 1);
  insert into customer_version (customer_id, version, import_id, record) values (1, 1, 1, '{"parties": []}');
  insert into party (customer_id, ordinal, request_id, is_current) values (1, 0, 1, true);
  insert into response (organisation_id, digest, body, total, truncated, first_seen_at, matches, hits) values (1, '\\x01', '{}', 0, false, now(), 0, 0);
  insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state)
    values (1, 1, 1, 1, 1, 1, 's', now(), 'clear');
  insert into search_call (run_id, attempt_id, request_id, started_at, outcome) values (2, 1, 1, now(), 'unknown');
`;

const refuse = async (database: Database, sql: string): Promise<void> => {
  await expect(database.runScript(sql), sql).rejects.toBeInstanceOf(DatabaseError);
};

describeOnEachDatabase('a run', (open) => {
  let database: Database;
  beforeAll(async () => {
    database = await open();
  });

  it('that a row names is there, and stays as long as it is named', async () => {
    await database.runScript(setUp);
    const call = 'insert into search_call (run_id, attempt_id, request_id, started_at, outcome)';
    await refuse(database, `${call} select n, 2, 1, now(), 'unknown' from unnest(array[2, 99]) as n`);
    const note = 'insert into call_in_flight (run_id, worker, first_call, noted_at, requests)';
    await refuse(database, `${note} values (99, 1, 1, now(), '{1}')`);
    await refuse(database, 'insert into search_batch (run_id, batch_id, committed_at) values (99, 1, now())');
    await refuse(database, 'update party_state set run_id = 99');
    await refuse(database, 'delete from run where run_id = 1');
    await refuse(database, 'delete from run where run_id = 2');
    await database.runScript('update party_state set run_id = 2');
    await database.runScript('delete from run where run_id = 1');
  });
});
