import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readSecret } from '../../../src/config/environment.js';
import { ConfigError, RosterError } from '../../../src/errors.js';
import type { PartyRow, RosterRow } from '../../../src/roster/customer.js';
import { readParties, readRoster } from '../../../src/roster/read-roster.js';
import { listPartySources, rosterSettingsSchema } from '../../../src/roster/settings.js';
import { bundleProgram } from '../../helpers/cli-process.js';
import { testDatabases } from '../../helpers/databases.js';
import { printFigure } from '../../helpers/figures.js';
import { listenOnLoopback } from '../../helpers/loopback.js';
import type { PostgresReport } from './read-postgres-program.js';

const databases = testDatabases('postgres');
let url = '';
let client: pg.Client;

beforeAll(async () => {
  url = (await databases.locateEmpty()).url ?? '';
  client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(`create table people (
    id bigint primary key, legal_name text, kind text, born date, seen timestamptz, nationalities text[], code numeric(6, 2)
  )`);
  await client.query(`insert into people
    select i, 'Name ' || i, case i % 2 when 0 then 'person' else 'entity' end, date '1950-01-01' + i, now(), '{DK,Norway}', i
    from generate_series(1, 1234) as i`);
});

afterAll(async () => {
  await client.end();
});

const columns = { id: 'id', name: 'legal_name', type: 'kind', birthDate: 'born', countries: 'nationalities' };

type RosterReading = Awaited<ReturnType<typeof readRoster>>;

async function openQuery(query: string, mapping: unknown = columns, connection = url): Promise<RosterReading> {
  return openSource({ query }, mapping, connection);
}

async function openSource(
  postgres: Record<string, unknown>,
  mapping: unknown = columns,
  connection = url,
): Promise<RosterReading> {
  const settings = rosterSettingsSchema.parse({
    name: 'core',
    postgres: { urlEnv: 'CORE_DATABASE_URL', ...postgres },
    columns: mapping,
  });
  return readRoster(settings, (name) => (name === 'CORE_DATABASE_URL' ? connection : undefined));
}

async function collect(reading: RosterReading): Promise<(readonly RosterRow[])[]> {
  const batches: (readonly RosterRow[])[] = [];
  for await (const batch of reading.rows) batches.push(batch);
  return batches;
}

async function failure(promise: Promise<unknown>): Promise<RosterError> {
  const error: unknown = await promise.catch((thrown: unknown) => thrown);
  if (!(error instanceof RosterError)) throw new Error('expected a RosterError', { cause: error });
  return error;
}

test('a query of its own says how many rows there are, in the snapshot that is read', async () => {
  const openWith = (controlTotal: string) =>
    readRoster(
      rosterSettingsSchema.parse({
        name: 'core',
        columns,
        controlTotal: { query: controlTotal },
        postgres: { urlEnv: 'CORE_DATABASE_URL', query: 'select * from people where id < 1000' },
      }),
      () => url,
    );
  const reading = await openWith('select count(*) from people');
  await collect(reading);
  expect(reading.controlTotal?.()).toBe(1234);
  expect(await failure(openWith('select id from people'))).toMatchObject({ code: 'control_total_unreadable' });
  expect(await failure(openWith('select nothing'))).toMatchObject({ message: expect.stringContaining('controlTotal') });
  expect((await failure(openWith('select 1; drop table people'))).message).toContain('multiple commands');
});

test('every row of a query is read in batches as text, with its ordinal as its line', async () => {
  const reading = await openQuery('select * from people order by id;\n');
  const batches = await collect(reading);
  expect(batches.map((batch) => batch.length)).toEqual([10, 40, 160, 500, 500, 24]);
  expect(reading.source).toBe('postgres query core');
  expect(reading.tally()).toEqual({ lines: 1234, headers: 0, blanks: 0, continuations: 0, records: 1234 });
  expect(batches.at(-1)?.at(-1)).toMatchObject({
    kind: 'customer',
    line: 1234,
    file: null,
    customer: {
      reference: '1234',
      riskTier: null,
      isActive: true,
      endDate: null,
      parties: [
        { role: 'customer', type: 'person', name: 'Name 1234', birthDate: '1953-05-19', countries: ['dk', 'no'] },
      ],
    },
  });
});

