import { beforeAll, expect, it } from 'vitest';
import { presentMails } from '../../../src/cli/commands/outbox.js';
import { shiftedClock } from '../../../src/clock.js';
import { mailSettingsSchema } from '../../../src/mail/settings.js';
import { dropMails, listMails, retryMails } from '../../../src/runs/mail/manage.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { readStoredFigures } from '../../../src/store/operations/metrics.js';
import { claimNext, type OutboxEntry, queueOutbox } from '../../../src/store/operations/outbox.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { makeAppContext } from '../../helpers/small-world.js';

const now = new Date('2026-11-22T02:00:00Z');
const entry = (number: number, changes: Partial<OutboxEntry> = {}): OutboxEntry => ({
  organisationId: 1,
  kind: 'mail_failure',
  destination: 'mlro@bank.example',
  runId: null,
  dedupKey: `failure/${number}`,
  content: {},
  queuedAt: now,
  giveUpAt: now,
  ...changes,
});

describeOnEachDatabase('putting aside what is not sent', (open, { dialect }) => {
  let database: Database;
  let by: string;
  const clock = shiftedClock(0);
  const drop = (ids: readonly number[], changes: Partial<Parameters<typeof dropMails>[1]> = {}) =>
    dropMails(
      { database, clock, settings: { organisation: 'default' } },
      // On Postgres the login says who it is.
      {
        ids,
        reason: 'the address was closed',
        by: dialect === 'embedded' ? 'A. Meyer' : undefined,
        evenQueued: false,
        ...changes,
      },
    );
  const listStates = async (all: boolean) =>
    (await listMails(database, 'default', { all })).map(({ id, state }) => `${id} ${state}`);

  beforeAll(async () => {
    database = await open();
    await database.runScript(
      `insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now())`,
    );
    by = dialect === 'embedded' ? 'A. Meyer' : 'nightscreen';
    const webhook = { kind: 'webhook', destination: 'https://core.bank.example/hook' } as const;
    await queueOutbox(database, [entry(1), entry(2), entry(3), entry(4, webhook), entry(5)]);
    await database.execute(`update outbox set state = 'refused', last_error = '550 no' where outbox_id = 1`);
    await database.execute(`update outbox set state = 'given_up' where outbox_id in (2, 4)`);
    await database.execute(sql`update outbox set state = 'sent', sent_at = ${now} where outbox_id = 5`);
  });

  it('keeps who did it and why, and counts it no more', async () => {
    expect(await listStates(false)).toEqual(['1 refused', '2 given_up', '3 queued', '4 given_up']);
    expect(await drop([1, 4, 4])).toMatchObject([
      { id: 1, state: 'dropped', lastError: '550 no', dropped: { by, reason: 'the address was closed' } },
      { id: 4, state: 'dropped', kind: 'webhook', nextAttemptAt: null },
    ]);
    expect(await listStates(false)).toEqual(['2 given_up', '3 queued']);
    expect(await listStates(true)).toEqual(['1 dropped', '2 given_up', '3 queued', '4 dropped', '5 sent']);
    const { outbox } = await readStoredFigures(database, 1, [], now);
    expect(outbox.map(({ kind, state, entries }) => [kind, state, entries]).toSorted()).toEqual([
      ['mail_failure', 'given_up', 1],
      ['mail_failure', 'queued', 1],
    ]);
    const { text } = presentMails(await listMails(database, 'default', { all: true }), { isTried: false });
    expect(text).toMatch(/^ *1 +mlro@bank\.example +\S+ \S+ +dropped by .+ on 20\S+ \S+ UTC: the address was closed$/m);
    expect(text).toMatch(/^ *4 +https:\/\/core\.bank\.example\/hook +changes of state +dropped/m);
  });

  it('is refused, all or nothing, for what was sent or put aside before, without a reason, and for what is not there', async () => {
    await expect(drop([2, 5])).rejects.toThrow('5 was sent');
    await expect(drop([2, 1])).rejects.toThrow(`1 was dropped before, by ${by}: the address was closed`);
    await expect(drop([2, 99])).rejects.toThrow('there is no 99; nightscreen outbox shows the numbers');
    await expect(drop([2], { reason: ' ' })).rejects.toThrow('--reason: is missing');
    const name = dialect === 'embedded' ? { by: undefined } : { by: 'somebody else' };
    await expect(drop([2], name)).rejects.toThrow('--by');
    expect(await listStates(false)).toEqual(['2 given_up', '3 queued']);
  });

  it('leaves what is still being tried, unless that is said, and what is being sent at this moment', async () => {
    await expect(drop([2, 3])).rejects.toThrow('3 is still tried, next at 2026-11-22 02:00:00 UTC');
    await claimNext(database, {
      organisation: 'default',
      kinds: ['mail_failure'],
      owner: 'sender',
      now,
      leaseMs: 60_000,
      except: [],
    });
    const dropping = drop([2, 3], { evenQueued: true });
    // The embedded database has one process: whoever held it there is gone.
    if (dialect === 'postgres') {
      await expect(dropping).rejects.toThrow('3 is being sent at this moment');
      await database.execute('update outbox set claimed_until = now() where claimed_by is not null');
      await drop([2, 3], { evenQueued: true });
    }
    await dropping.catch(() => undefined);
    expect(await listStates(false)).toEqual([]);
  });

  it('is for good', async () => {
    const mail = mailSettingsSchema.parse({ from: 'night@bank.example', to: ['mlro@bank.example'] });
    const sandbox = { url: 'http://127.0.0.1:9', privateKey: 'private_sandbox_aaaaaaaaaaaaaaaa' };
    const app = await makeAppContext(database, sandbox, { settings: { mail } });
    await expect(retryMails(app, [1])).rejects.toThrow(`1 was dropped for good by ${by}`);
    await expect(retryMails(app, [4])).rejects.toThrow(`4 was dropped for good by ${by}`);
    expect(await retryMails(app, [])).toEqual([]);
    expect(
      await claimNext(database, {
        organisation: 'default',
        kinds: ['mail_failure'],
        owner: 'o',
        now,
        leaseMs: 1,
        except: [],
      }),
    ).toBeNull();
    await expect(database.execute(`update outbox set dropped_by = null where outbox_id = 1`)).rejects.toThrow();
  });
});
