import { copyFile, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { Database } from '../../../src/store/database/database.js';
import { migrate } from '../../../src/store/database/migrate.js';
import { takeBackAnswers } from '../../../src/store/unconfirmed-answers.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

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

/** Alerts that absence had closed: undecided, proposed, dismissed, confirmed. */
const goneSql = `
  insert into review_item (account_id, party_id, state, listed, customer_version, severity, rule, priority, is_baseline, opened_at)
    select 1, 1, 'open', '{"topics": ["role.pep"]}', 1, 'medium', 'pep_hit_gained', 500, false, now() from generate_series(1, 4);
  insert into disposition (item_id, kind, verdict, reviewer, is_attested, reason, decided_at, origin, seen, seen_digest)
    select item_id, kind, verdict, session_user, version() ~ 'emscripten', 'looked at it', now(), 'review', '{}', '\\x00'
    from (values (2, 'proposed', 'false_positive'), (3, 'decided', 'false_positive'), (4, 'decided', 'true_match'))
      as said (item_id, kind, verdict)
    -- There are no proposals where no second person can be distinguished from the first.
    where kind <> 'proposed' or version() !~ 'emscripten';
  update review_item set state = 'gone';`;

/** Brings an empty database up to each of these migrations, fills it before each, and applies the last. */
async function applyTo(
  database: Database,
  ...steps: readonly (readonly [migration: string, sql: string])[]
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-migrations-'));
  const files = (await readdir('sql')).filter((name) => /^\d{4}_.*\.sql$/.test(name));
  const bring = async (isWanted: (name: string) => boolean) => {
    for (const name of files.filter(isWanted)) await copyFile(join('sql', name), join(folder, name));
    return migrate(database, folder);
  };
  for (const [migration, sql] of steps) {
    await bring((name) => name < migration);
    await database.runScript(sql);
  }
  const [last = ''] = steps.at(-1) ?? [];
  expect(await bring((name) => name === last)).toEqual([last]);
}

describeOnEachDatabase('a migration of a filled database', (open, databases) => {
  it('has unconfirmed answers of an open run dated back, so that they are due again, and loses no state', async () => {
    const database = await open(await databases.locateEmpty());
    await applyTo(database, ['0012_former_answers.sql', fillSql]);
    // What takes answers back is of today.
    await migrate(database);
    await database.transaction(async (transaction) => {
      expect(await takeBackAnswers(transaction, 2, { reason: 'not_confirmed', now: new Date() })).toBe(1);
    });
    const states = await database.query(
      z.object({ partyId: z.number(), state: z.string(), isExpired: z.boolean() }),
      `select party_id, state, screened_at = 'epoch' as is_expired from party_state order by party_id`,
    );
    expect(states).toEqual([
      { partyId: 1, state: 'open_hit', isExpired: false },
      { partyId: 2, state: 'open_hit', isExpired: true },
    ]);
  });

  it('has alerts that absence had closed wait again, proposals as proposals, unless they were dismissed', async () => {
    const database = await open(await databases.locateEmpty());
    await applyTo(database, ['0012_former_answers.sql', fillSql], ['0035_alerts_and_states.sql', goneSql]);
    const alerts = await database.query(
      z.object({ state: z.string(), absence: z.string().nullable(), topic: z.string(), isConfirmed: z.boolean() }),
      'select state, absence, topic, is_confirmed as "isConfirmed" from review_item order by item_id',
    );
    const absent = { absence: 'not_returned', topic: 'pep', isConfirmed: false };
    expect(alerts).toEqual([
      { ...absent, state: 'open' },
      { ...absent, state: database.dialect === 'postgres' ? 'proposed' : 'open' },
      { ...absent, state: 'gone' },
      { ...absent, state: 'open', isConfirmed: true },
    ]);
  });
});