test('the digest is that of the rows: equal for the same rows, another one for others', async () => {
  const digests: string[] = [];
  for (const filter of ['true', 'true', 'id <> 7']) {
    const reading = await openQuery(`select * from people where ${filter}`);
    expect(() => reading.digest()).toThrow(RosterError);
    await collect(reading);
    digests.push(reading.digest());
  }
  expect(digests[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(digests[1]).toBe(digests[0]);
  expect(digests[2]).not.toBe(digests[0]);
});

test('a birth date is the same in whatever time zone the login reads it', async () => {
  const query = `values
    (1, date '1980-05-05', timestamp '1980-05-05 23:30', timestamptz '1980-05-05 00:00+00'),
    (2, null, null, timestamptz '1980-05-05 00:30+00'),
    (3, null, null, timestamptz '1980-05-05 23:30:00.5+00'),
    (4, null, null, timestamptz '1980-05-05 00:00+02'),
    (5, 'infinity', 'infinity', timestamptz 'infinity'),
    (6, '0044-03-15 BC', '0044-03-15 BC', timestamptz '0044-03-15 12:00+00 BC')`;
  const base = { id: 'column1', name: 'name', type: { value: 'person' }, attributes: ['column4'] };
  const readIn = async (zone: string, birthDate: string) => {
    const connection = new URL(url);
    connection.searchParams.set('options', `-c timezone=${zone}`);
    const named = `select *, 'Ada Berg' as name from (${query}) as people`;
    const reading = await openQuery(named, { ...base, birthDate }, connection.href);
    const rows = (await collect(reading)).flat();
    const dates = rows.map((row) =>
      row.kind === 'customer' ? row.customer.parties[0].birthDate : row.rejected.reason,
    );
    return { dates, digest: reading.digest(), rows };
  };
  const expected = {
    column2: ['1980-05-05', null, null, null, null, null],
    column3: ['1980-05-05', null, null, null, null, null],
    column4: ['1980-05-05', '1980-05-05?', '1980-05-05?', '1980-05-04?', null, null],
  };
  for (const [column, dates] of Object.entries(expected)) {
    const here = await readIn('UTC', column);
    expect(here.dates).toEqual(dates);
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) expect(await readIn(zone, column)).toEqual(here);
  }
});

test('a time stamp with a zone stays whole, a null becomes an empty field, and a bad row a reject', async () => {
  const mapping = { ...columns, birthDate: 'seen', type: 'code' };
  const reading = await openQuery(
    'select * from people where id = 1 union all select 2, null, null, null, null, null, 7',
    mapping,
  );
  const [row] = (await collect(reading)).flatMap((batch) => batch.filter((each) => each.kind === 'rejected'));
  expect(row).toMatchObject({ rejected: { line: 1, reason: 'unknown_type', column: 'code' } });
  if (row?.kind !== 'rejected') throw new Error('expected a rejected row');
  expect(row.rejected.fields).toMatchObject({
    id: '1',
    code: '1.00',
    seen: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:[\d.]+\+00$/),
  });
  const second = (
    await collect(
      await openQuery('select 2 as id, null as legal_name, null as kind', {
        id: 'id',
        name: 'legal_name',
        type: 'kind',
      }),
    )
  )[0]?.[0];
  expect(second).toMatchObject({ rejected: { reason: 'missing_name', reference: '2', fields: { legal_name: '' } } });
});

test('true and false of a query say whether a customer is one', async () => {
  const mapping = { ...columns, active: 'current', endDate: 'until' };
  const query =
    'select *, id = 1 as current, case id when 2 then localtimestamp end as until from people where id < 3 order by id';
  expect((await collect(await openQuery(query, mapping))).flat()).toMatchObject([
    { customer: { isActive: true, endDate: null } },
    { customer: { isActive: false, endDate: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) } },
  ]);
});

