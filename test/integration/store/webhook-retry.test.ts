import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { presentMails } from '../../../src/cli/commands/outbox.js';
import { ConfigError } from '../../../src/errors.js';
import type { AppContext } from '../../../src/runs/app-context.js';
import { dropMails, listMails, retryMails } from '../../../src/runs/mail/manage.js';
import { notifyStates } from '../../../src/runs/status.js';
import type { Database } from '../../../src/store/database/database.js';
import { type OutboxEntry, queueOutbox } from '../../../src/store/operations/outbox.js';
import { webhooksSettingsSchema } from '../../../src/webhooks/settings.js';
import { describeOnEachDatabase } from '../../helpers/databases.js';
import { listenOnLoopback } from '../../helpers/loopback.js';
import { makeAppContext } from '../../helpers/small-world.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const minutesAgo = (minutes: number): Date => new Date(Date.now() - minutes * 60_000);
const toBody = (number: number): string =>
  JSON.stringify({ id: `nightscreen_1_${number}`, events: [{ id: `status_${number}`, sequence: number }] });
const toEntry = (number: number, destination: string): OutboxEntry => ({
  organisationId: 1,
  kind: 'webhook',
  destination,
  runId: null,
  dedupKey: `nightscreen_1_${number}`,
  content: { id: `nightscreen_1_${number}`, body: toBody(number) },
  queuedAt: minutesAgo(50 - number),
  giveUpAt: minutesAgo(10),
});

describeOnEachDatabase('sending a message to a webhook again', (open, { dialect }) => {
  let database: Database;
  let server: Server;
  let url = '';
  let app: AppContext;
  let status = 410;
  const received: { id: string; body: string }[] = [];
  const listStates = async () =>
    (await listMails(database, 'default', { all: true })).map(({ id, state }) => `${id} ${state}`);
  const toIds = () => received.splice(0).map(({ id }) => id);

  beforeAll(async () => {
    server = createServer(async (request, response) => {
      received.push({ id: String(request.headers['webhook-id']), body: await text(request) });
      response.writeHead(status).end();
    });
    url = `http://127.0.0.1:${await listenOnLoopback(server)}/hook`;
    database = await open();
    await database.runScript(
      `insert into organisation (name, digest_key, created_at) values ('default', '\\x00', now())`,
    );
    const sandbox = { url: 'http://127.0.0.1:9', privateKey: 'private_sandbox_aaaaaaaaaaaaaaaa' };
    const webhooks = webhooksSettingsSchema.parse([{ url }]);
    app = { ...(await makeAppContext(database, sandbox, { settings: { webhooks } })), secret: () => secret };
    await queueOutbox(database, [toEntry(1, url), toEntry(2, url), toEntry(3, 'https://former.bank.example/hook')]);
    await notifyStates(app);
    // Those that came later wait for a receiver that has not answered.
    const waiting = { nextAttemptAt: minutesAgo(-30), giveUpAt: minutesAgo(-600) };
    await queueOutbox(database, [
      { ...toEntry(4, url), ...waiting },
      { ...toEntry(5, url), ...waiting },
    ]);
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  it('one that was refused says how, and is left alone until somebody asks', async () => {
    expect(toIds()).toEqual(['nightscreen_1_1', 'nightscreen_1_2']);
    expect(await listStates()).toEqual(['1 refused', '2 refused', '3 given_up', '4 queued', '5 queued']);
    const { text: reported } = presentMails(await listMails(database, 'default', { all: false }), { isTried: false });
    expect(reported).toMatch(
      /nightscreen outbox retry 2 tries again, nightscreen outbox drop 2 drops it\): status 410/,
    );
    expect(await notifyStates(app)).toMatchObject({ sent: 0, refused: 0 });
    expect(toIds()).toEqual([]);
  });

  it('is refused, with nothing tried, for an address that is no webhook any more, without its secret, and for what there is not', async () => {
    await expect(retryMails(app, [1, 3])).rejects.toThrow(
      '3 is a message to https://former.bank.example/hook, which is no webhook in this configuration; nightscreen outbox drop 3',
    );
    await expect(retryMails({ ...app, secret: () => undefined }, [1])).rejects.toThrow(ConfigError);
    await expect(retryMails(app, [1, 99])).rejects.toThrow('there is no mail 99');
    await expect(retryMails({ ...app, settings: { ...app.settings, webhooks: [] } }, [])).rejects.toThrow(
      'is not configured, and neither is a webhook',
    );
    expect(await listStates()).toEqual(['1 refused', '2 refused', '3 given_up', '4 queued', '5 queued']);
    expect(received).toEqual([]);
  });

  it('one that is not taken again is tried further, and what came after it waits with it', async () => {
    status = 503;
    const tried = await retryMails(app, [1]);
    expect(toIds()).toEqual(['nightscreen_1_1']);
    expect(tried.map(({ id, state }) => `${id} ${state}`)).toEqual(['1 queued', '4 queued', '5 queued']);
    expect(presentMails(tried, { isTried: true }).exitCode).toBe(3);
    const [first, ...others] = tried;
    expect(first?.nextAttemptAt?.getTime()).toBeGreaterThan(Date.now());
    for (const { nextAttemptAt } of others) expect(nextAttemptAt).toEqual(first?.nextAttemptAt);
    const [row] = (await listMails(database, 'default', { all: true })).filter(({ id }) => id === 1);
    expect(row?.attempts.map(({ said }) => said)).toEqual([
      'status 410: the receiver accepts no more messages',
      'status 503',
    ]);
  });

  it('goes with the ids and bytes that it had, before what came after it and waits for the same webhook', async () => {
    status = 204;
    const tried = await retryMails(app, [2, 1]);
    expect(received.map(({ body }) => body)).toEqual([1, 2, 4, 5].map(toBody));
    expect(toIds()).toEqual([1, 2, 4, 5].map((number) => `nightscreen_1_${number}`));
    expect(tried.map(({ id, state }) => `${id} ${state}`)).toEqual(['1 sent', '2 sent']);
    expect(presentMails(tried, { isTried: true }).exitCode).toBe(0);
  });

  it('one that was put aside stays there', async () => {
    const by = dialect === 'embedded' ? 'A. Meyer' : undefined;
    await dropMails(app, { ids: [3], reason: 'the system is gone', by, evenQueued: false });
    await expect(retryMails(app, [3])).rejects.toThrow('3 was dropped for good');
    expect(await listStates()).toEqual(['1 sent', '2 sent', '3 dropped', '4 sent', '5 sent']);
  });

  it('without numbers all that wait are sent, also before their next attempt', async () => {
    await queueOutbox(database, [{ ...toEntry(6, url), nextAttemptAt: minutesAgo(-30), giveUpAt: minutesAgo(-600) }]);
    expect((await retryMails(app, [])).map(({ id, state }) => `${id} ${state}`)).toEqual(['6 sent']);
  });
});
