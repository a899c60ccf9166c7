import { beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { StoreError } from '../../../src/errors.js';
import {
  type Database,
  DatabaseError,
  executeAll,
  insertRows,
  readAtOnce,
  readRow,
  readValue,
} from '../../../src/store/database/database.js';
import { pendingMigrations } from '../../../src/store/database/migrate.js';
import type { DatabaseLocation } from '../../../src/store/database/open-database.js';
import { insertInto, json, recordset, replaceInto, sql } from '../../../src/store/database/statement.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';

const numberRow = z.object({ n: z.number() });
const anyRow = z.record(z.string(), z.unknown());

describeOnEachDatabase('the database', (open, databases) => {
  let location: DatabaseLocation;
  let database: Database;

  beforeAll(async () => {
    location = await databases.locate();
    database = await open(location);
    await database.runScript('create table item (n bigint primary key, name text); create table other (n int);');
  });

  async function countItems(): Promise<number> {
    const [row] = await database.query(numberRow, 'select count(*) as n from item');
    return row?.n ?? -1;
  }

  async function rejection(promise: Promise<unknown>): Promise<unknown> {
    return promise.then(
      () => undefined,
      (error: unknown) => error,
    );
  }

  it('has the packaged schema, of which nothing is left to apply', async () => {
    expect(await pendingMigrations(database)).toEqual([]);
  });

  it('gives the same JavaScript types for every column type that we use', async () => {
    const rows = await database.query(
      anyRow,
      `select 9007199254740991::int8 as big, -3::int2 as small, true as flag, 'é' as text, '2024-02-29'::date as day,
         timestamptz '2024-02-29 12:00:00.123456+02' as instant, '\\x00ff'::bytea as bytes, '{"a":[1,null]}'::jsonb as json,
         '[1]'::json as plain, 1.5::float8 as float, 12.25::numeric as numeric, array['a','b"c\\',null,'NULL',''] as texts,
         '{}'::text[] as none, array[1,2]::int8[] as bigs, array[timestamptz '2024-01-01 00:00+00'] as instants,
         null::text as missing, '00000000-0000-0000-0000-000000000001'::uuid as uuid`,
    );
    expect(rows).toEqual([
      {
        big: Number.MAX_SAFE_INTEGER,
        small: -3,
        flag: true,
        text: 'é',
        day: '2024-02-29',
        instant: new Date('2024-02-29T10:00:00.123Z'),
        bytes: Buffer.from([0, 255]),
        json: { a: [1, null] },
        plain: [1],
        float: 1.5,
        numeric: 12.25,
        texts: ['a', 'b"c\\', null, 'NULL', ''],
        none: [],
        bigs: [1, 2],
        instants: [new Date('2024-01-01T00:00:00Z')],
        missing: null,
        uuid: '00000000-0000-0000-0000-000000000001',
      },
    ]);
    expect(Buffer.isBuffer(rows[0]?.['bytes'])).toBe(true);
  });

  it('gives columns in camelCase, but to a record of any columns as they are, also by a cursor', async () => {
    const sql = `select 1 as run_id, 'x' as "asIs", 2 as plain`;
    const row = z.object({ runId: z.number(), asIs: z.string(), plain: z.number() });
    const expected = [{ runId: 1, asIs: 'x', plain: 2 }];
    expect(await database.query(row, sql)).toEqual(expected);
    expect(await database.transaction((transaction) => transaction.query(row, sql))).toEqual(expected);
    expect(await collect(database.cursor(row, sql, 5))).toEqual([expected]);
    expect(await database.query(anyRow, sql)).toEqual([{ run_id: 1, asIs: 'x', plain: 2 }]);
  });

  const keptRow = z.object({
    keptId: z.number(),
    someTexts: z.array(z.string()),
    facts: z.unknown(),
    at: z.date().nullable(),
    bytes: z.instanceof(Buffer).nullable(),
  });

  it('inserts, replaces and updates rows by the names of their properties', async () => {
    await database.runScript(
      'create table kept (kept_id int primary key, some_texts text[], facts jsonb, at timestamptz, bytes bytea)',
    );
    const at = new Date('2024-02-29T12:00:00Z');
    const kept = { keptId: 1, someTexts: ['a', 'b "c"'], facts: { a: [1] }, at, bytes: Buffer.from([0, 255]) };
    const other = { keptId: 2, someTexts: [], facts: ['b'], at: undefined };
    await insertRows(database, 'kept', [kept, other]);
    await insertRows(database, 'kept', []);
    expect(await database.execute(sql`${insertInto('kept', [kept])} on conflict do nothing`)).toBe(0);
    const all = sql`select * from kept order by kept_id`;
    const stored = [kept, { ...other, at: null, bytes: null }];
    expect(await database.query(keptRow, all)).toEqual(stored);
    expect(await collect(database.cursor(keptRow, all, 5))).toEqual([stored]);
    await database.execute(replaceInto('kept', [{ ...kept, facts: 'c', at: undefined }], ['kept_id']));
    expect(await readRow(database, keptRow, sql`select * from kept where kept_id = ${1}`)).toEqual({
      ...kept,
      facts: 'c',
      at: null,
    });
    const rows = [{ keptId: 1, at }];
    const update = sql`update kept set at = row.at from ${recordset(rows)} as row (kept_id integer, at timestamptz)
      where kept.kept_id = row.kept_id and kept.facts = ${json('c')}`;
    await executeAll(database, 1, update);
    expect(await readValue(database, z.date(), sql`select at from kept where kept_id = any (${[1, 3]})`)).toEqual(at);
  });

  it('stores no row when one of them cannot be written, and says which statement it was', async () => {
    await database.runScript('create table few (n int primary key) partition by list (n)');
    await database.runScript('create rule none as on insert to few do instead nothing');
    const refused = database.transaction((transaction) => insertRows(transaction, 'few', [{ n: 1 }, { n: 2 }]));
    expect(await rejection(refused)).toMatchObject({
      code: 'rows_missing',
      message: expect.stringMatching(/^only 0 of 2 rows could be written.*: insert into few \(n\) select n/),
    });
    const none = readRow(database, numberRow, sql`select n from few where n = ${3}`);
    expect(await rejection(none)).toMatchObject({ code: 'row_missing', message: expect.stringMatching(/n = \$1$/) });
  });

  it('brings every kind of parameter back as it was sent', async () => {
    const sent = {
      text: "naïve 'quote' \\ 名前",
      number: 42,
      float: -0.125,
      flag: false,
      instant: new Date('1999-12-31T23:59:59.999Z'),
      bytes: Buffer.from([1, 2, 0, 255]),
      texts: ['plain', 'comma, "quote" {brace} \\', ''],
      numbers: [1, 2, 3],
      missing: null,
    };
    const [row] = await database.query(
      anyRow,
      sql`select ${sent.text}::text as text, ${sent.number}::int8 as number, ${sent.float}::float8 as float, ${sent.flag}::boolean as flag,
         ${sent.instant}::timestamptz as instant, ${sent.bytes}::bytea as bytes, ${sent.texts}::text[] as texts,
         ${sent.numbers}::int8[] as numbers, ${sent.missing}::text as missing, ${json({ deep: ['"', null] })} as json`,
    );
    expect(row).toEqual({ ...sent, json: { deep: ['"', null] } });
  });

  it('writes and reads many rows through one JSON parameter', async () => {
    const items = Array.from({ length: 500 }, (_, index) => ({ n: 10_000 + index, name: `名 "${index}"` }));
    const written = await database.execute(
      sql`insert into item select * from jsonb_to_recordset(${JSON.stringify(items)}::text::jsonb) as row (n bigint, name text)`,
    );
    expect(written).toBe(500);
    expect(await database.execute(sql`delete from item where n >= ${10_000}`)).toBe(500);
    expect(await database.execute(sql`delete from item where n >= ${10_000}`)).toBe(0);
  });

  it('refuses an integer that a number cannot hold, also within a cursor', async () => {
    const sql = 'select 9007199254740993::int8 as n';
    expect(await rejection(database.query(numberRow, sql))).toBeInstanceOf(StoreError);
    const batches = database.cursor(numberRow, sql, 10);
    expect(await rejection(collect(batches))).toBeInstanceOf(StoreError);
    expect(await database.query(numberRow, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  it('refuses a date that is none', async () => {
    const refused = database.query(anyRow, sql`select ${new Date(Number.NaN)}::timestamptz as x`);
    expect(await rejection(refused)).toMatchObject({ code: 'database_parameter' });
  });

  it('names the column of a row that breaks its schema, never the value', async () => {
    const error = await rejection(database.query(numberRow, `select 'Jane Roe' as n`));
    expect(error).toMatchObject({ code: 'database_row' });
    expect(String(error)).toContain(' n ');
    expect(String(error)).not.toContain('Jane');
  });

  it('keeps values of rows and parameters out of errors, and the SQLSTATE in them', async () => {
    await database.execute(sql`insert into item values (${1}, ${'Jane Roe'})`);
    const failures = [
      { state: '23505', statement: sql`insert into item values (${1}, ${'Jane Roe'})` },
      { state: '22P02', statement: sql`select ${'Jane Roe'}::text::int as n` },
      { state: '42P01', statement: sql`select ${'Jane Roe'}::text from nowhere` },
    ];
    for (const { state, statement } of failures) {
      const error = await rejection(database.execute(statement));
      expect(error).toBeInstanceOf(DatabaseError);
      expect(error).toMatchObject({ code: 'database_error', sqlState: state });
      const seen = inspectDeeply(error);
      expect(seen).not.toContain('Jane');
      expect(seen).toContain(state);
    }
    await database.execute('delete from item');
  });

  it('takes exactly one statement per query', async () => {
    expect(await rejection(database.query(numberRow, 'select 1 as n; select 2 as n'))).toMatchObject({
      sqlState: '42601',
    });
  });

  it('keeps what a transaction did, and returns what its work returned', async () => {
    const result = await database.transaction(async (transaction) => {
      await transaction.execute('insert into item values (1, null)');
      await transaction.runScript('insert into item values (2, null); insert into item values (3, null);');
      return transaction.query(numberRow, 'select n from item order by n');
    });
    expect(result).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
    expect(await countItems()).toBe(3);
    await database.execute('delete from item');
  });

  it('rolls back when the work throws, and passes that error on unchanged', async () => {
    const failure = new TypeError('of the work itself');
    const error = await rejection(
      database.transaction(async (transaction) => {
        await transaction.execute('insert into item values (1, null)');
        throw failure;
      }),
    );
    expect(error).toBe(failure);
    expect(await countItems()).toBe(0);
  });

  it('never reports a commit when a statement failed and the work swallowed it', async () => {
    const error = await rejection(
      database.transaction(async (transaction) => {
        await transaction.execute('insert into item values (1, null)');
        await transaction.execute('insert into item values (1, null)').catch(() => 0);
      }),
    );
    expect(error).toMatchObject({ code: 'transaction_aborted' });
    expect(await countItems()).toBe(0);
  });

  it('rolls back whole when one of several statements sent at once fails', async () => {
    const error = await rejection(
      database.transaction((transaction) =>
        Promise.all([1, 1, 2, 3].map((n) => transaction.execute(sql`insert into item values (${n}, null)`))),
      ),
    );
    expect(error).toMatchObject({ sqlState: '23505' });
    expect(await countItems()).toBe(0);
  });

  it('refuses a transaction that has ended', async () => {
    const leaked = await database.transaction(async (transaction) => ({ transaction }));
    expect(await rejection(leaked.transaction.execute('insert into item values (9, null)'))).toMatchObject({
      code: 'transaction_ended',
    });
  });

  it('runs many transactions started at once', async () => {
    await Promise.all(
      Array.from({ length: 30 }, (_, n) =>
        database.transaction(async (transaction) => {
          await transaction.execute(sql`insert into item values (${n}, null)`);
        }),
      ),
    );
    expect(await countItems()).toBe(30);
    await database.execute('delete from item');
  });

  it('runs a script whole or not at all', async () => {
    const error = await rejection(database.runScript('insert into item values (1, null); select 1 / 0;'));
    expect(error).toBeInstanceOf(DatabaseError);
    expect(await countItems()).toBe(0);
  });

  it('reads every row once through a cursor while others write', async () => {
    await database.execute('insert into item select g, null from generate_series(1, 25) as g');
    const seen: number[] = [];
    for await (const batch of database.cursor(numberRow, sql`select n from item where n > ${5} order by n`, 10)) {
      seen.push(...batch.map((row) => row.n));
      await database.transaction(async (transaction) => {
        await transaction.execute(sql`update item set name = ${'seen'}`);
        await transaction.execute('insert into item select max(n) + 1 from item');
      });
    }
    expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => index + 6));
    await database.execute('delete from item');
  });

  it('gives no batch for an empty result, and no empty batch after an even one', async () => {
    const read = (rows: number) =>
      collect(database.cursor(numberRow, sql`select n from generate_series(1, ${rows}::bigint) as n`, 5));
    expect(await read(0)).toEqual([]);
    expect((await read(10)).map((batch) => batch.length)).toEqual([5, 5]);
  });

  it('closes its cursors when the reader breaks out, throws or the statement is wrong', async () => {
    const sql = 'select n from generate_series(1, 100) as n';
    for await (const _ of database.cursor(numberRow, sql, 10)) break;
    const fail = async () => {
      for await (const _ of database.cursor(numberRow, sql, 10)) throw new Error('reader');
    };
    await expect(fail()).rejects.toThrow('reader');
    expect(await rejection(collect(database.cursor(numberRow, 'selec', 10)))).toBeInstanceOf(DatabaseError);
    expect(await database.query(numberRow, "select count(*) as n from pg_cursors where name <> ''")).toEqual([
      { n: 0 },
    ]);
  });

  it('can be read by two cursors at once', async () => {
    const sql = 'select n from generate_series(1, 30) as n';
    let pairs = 0;
    for await (const outer of database.cursor(numberRow, sql, 10)) {
      for await (const inner of database.cursor(numberRow, sql, 15)) pairs += outer.length * inner.length;
    }
    expect(pairs).toBe(900);
  });

  it('reads several queries as of one moment whatever is committed meanwhile, and does nothing but read', async () => {
    // Nobody else can write to an embedded database meanwhile.
    const writer = databases.dialect === 'postgres' ? await open(location) : null;
    await database.runScript('create table noted (n int)');
    const counts = await readAtOnce(database, async (snapshot) => {
      const count = () => snapshot.query(numberRow, 'select count(*) as n from noted');
      const before = await count();
      await writer?.execute('insert into noted values (1)');
      return [before, await count()];
    });
    expect(counts).toEqual([[{ n: 0 }], [{ n: 0 }]]);
    const writing = readAtOnce(database, (snapshot) => snapshot.execute('delete from noted'));
    expect(await rejection(writing)).toMatchObject({ sqlState: '25006' });
  });

  it('refuses use once it is closed, and closes twice without complaint', async () => {
    const closing = await open();
    await closing.close();
    await closing.close();
    expect(await rejection(closing.query(numberRow, 'select 1 as n'))).toBeInstanceOf(StoreError);
  });
});

async function collect<T>(batches: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const batch of batches) all.push(batch);
  return all;
}

/** Everything a careless logger could print of an error. */
function inspectDeeply(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = Object.getOwnPropertyNames(error).map((name) => `${name}=${String(Reflect.get(error, name))}`);
  return `${own.join('\n')}\n${inspectDeeply(error.cause)}`;
}