test('the connection string may stand in a file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-url-'));
  try {
    await writeFile(join(folder, 'url'), `${url}\n`);
    const environment = { CORE_DATABASE_URL_FILE: join(folder, 'url') };
    const settings = rosterSettingsSchema.parse({
      name: 'core',
      postgres: { urlEnv: 'CORE_DATABASE_URL', query: 'select * from people' },
      columns,
    });
    const reading = await readRoster(settings, (name) => readSecret(environment, name)?.value);
    expect((await collect(reading)).flat()).toHaveLength(1234);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('related parties are read from a query like customers from theirs', async () => {
  const roster = rosterSettingsSchema.parse({
    name: 'core',
    postgres: { urlEnv: 'CORE_DATABASE_URL', query: 'select * from people' },
    parties: [
      {
        postgres: { urlEnv: 'CORE_DATABASE_URL', query: "select id, 'UBO' as role, legal_name from people limit 2" },
        columns: { customerId: 'id', name: 'legal_name' },
      },
    ],
  });
  const [parties] = listPartySources(roster);
  if (parties === undefined) throw new Error('expected a source of parties');
  const rows: PartyRow[] = [];
  for await (const batch of (await readParties(parties, () => url)).rows) rows.push(...batch);
  expect(rows).toMatchObject([
    { kind: 'party', file: 'parties: postgres query parties', related: { party: { role: 'beneficial_owner' } } },
    { kind: 'party' },
  ]);
});

/** A source whose first step takes half a second longer than it may. */
function openSlowly(): Promise<RosterReading> {
  const query = 'select *, pg_sleep(1.5) from people';
  const settings = rosterSettingsSchema.parse({ name: 'core', postgres: { urlEnv: 'URL', query }, columns });
  return readRoster({ ...settings, postgres: { urlEnv: 'URL', query, timeoutMs: 1_000 } }, () => url);
}

test('a step that takes longer than it may ends in an error', async () => {
  const error = await failure(openSlowly());
  expect(error).toMatchObject({
    code: 'query_timeout',
    message: expect.stringMatching(/no rows within 1 s\. Make the query faster/),
  });
});

test.each(['require', 'verify-ca', 'verify-full'])(
  'sslmode=%s never falls back to clear text: a server without TLS is refused and the error says what to do',
  async (mode) => {
    const error = await failure(openQuery('select 1', columns, `${url}?sslmode=${mode}`));
    expect(error).toMatchObject({
      code: 'tls_failed',
      message: expect.stringMatching(
        /CORE_DATABASE_URL requires TLS, but the database at 127\.0\.0\.1:\d+ does not offer it/,
      ),
    });
  },
);

test('a certificate file that is not there is named by its parameter', async () => {
  const error = await failure(openQuery('select 1', columns, `${url}?sslmode=verify-full&sslrootcert=/nowhere/ca.pem`));
  expect(error).toMatchObject({ code: 'database_url_invalid', message: expect.stringContaining('sslrootcert') });
});

test('the whole reading sees one snapshot', async () => {
  const reading = await openQuery('select * from people order by id');
  await client.query("insert into people (id, legal_name, kind) values (9999, 'Late', 'person')");
  const rows = (await collect(reading)).flat();
  await client.query('delete from people where id = 9999');
  expect(rows).toHaveLength(1234);
});

test('a query cannot write, and nothing behind a semicolon is run', async () => {
  const written = await failure(openQuery("select setval(pg_get_serial_sequence('people', 'id'), 1), nextval('s')"));
  expect(written.code).toBe('query_refused');
  await client.query('create sequence if not exists counter');
  const readOnly = await failure(openQuery("select nextval('counter') as id"));
  expect(readOnly).toMatchObject({ code: 'query_refused', message: expect.stringContaining('read-only transaction') });
  const several = await failure(openQuery('select 1; commit; drop table people'));
  expect(several.code).toBe('query_refused');
  expect((await client.query('select count(*)::int as n from people')).rows).toEqual([{ n: 1234 }]);
});

test('a refused query is reported in the words of Postgres', async () => {
  const error = await failure(openQuery('select * from nobody'));
  expect(error).toMatchObject({
    code: 'query_refused',
    message: 'postgres query core: Postgres refused the query: relation "nobody" does not exist (42P01).',
  });
});

test('an error in a value never quotes the value', async () => {
  const names = { id: 'id', name: 'legal_name', type: 'kind' };
  const reading = await openQuery(
    `select i as id, 'Name ' || i as legal_name, 'person' as kind, case when i > 2500 then ('Name ' || i)::date end as born
     from generate_series(1, 3000) as i`,
    names,
  );
  const error = await failure(collect(reading));
  expect(error.message).toContain('22007');
  expect(error.message).toContain('It is one of the 500 rows after row 2210.');
  expect(`${error.message} ${String(error.cause)}`).not.toContain('Name');
});

test('rows of 320 KB are read a few at a time, so that memory stays flat', async () => {
  const program = await bundleProgram(new URL('read-postgres-program.ts', import.meta.url));
  try {
    const query = "select i as id, repeat('x', 320000) as name from generate_series(1, 600) as i";
    const { stdout } = await promisify(execFile)(process.execPath, [program.path, url, query]);
    const { rows, addedBytes }: PostgresReport = JSON.parse(stdout);
    printFigure(`600 rows of 320 KB: ${Math.round(addedBytes / 1e6)} MB added`);
    expect(rows).toBe(600);
    expect(addedBytes).toBeLessThan(230e6);
  } finally {
    await program.remove();
  }
});

const plain = { id: 'id', name: 'name', type: { value: 'person' } };

test.each([
  [
    'a mapped column',
    "repeat('x', 2000000) as name, null as note",
    'row 12 (id C-12) has 2000000 bytes in the column "name"',
  ],
  ['a mapped list', "array_fill('x'::text, array[600000]) as name, 1 as note", 'in the column "name"'],
  [
    'a column that is not mapped',
    "'Ann' as name, repeat('x', 70000000) as note",
    'row 12 (id C-12) has 70000000 bytes in the column "note"',
  ],
  [
    'bytes that are not mapped',
    "'Ann' as name, convert_to(repeat('x', 35000000), 'UTF8') as note",
    'has 70000000 bytes in the column "note"',
  ],
  [
    'JSON that is not mapped',
    "'Ann' as name, to_jsonb(repeat('x', 70000000)::text) as note",
    'bytes in the column "note"',
  ],
])('a value in %s that is too wide is refused with its row and column, and is not sent', async (_, wide, message) => {
  const query = `with whole as (
      select 'C-' || i as id, wide.* from generate_series(1, 11) as i, (select ${wide.replace(/'x', \d+/, "'x', 9").replace('600000', '1')}) as wide
      union all select 'C-12', ${wide}
    ) select * from whole; -- as of today`;
  const reading = await openQuery(query, plain);
  const heldBytes = process.memoryUsage().arrayBuffers;
  const error = await failure(collect(reading));
  expect(error).toMatchObject({ code: 'row_too_wide', message: expect.stringContaining(message) });
  expect(process.memoryUsage().arrayBuffers - heldBytes).toBeLessThan(1_000_000);
});

test('a list of aliases of every type is read name by name', async () => {
  await client.query(
    'create domain called as text; create domain names as text[]; create type kept as enum ($$A "B" C$$, $$Ada Berg$$)',
  );
  const lists = ['text[]', 'varchar(20)[]', 'char(20)[]', 'name[]', 'called[]', 'names', 'kept[]'].map(
    (type) => `(array['Ada Berg', null, 'A "B" C']::text[]::${type})::text::${type}`,
  );
  const json = ['json', 'jsonb'].map((type) => `'["Ada Berg", null, "A \\"B\\" C"]'::${type}`);
  for (const list of [...lists, ...json]) {
    const query = `select 1 as id, 'Ann' as name, ${list} as aliases, array['dk', 'se'] as countries`;
    const [row] = (
      await collect(await openQuery(query, { ...plain, aliases: 'aliases', countries: 'countries' }))
    ).flat();
    const parties = row?.kind === 'customer' ? row.customer.parties : [];
    expect(parties.map(({ name }) => name)).toEqual(['Ann', 'Ada Berg', 'A "B" C']);
    expect(row).toMatchObject({
      customer: { parties: [{ countries: ['dk', 'se'] }, {}, {}], readings: { doubts: [] } },
    });
  }
});

test('as much of a long value is sent as is kept, where nothing maps its column', async () => {
  const note = {
    text: "repeat('é', 20000)",
    json: "to_jsonb(repeat('é', 20000))",
    list: "array[repeat('é', 20000), 'b']",
    bytes: "convert_to(repeat('é', 20000), 'UTF8')",
  };
  const all = Object.entries(note).map(([name, value]) => `${value} as ${name}`);
  await client.query(`create view noted as select 1 as id, 'Ann' as name, ${all.join(', ')}`);
  const [row] = (await collect(await openSource({ query: 'select * from noted' }, plain))).flat();
  expect(row).toMatchObject({ kind: 'customer' });
  const kept = row?.kind === 'customer' ? row.fields.slice(2) : [];
  expect(kept.map((field) => field.length)).toEqual([10_000, 10_000, 10_000, 10_000]);
  expect(kept.map((field) => field.slice(0, 6))).toEqual(['éééééé', '"ééééé', '{ééééé', '\\xc3a9']);
  const mapped = { ...plain, attributes: 'all' };
  const [attributed] = (await collect(await openSource({ query: 'select * from noted' }, mapped))).flat();
  expect(attributed).toMatchObject({ customer: { attributes: { text: `${'é'.repeat(999)}…` } } });
});

test('values of every kind are read as the database writes them, whatever the statement looks like', async () => {
  const written = [
    ["'a  '::char(5)", 'a    '],
    ["'x'::varchar(3)", 'x'],
    ["'x'", 'x'],
    ['null', ''],
    ['1.50::numeric', '1.50'],
    ['1e300::float8', '1e+300'],
    ['true', 't'],
    ['\'{"a": 1}\'::json', '{"a": 1}'],
    ['\'{"a":1}\'::jsonb', '{"a": 1}'],
    ["'\\x00ff'::bytea", '\\x00ff'],
    ["'10.0.0.1'::inet", '10.0.0.1'],
    ["'10.0.0.0/8'::cidr", '10.0.0.0/8'],
    ["'1 day'::interval", '1 day'],
    ["'12.50'::money", '$12.50'],
    ["'[1,3)'::int4range", '[1,3)'],
    ["row(1, 'b')", '(1,b)'],
    ['array[1, 2]', '{1,2}'],
    ["array['a', null, 'b;c']", '{a,NULL,b;c}'],
    ["array['a']::varchar[]", '{a}'],
    ["'n'::name", 'n'],
    ["B'101'", '101'],
    ["date '2020-01-02'", '2020-01-02'],
    ["timestamp '2020-01-02 03:04'", '2020-01-02'],
    ["'00000000-0000-0000-0000-000000000001'::uuid", '00000000-0000-0000-0000-000000000001'],
    ["'pg_class'::regclass", 'pg_class'],
  ] as const;
  const values = written.map(([value]) => value);
  const expected = written.map(([, text]) => text);
  const query = `values (${values.join(', ')}), (${values.map(() => 'null').join(', ')})`;
  const headers = expected.map((_, index) => `column${index + 1}`);
  for (const mapping of [{ id: 'column3' }, { id: headers, name: headers, attributes: headers.slice(0, 1) }]) {
    const [row] = (
      await collect(await openQuery(query, { name: 'column4', type: { value: 'person' }, ...mapping }))
    ).flat();
    expect(row?.kind === 'rejected' ? Object.values(row.rejected.fields) : row?.fields).toEqual(expected);
  }
});

test.each([
  'select * from people order by id desc limit 3; -- the last',
  'select * from people order by id desc limit 3 -- the last',
  'select * from people order by id desc limit 3; /* the; last */ ;',
  'with last as (select * from people order by id desc limit 3) table last',
  'select p.*, p.id as "Id; -- no", \'; -- x\' as "?column?" from people p order by id desc limit 3',
  '(select * from people where id > 1231) union all (select * from people where false) order by id desc',
])('the rows of %j come in its order', async (query) => {
  const rows = (await collect(await openQuery(query))).flat();
  expect(rows.map((row) => (row.kind === 'customer' ? row.customer.reference : row.rejected.reason))).toEqual([
    '1234',
    '1233',
    '1232',
  ]);
});

test('mapped columns that the result lacks are named with those it has', async () => {
  const error = await failure(openQuery('select id, kind from people'));
  expect(error.code).toBe('column_missing');
  expect(error.message).toContain('no column "legal_name", "born", "nationalities". The header has "id", "kind".');
});

test('two result columns of one name are refused', async () => {
  expect((await failure(openQuery('select id, legal_name, kind, kind from people'))).code).toBe('duplicate_header');
});

test('a query without rows is refused as an empty roster', async () => {
  expect((await failure(openQuery('select * from people where false'))).code).toBe('roster_empty');
});

test('a variable that is not set is a configuration error that names it', async () => {
  const error: unknown = await openQuery('select 1', columns, '').catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ConfigError);
  expect(error).toMatchObject({ problems: [{ where: 'environment', path: 'CORE_DATABASE_URL' }] });
});

