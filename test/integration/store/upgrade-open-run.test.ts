import { copyFile, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { migrate } from '../../../src/store/migrate.js';
import { takeBackAnswers } from '../../../src/store/unconfirmed-answers.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

const migration = '0012_former_answers.sql';

/** A run that was stopped before former answers were kept, and one that came to its end. */
const fillSql = `
  insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now());
  insert into roster (organisation_id, name, created_at) values (1, 'people', now());
  insert into account (organisation_id, public_key, is_test, base_url, created_at) values (1, 'public_x', true, '', now());
  insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, lease_key, epoch, owner, settings_digest, version, started_at)
    select 1, 1, 1, 'test', 'rescreen', state, 'screened', 'k', 1, 'o', 's', 'v', now() from unnest(array['complete', 'stopped']) state;
  insert into roster_import (run_id, roster_id, source, source_digest, imported_at, rows, customers, rejected, duplicates, absent)
    values (1, 1, 's', 'd', now(), 2, 2, 0, 0, 0);
  insert into commit_batch (run_id, epoch, sequence, items, committed_at) select n, 1, 1, 1, now() from generate_series(1, 2) n;
  insert into screening_request (organisation_id, type, name) select 1, 'person', 'Name ' || n from generate_series(1, 2) n;
  insert into customer (roster_id, reference, version, record_digest, first_import_id, last_import_id)
    select 1, 'C-' || n, 1, 'd', 1, 1 from generate_series(1, 2) n;
  insert into party (customer_id, ordinal, request_id, is_current) select n, 0, n, true from generate_series(1, 2) n;
  insert into response (organisation_id, digest, body, total, truncated, first_seen_at) values (1, '\\x01', '{}', 0, false, now());
  insert into screening (run_id, party_id, request_id, response_id, batch_id, customer_version, plan_reason, outcome)
    select n, n, n, 1, n, 1, 'cadence', 'screened' from generate_series(1, 2) n;
  insert into party_state (account_id, party_id, run_id, request_id, response_id, customer_version, settings_digest, screened_at, state)
    select 1, n, n, n, 1, 1, 's', now(), 'open_hit' from generate_series(1, 2) n;`;

describeOnEachDatabase('a run that was open when former answers began to be kept', (open, databases) => {
  it('has its unconfirmed answers dated back, so that they are due again, and loses no state', async () => {
    const database = await open(await databases.locateEmpty());
    const folder = await mkdtemp(join(tmpdir(), 'nightscreen-migrations-'));
    const files = (await readdir('sql')).filter((name) => /^\d{4}_.*\.sql$/.test(name));
    for (const name of files.filter((name) => name < migration)) await copyFile(join('sql', name), join(folder, name));
    await migrate(database, folder);
    await database.runScript(fillSql);
    await copyFile(join('sql', migration), join(folder, migration));
    expect(await migrate(database, folder)).toEqual([migration]);
    // What takes answers back is of today.
    await migrate(database);
    await database.transaction(async (transaction) => {
      expect(await takeBackAnswers(transaction, 2, { reason: 'not_confirmed', now: new Date() })).toBe(1);
    });
    const states = await database.query(
      z.object({ party_id: z.number(), state: z.string(), is_expired: z.boolean() }),
      `select party_id, state, screened_at = 'epoch' as is_expired from party_state order by party_id`,
    );
    expect(states).toEqual([
      { party_id: 1, state: 'open_hit', is_expired: false },
      { party_id: 2, state: 'open_hit', is_expired: true },
    ]);
  });
});
