import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { listTables } from '../../src/store/backup/format.js';
import { checkBackup, restoreBackup } from '../../src/store/backup/restore-backup.js';
import { writeBackup } from '../../src/store/backup/write-backup.js';
import type { Database } from '../../src/store/database/database.js';
import { migrate, packagedMigrations, readMigrations } from '../../src/store/database/migrate.js';
import { sql } from '../../src/store/database/statement.js';
import { describeOnce, describeOnEachDatabase, testDatabases } from '../helpers/databases.js';
import { backUp, migrateUpTo, readAllRows, readChecks, restore } from '../helpers/former-databases.js';

const nameRow = z.object({ name: z.string() });
const odd = 'tab\t, "quotes", back\\slash, (a,b), {c}, \r\n two lines, \u2028, ☠ 𝔘, \\N, and an end.';

/** Values that a conversion on the way would change. */
async function fill(database: Database): Promise<void> {
  await database.execute(
    sql`insert into organisation (name, digest_key, created_at) values (${odd}, '\\x00ff5c27', '2026-01-02 03:04:05.678901+00')`,
  );
  await database.execute(
    sql`insert into response (organisation_id, digest, body, total, truncated, first_seen_at, matches, hits, listed_ids, are_hits, scores)
     values (1, '\\x', ${odd}, 9007199254740993, true, 'infinity', 2, 1, array[1, 2], array[true, false], array[0.1::float8 + 0.2::float8, 1e-300]),
       (1, '\\x01', '', 0, false, '0044-03-15 00:00:00+00 BC', 0, 0, null, null, null)`,
  );
  await database.execute(
    sql`insert into listed_party (organisation_id, digest, match_id, name, schema, topics, birth_dates, countries)
     values (1, '\\x', '', ${odd}, 'Person', array['a,b', '', ${odd}], '{}', array['NULL']), (1, '\\x01', 'x', 'y', 'z', '{}', '{}', '{}')`,
  );
  await database.execute(
    `insert into webhook_event (organisation_id, url, change_id) values (1, 'https://a.example', 9007199254740993)`,
  );
}

describeOnEachDatabase('a backup', (open, databases) => {
  const openEmpty = async () => open(await databases.locateEmpty());

  it('brings back every value as it was, with all that keeps rows in order', async () => {
    const source = await open();
    await fill(source);
    const target = await openEmpty();
    const summary = await restore(target, await backUp(source));
    expect(summary.rows).toMatchObject({ organisation: 1, listed_party: 2, response: 2, webhook_event: 1 });
    expect(await readAllRows(target)).toEqual(await readAllRows(source));
    expect(await readChecks(target)).toEqual(await readChecks(source));
    await expect(target.execute('delete from organisation')).rejects.toMatchObject({ sqlState: '23503' });
  });

  it('of an older schema is restored at that schema and migrated from there', async () => {
    const source = await openEmpty();
    const migrateOn = await migrateUpTo(source, 15);
    await fill(source);
    const path = await backUp(source);
    const target = await openEmpty();
    const { header } = await restore(target, path);
    expect(header.migrations.length).toBe(15);
    if (databases.dialect === 'postgres')
      await expect(restore(await open(), path)).rejects.toMatchObject({ code: 'database_of_other_schema' });
    expect(await migrate(target)).toEqual(await migrateOn());
    const [before, after] = [await readAllRows(source), await readAllRows(target)];
    expect(before['response']).toHaveLength(2);
    expect(after).toEqual(before);
  });
});