test.each([
  'mysql://clerk:planted-secret@127.0.0.1:3306/core',
  'host=127.0.0.1 password=planted-secret',
  'planted-secret',
])('a connection string of anything else than Postgres is refused unseen', async (connection) => {
  const error = await failure(openQuery('select 1', columns, connection));
  expect(error).toMatchObject({ code: 'database_url_invalid', message: expect.stringContaining('CORE_DATABASE_URL') });
  expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toMatch(/clerk|planted-secret/);
});

test('a database that cannot be reached is named by its host alone', async () => {
  const error = await failure(openQuery('select 1', columns, 'postgres://clerk:planted-secret@127.0.0.1:1/core'));
  expect(error).toMatchObject({ code: 'database_unreachable', message: expect.stringContaining('127.0.0.1:1') });
  expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toMatch(/clerk|planted-secret/);
});

test('a server that hangs up is a database that cannot be reached', async () => {
  const server = createServer((socket) => socket.destroy());
  const port = await listenOnLoopback(server);
  const error = await failure(openQuery('select 1', columns, `postgres://clerk:planted-secret@127.0.0.1:${port}/core`));
  server.close();
  expect(error.code).toBe('database_unreachable');
});

test.each(['postgres://clerk:planted-secret@[broken/core', 'postgres://clerk:planted-secret@127.0.0.1:port/core'])(
  'a broken connection string is never quoted (%#)',
  async (broken) => {
    const error = await failure(openQuery('select 1', columns, broken));
    expect(error.message).toContain('core');
    expect(`${error.message} ${error.stack} ${String(error.cause)}`).not.toContain('planted-secret');
  },
);

