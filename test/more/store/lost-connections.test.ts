import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ConnectionEvent } from '../../../src/store/database/connections.js';
import type { Database } from '../../../src/store/database/database.js';
import { tryAcquireLease } from '../../../src/store/database/leases.js';
import { openDatabase } from '../../../src/store/database/open-database.js';
import { sql } from '../../../src/store/database/statement.js';
import { testDatabases } from '../../helpers/databases.js';
import { type Cut, startCuttingProxy } from '../../helpers/proxies.js';

const databases = testDatabases('postgres');
const numberRow = z.object({ n: z.number() });

/** Opens one database twice: by a client that reconnects, and by one that watches; `emit` hears what the first one tells. */
async function openBoth(reconnectForMs = 20_000) {
  const location = await databases.locate();
  const witness = await databases.open(location);
  await witness.execute('create table kept (n int)');
  const events: ConnectionEvent[] = [];
  const reconnect = { reconnectForMs, emit: (event: ConnectionEvent) => void events.push(event) };
  const database = await databases.open({ ...location, reconnect });
  return { location, witness, database, events, reconnect };
}

const count = async (database: Database): Promise<number> =>
  (await database.query(numberRow, 'select count(*)::integer as n from kept'))[0]?.n ?? Number.NaN;

const endOthers = (witness: Database): Promise<unknown> =>
  witness.query(
    z.unknown(),
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = current_user and pid <> pg_backend_pid()`,
  );

describe('a connection that the server ends', () => {
  it('costs no statement and no transaction, and none is done twice, however often', async () => {
    const { witness, database, events } = await openBoth();
    let isOver = false;
    const ending = (async () => {
      while (!isOver) {
        await endOthers(witness);
        await delay(20 + Math.random() * 60);
      }
    })();
    const countEvents = (kind: ConnectionEvent['kind']): number => events.filter((event) => event.kind === kind).length;
    const work = async (from: number): Promise<void> => {
      for (let n = from; n < from + 60; n += 1) {
        if (n % 3 === 0) await database.execute(sql`insert into kept values (${n})`);
        else if (n % 3 === 1) await database.query(numberRow, sql`insert into kept values (${n}) returning n`);
        else
          await database.transaction(async (transaction) => {
            await transaction.execute(sql`insert into kept values (${n})`);
            await transaction.query(numberRow, 'select count(*)::integer as n from kept');
          });
      }
    };
    // On a busy machine the work may be done before connections were ended twice: then there is more of it.
    let rounds = 0;
    do {
      await Promise.all([0, 1_000, 2_000].map((from) => work(from + rounds * 60)));
      rounds += 1;
    } while ((countEvents('lost') < 2 || countEvents('back') < 2) && rounds < 16);
    isOver = true;
    await ending;
    const numbers = await witness.query(numberRow, 'select n from kept');
    expect(new Set(numbers.map(({ n }) => n)).size).toBe(180 * rounds);
    expect(numbers).toHaveLength(180 * rounds);
    expect(countEvents('lost')).toBeGreaterThan(1);
    expect(countEvents('back')).toBeGreaterThan(1);
    expect(events[0]).toMatchObject({
      kind: 'lost',
      because: expect.stringMatching(/terminat|connection error|EPIPE|ECONNRESET/),
      reconnectForMs: 20_000,
    });
  });

  it('ends work that must run once, with nothing kept', async () => {
    const { witness, database } = await openBoth();
    let runs = 0;
    const once = database.transaction(
      async (transaction) => {
        runs += 1;
        await transaction.execute('insert into kept values (1)');
        await endOthers(witness);
        await transaction.execute('insert into kept values (2)');
      },
      { runsOnce: true },
    );
    await expect(once).rejects.toMatchObject({ code: 'database_error', isConnectionLost: true });
    expect([runs, await count(witness)]).toEqual([1, 0]);
  });

  it('never gives a lease that another has taken meanwhile', async () => {
    const { witness, database } = await openBoth();
    const first = await tryAcquireLease(database, 'night', 'sleeper', 1);
    await endOthers(witness);
    await delay(20);
    await tryAcquireLease(witness, 'night', 'heir', 60_000);
    expect(first).toMatchObject({ acquired: { epoch: 1 } });
    expect(await tryAcquireLease(database, 'night', 'sleeper', 60_000)).toMatchObject({ holder: { owner: 'heir' } });
  });
});

describe('a commit whose answer is lost', () => {
  const cases: readonly [string, Cut, number][] = [
    ['is done again when it did not arrive', 'before', 2],
    ['is not done again when it arrived', 'after', 1],
  ];
  for (const [title, cut, expectedRuns] of cases) {
    it(title, async () => {
      const { location, witness, reconnect } = await openBoth();
      const proxy = await startCuttingProxy(location.url ?? '');
      const database = await openDatabase({ url: proxy.url, reconnect }, 'tests');
      let runs = 0;
      // All connections of the pool at once.
      await Promise.all(
        [1, 2, 3, 4].map(async (n) => {
          proxy.cutAtCommit(cut);
          await database.transaction(async (transaction) => {
            runs += 1;
            await transaction.execute(sql`insert into kept values (${n})`);
          });
        }),
      );
      expect(proxy.cuts()).toBe(1);
      expect([runs, await count(witness)]).toEqual([3 + expectedRuns, 4]);
      proxy.cutAtCommit(cut);
      await database.execute('insert into kept values (5)');
      expect([proxy.cuts(), await count(witness)]).toEqual([2, 5]);
      await database.close();
      await proxy.close();
    });
  }
});

describe('an outage', () => {
  it('that lasts longer than reconnectFor is an error that says so', async () => {
    const { location } = await openBoth();
    const proxy = await startCuttingProxy(location.url ?? '');
    const events: ConnectionEvent[] = [];
    const reconnect = { reconnectForMs: 600, emit: (event: ConnectionEvent) => void events.push(event) };
    const database = await openDatabase({ url: proxy.url, reconnect }, 'tests');
    await proxy.close();
    const begunMs = performance.now();
    const failing = database.execute('insert into kept values (1)');
    await expect(failing).rejects.toThrow(/did not come back within 0.6 s: .*ECONNREFUSED/);
    expect(performance.now() - begunMs).toBeGreaterThan(500);
    expect(events.map(({ kind }) => kind)).toEqual(['lost']);
    await database.close();
  });
});

describe('a server without a connection left', () => {
  /** A proxy, and the client that reconnects through it. */
  async function openThroughProxy(reconnectForMs = 20_000) {
    const { location, witness } = await openBoth();
    const proxy = await startCuttingProxy(location.url ?? '');
    const events: ConnectionEvent[] = [];
    const reconnect = { reconnectForMs, emit: (event: ConnectionEvent) => void events.push(event) };
    return { witness, proxy, events, open: () => openDatabase({ url: proxy.url, reconnect }, 'tests') };
  }

  it.each([
    ['53300', 'sorry, too many clients already'],
    ['53300', 'remaining connection slots are reserved for roles with the SUPERUSER attribute'],
    ['53300', 'too many connections for role "app"'],
    ['53400', 'the limit of this host is reached'],
    ['57P03', 'the database system is starting up'],
    ['08P01', 'no more connections allowed (max_client_conn)'],
    ['XX000', 'Max client connections reached'],
  ])('is waited for at the start and amid work (%s %s)', async (code, message) => {
    const { witness, proxy, events, open } = await openThroughProxy();
    proxy.refuseAbove(0, code, message);
    const opening = open();
    await expect.poll(() => proxy.refusals()).toBeGreaterThan(1);
    proxy.refuseAbove(10);
    const database = await opening;
    expect(events.map(({ kind }) => kind)).toEqual(['lost', 'back']);
    // The pool keeps its connection until the server ends it.
    proxy.refuseAbove(0, code, message);
    await endOthers(witness);
    const before = proxy.refusals();
    const writing = database.execute('insert into kept values (1)');
    await expect.poll(() => proxy.refusals()).toBeGreaterThan(before);
    proxy.refuseAbove(10);
    await writing;
    const reading = proxy.refusals();
    proxy.refuseAbove(1, code, message);
    const rows: unknown[] = [];
    const walk = async (): Promise<void> => {
      for await (const batch of database.cursor(numberRow, 'select n from kept', 10)) rows.push(...batch);
    };
    const walking = walk();
    await expect.poll(() => proxy.refusals()).toBeGreaterThan(reading);
    proxy.refuseAbove(10);
    await walking;
    expect(rows).toEqual([{ n: 1 }]);
    await database.close();
    await proxy.close();
  });

  it('makes the work share the connections that it has, without an outage', async () => {
    const { witness, proxy, events, open } = await openThroughProxy(500);
    const database = await open();
    proxy.refuseAbove(1);
    await Promise.all(
      [1, 2, 3, 4].map((n) =>
        database.transaction(async (transaction) => {
          await transaction.execute(sql`insert into kept values (${n})`);
          await delay(400);
        }),
      ),
    );
    expect([proxy.refusals() > 0, await count(witness), events]).toEqual([true, 4, []]);
    await database.close();
    await proxy.close();
  });

  it('is an error that says so after reconnectFor, and at once for a wrong address or password', async () => {
    const { proxy, open } = await openThroughProxy(300);
    proxy.refuseAbove(0);
    await expect(open()).rejects.toThrow(/gave no connection within 0.3 s: .*too many clients/);
    for (const [code, message] of [
      ['08P01', 'password authentication failed'],
      ['28P01', 'password authentication failed for user "app"'],
    ]) {
      const before = proxy.refusals();
      proxy.refuseAbove(0, code, message);
      await expect(open()).rejects.toThrow(/password authentication failed/);
      expect(proxy.refusals() - before).toBe(1);
    }
    await proxy.close();
  });
});

describe('a deadlock', () => {
  it('is not seen by either side: one of the two runs again', async () => {
    const { database, location, witness } = await openBoth();
    const other = await databases.open(location);
    await witness.execute('insert into kept values (0)');
    await witness.execute('create table second (n int)');
    await witness.execute('insert into second values (0)');
    let runs = 0;
    let holding = 0;
    const add = (on: Database, tables: readonly [string, string]): Promise<void> =>
      on.transaction(async (transaction) => {
        runs += 1;
        await transaction.execute(`update ${tables[0]} set n = n + 1`);
        holding += 1;
        await expect.poll(() => holding).toBeGreaterThan(1);
        await transaction.execute(`update ${tables[1]} set n = n + 1`);
      });
    await Promise.all([add(database, ['kept', 'second']), add(other, ['second', 'kept'])]);
    expect(runs).toBe(3);
    expect(await witness.query(numberRow, 'select n from kept union all select n from second')).toEqual([
      { n: 2 },
      { n: 2 },
    ]);
  });
});