describeOnce('a backup (postgres only)', () => {
  const databases = testDatabases('postgres');
  const { open } = databases;
  const openEmpty = async () => open(await databases.locateEmpty());

  it('knows every table that is not on its way only', async () => {
    const tables = await (await open()).query(
      nameRow,
      `select relname::text as name from pg_class
       where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition and relpersistence = 'p' and relname <> 'schema_migration'`,
    );
    const known = listTables(await readMigrations(packagedMigrations()));
    expect(known.toSorted()).toEqual(tables.map(({ name }) => name).toSorted());
  });

  it('that is another than the one that was checked changes nothing', async () => {
    const source = await open();
    await fill(source);
    const path = await backUp(source);
    const { signal } = new AbortController();
    const checked = await checkBackup(path, signal);
    await source.execute(`update webhook_event set url = 'changed'`);
    await copyFile(await backUp(source), path);
    const target = await openEmpty();
    await expect(restoreBackup(target, checked, signal)).rejects.toMatchObject({
      code: 'backup_broken',
      message: expect.stringContaining('was changed while it was read'),
    });
    expect(await readAllRows(target)).toEqual({});
  });

  it('that is cut, altered, of something else or of a newer version changes nothing', async () => {
    const source = await open();
    await fill(source);
    const target = await openEmpty();
    const whole = await readFile(await backUp(source));
    const text = gunzipSync(whole).toString('utf8');
    const swapped = text.split('\n');
    swapped.splice(1, 2, ...swapped.slice(1, 3).toReversed());
    const cases: readonly (readonly [Buffer, string])[] = [
      [whole.subarray(0, whole.length - 20), 'backup_broken'],
      [gzipSync(text.slice(0, text.lastIndexOf('{"end"'))), 'backup_broken'],
      [gzipSync(text.replace('https://a.example', 'https://b.example')), 'backup_broken'],
      [gzipSync(text.replace(/^"\(2,1,.*\n/m, '')), 'backup_broken'],
      [gzipSync(swapped.join('\n')), 'backup_broken'],
      [gzipSync(`${text}"(1)"\n`), 'backup_broken'],
      [gzipSync('{"schema":"nightscreen/backup/2"}\n'), 'backup_format'],
      [gzipSync('customer_id,type,name\n'), 'backup_broken'],
      [Buffer.from('customer_id,type,name\n'), 'backup_broken'],
      [Buffer.alloc(0), 'backup_broken'],
      [
        gzipSync(
          text
            .replace('"version":1,', '"version":1,"later":1,')
            .replace('0029_recording_states', '0029_other')
            .replace(/"sha256":"\w{5}/, '"sha256":"00000'),
        ),
        'backup_other_schema',
      ],
      [gzipSync(text.replace('}]}\n', '},{"version":9999,"name":"9999_later.sql","sha256":""}]}\n')), 'backup_newer'],
    ];
    const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-backup-')), 'broken.backup');
    for (const [content, code] of cases) {
      await writeFile(path, content);
      await expect(restore(target, path)).rejects.toMatchObject({ name: 'BackupError', code });
    }
    await expect(restore(target, `${path}.gone`)).rejects.toMatchObject({ code: 'backup_missing' });
    const tables = await target.query(
      nameRow,
      `select relname::text as name from pg_class where relnamespace = 'public'::regnamespace`,
    );
    expect(tables).toEqual([]);
  });

  it.each([
    ['is one line without end', '', 1_500, 'is too long'],
    ['has a row without end', '\n"', 300, 'is too long'],
    ['has a row just within the bound, and is cut', '\n"', 200, 'its last line has no end'],
  ])('that %s is refused at once', async (_, start, megabytes, words) => {
    const header = JSON.stringify({
      schema: 'nightscreen/backup/1',
      createdAt: new Date().toISOString(),
      version: '1',
      dialect: 'postgres',
      organisations: [],
      migrations: [],
    });
    const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-backup-')), 'long.backup');
    const megabyte = gzipSync('x'.repeat(1_048_576));
    await writeFile(
      path,
      Buffer.concat([gzipSync(`${header}${start}`), ...Array.from({ length: megabytes }, () => megabyte)]),
    );
    const begunMs = performance.now();
    await expect(checkBackup(path, new AbortController().signal)).rejects.toThrow(words);
    // 1.2 seconds; when each part of the line was read with all before it, it took minutes.
    expect(performance.now() - begunMs).toBeLessThan(15_000);
  });

  it('is not restored over anything, and a restore that fails half way leaves nothing', async () => {
    const source = await open();
    await fill(source);
    const path = await backUp(source);
    await expect(restore(source, path)).rejects.toMatchObject({ code: 'database_not_empty' });
    const migrated = await open();
    await restore(migrated, path);
    expect(await readAllRows(migrated)).toEqual(await readAllRows(source));
    // Whole by its digest, and yet not what its own tables allow.
    const lines = gunzipSync(await readFile(path))
      .toString('utf8')
      .replace('{"table":"webhook_event",', '{"table":"webhook_events",');
    const body = lines.slice(0, lines.lastIndexOf('{"end"'));
    const sha256 = createHash('sha256').update(body).digest('hex');
    const end = lines
      .slice(body.length)
      .replace('"webhook_event":', '"webhook_events":')
      .replace(/"sha256":"\w+"/, `"sha256":"${sha256}"`);
    await writeFile(path, gzipSync(body + end));
    const target = await openEmpty();
    await expect(restore(target, path)).rejects.toMatchObject({ code: 'backup_other_tables' });
    expect(await readAllRows(target)).toEqual({});
  });

  it('shows one moment, whatever is written meanwhile', async () => {
    const location = await databases.locate();
    const source = await open(location);
    await fill(source);
    const before = await readAllRows(source);
    const writer = await open(location);
    let lines = '';
    const write = async (more: string): Promise<void> => {
      if (lines === '') await writer.execute(`update webhook_event set url = 'changed'`);
      lines += more;
    };
    const { signal } = new AbortController();
    await writeBackup(source, { version: '0.0.0-test', now: new Date(), signal, write });
    const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-backup-')), 'moment.backup');
    await writeFile(path, gzipSync(lines));
    const target = await openEmpty();
    await restore(target, path);
    expect(await readAllRows(target)).toEqual(before);
    expect((await readAllRows(source))['webhook_event']).not.toEqual(before['webhook_event']);
  });
});