test('a database that does not exist is refused with its name', async () => {
  const error = await failure(openQuery('select 1', columns, url.replace(/[^/]+$/, 'missing_database')));
  expect(error).toMatchObject({ code: 'database_refused', message: expect.stringContaining('missing_database') });
});

test('a connection that ends while rows are read ends in an error and no digest', async () => {
  const reading = await openQuery(
    "select i as id, 'Name ' || i as legal_name, 'person' as kind from generate_series(1, 100000) as i",
    { id: 'id', name: 'legal_name', type: 'kind' },
  );
  let rows = 0;
  const readAll = async (): Promise<void> => {
    for await (const batch of reading.rows) {
      rows += batch.length;
      if (rows > 500) continue;
      await client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'nightscreen roster'",
      );
    }
  };
  const error = await failure(readAll());
  expect(error).toMatchObject({ code: 'roster_broken_off', message: expect.stringContaining('Nothing was imported') });
  expect(rows).toBeLessThan(10_000);
  expect(() => reading.digest()).toThrow(RosterError);
});

test('a reading that is given up leaves no connection behind', async () => {
  const closed = await openQuery('select * from people');
  await closed.close();
  await closed.close();
  const left = await openQuery('select * from people');
  for await (const _ of left.rows) break;
  await expect
    .poll(
      async () =>
        (await client.query("select 1 from pg_stat_activity where application_name = 'nightscreen roster'")).rowCount,
    )
    .toBe(0);
  expect(() => left.digest()).toThrow(RosterError);
});
