import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { shiftedClock } from '../../../src/clock.js';
import { ConfigError } from '../../../src/errors.js';
import type { AppContext } from '../../../src/runs/app-context.js';
import { showAlerts } from '../../../src/runs/review/decide.js';
import { notifyStates } from '../../../src/runs/status.js';
import { readColumn } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { webhooksSettingsSchema } from '../../../src/webhooks/settings.js';
import { readRows, testDatabases } from '../../helpers/databases.js';
import { decide, openSmallSites } from '../../helpers/small-site.js';
import { type ReceivedWebhook, startReceiver } from '../../helpers/webhook-receiver.js';

const bodySchema = z.object({
  schema: z.literal('nightscreen/status-changes/1'),
  id: z.string(),
  events: z.array(
    z.object({
      sequence: z.number(),
      reference: z.string(),
      from: z.string().nullable(),
      to: z.string(),
      mode: z.string(),
    }),
  ),
});

const key = randomBytes(32);
const secret = `whsec_${key.toString('base64')}`;
const withSecret = (app: AppContext): AppContext => ({ ...app, secret: () => secret });
const later = (app: AppContext, minutes: number): AppContext => ({
  ...app,
  clock: shiftedClock(minutes * 60_000),
});
const toEvents = ({ body }: ReceivedWebhook) => bodySchema.parse(JSON.parse(body)).events;

describe('webhooks of state changes', () => {
  const databases = testDatabases('postgres');
  let databaseUrl = '';
  const openSite = openSmallSites(async () => {
    const location = await databases.locate();
    databaseUrl = location.url ?? '';
    return databases.open(location);
  });

  it('tells each change once, signed, with the same id and bytes until it is taken, and later ones of an expiry and a decision', async () => {
    const { run, work, database } = await openSite();
    const { url, received } = await startReceiver([503, null]);
    const webhooks = webhooksSettingsSchema.parse([{ url }]);
    const bare = await work({ settings: { webhooks } });
    await expect(run(bare)).rejects.toThrow(ConfigError);
    const app = withSecret(bare);
    await run(app);
    expect(await notifyStates(app)).toMatchObject({ sent: 0, waiting: 1 });
    await notifyStates(later(app, 2));
    expect(await notifyStates(later(app, 10))).toMatchObject({ sent: 1, waiting: 0 });
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    for (const { headers, body } of received) {
      const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
      const expected = createHmac('sha256', key).update(signed).digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${expected}`);
      expect(body).not.toContain('Achterberg');
    }
    const first = received.flatMap(toEvents).slice(0, 6);
    expect(first.map(({ reference, from, to, mode }) => [reference, from, to, mode])).toEqual([
      ['C-1', null, 'open_alert', 'test'],
      ['C-2', null, 'open_alert', 'test'],
      ...['C-3', 'C-4', 'C-5', 'C-6'].map((reference) => [reference, null, 'clear', 'test']),
    ]);

    received.length = 0;
    await run({ ...app, clock: shiftedClock(30 * 3_600_000) });
    const again = received.flatMap(toEvents).filter(({ reference }) => reference === 'C-1' || reference === 'C-3');
    // An alert that waits is no news when its screening expires.
    expect(again.map(({ from, to }) => [from, to])).toEqual([
      ['clear', 'not_screened'],
      ['not_screened', 'clear'],
    ]);

    received.length = 0;
    await decide(database, [1], { verdict: 'true_match' });
    await notifyStates(later(app, 31 * 60));
    expect(received.flatMap(toEvents)).toMatchObject([{ reference: 'C-1', to: 'true_match' }]);
  });

  it('carries a hundred changes in a message, refuses redirects, stops at 410 and tells only what was asked for', async () => {
    const { run, work, database } = await openSite(
      Array.from({ length: 205 }, (_, number) => `Nobody Number ${number}`),
    );
    const receiver = await startReceiver([302, 410]);
    const hits = await startReceiver();
    const webhooks = webhooksSettingsSchema.parse([{ url: receiver.url }, { url: hits.url, states: ['open_alert'] }]);
    const app = withSecret(await work({ settings: { webhooks } }));
    await run(app);
    expect(receiver.received.map((one) => toEvents(one).length)).toEqual([100, 100, 5]);
    const sequences = receiver.received.flatMap(toEvents).map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.toSorted((left, right) => left - right));
    expect(hits.received).toEqual([]);
    const states = await readRows(
      database,
      `select state, last_error as said from outbox where kind = 'webhook' order by outbox_id`,
    );
    expect(states).toEqual([
      { state: 'refused', said: 'status 302: a redirect is not followed' },
      { state: 'refused', said: 'status 410: the receiver accepts no more messages' },
      { state: 'sent', said: null },
    ]);
  });

  it('are told at once of what a reviewer decides, and whatever they answer the decision stands', async () => {
    const { run, work, database } = await openSite();
    const { url, received } = await startReceiver();
    await run(withSecret(await work({ settings: { webhooks: webhooksSettingsSchema.parse([{ url }]) } })));
    received.length = 0;
    const folder = await mkdtemp(join(tmpdir(), 'nightscreen-decided-'));
    await writeFile(join(folder, 'nightscreen.config.yaml'), JSON.stringify({ webhooks: [{ url }] }));
    const command = async (words: readonly string[], environment: Record<string, string>) => {
      const said: string[] = [];
      const terminal = {
        writeData: async () => {},
        writeMessage: (message: string) => void said.push(message),
        isScreen: false,
        columns: 80,
        hasColours: false,
      };
      const access = { DATABASE_URL: databaseUrl, ...environment };
      const exitCode = await runCommandLine({ words, environment: access, folder, terminal });
      return { exitCode, said: said.join('') };
    };
    const withKey = { NIGHTSCREEN_WEBHOOK_SECRET: secret };
    await command(['review', 'export', '--out', 'list.csv'], withKey);
    const list = await readFile(join(folder, 'list.csv'), 'utf8');
    const rows = z.array(z.record(z.string(), z.string())).parse(parse(list, { bom: true, columns: true }));
    const [row] = rows;
    const decided = [{ ...row, disposition: 'false_positive', reason: 'another birth date' }];
    await writeFile(join(folder, 'list.csv'), stringify(decided, { header: true }));
    const imported = await command(['review', 'import', 'list.csv', '--apply'], withKey);
    expect(imported).toEqual({ exitCode: 0, said: '' });
    const reference = row?.['reference'];
    expect(received.flatMap(toEvents)).toMatchObject([{ reference, to: 'false_positive' }]);

    // A list without dispositions stores none, so nothing is said about webhooks.
    await writeFile(join(folder, 'list.csv'), list);
    const unfilled = await command(['review', 'import', 'list.csv', '--apply'], {});
    expect(unfilled).toEqual({ exitCode: 0, said: '' });

    // From where a reviewer has no secret nothing can be told; the decision is stored all the same, and told later.
    const [shown] = await showAlerts(await work(), reference ?? '');
    const undone = await command(['review', 'undo', shown?.mark ?? '', '--reason', 'wrong customer'], {});
    expect(undone).toEqual({
      exitCode: 0,
      said: expect.stringMatching(
        /dispositions are stored, .*NIGHTSCREEN_WEBHOOK_SECRET.*nightscreen outbox retry sends them"/,
      ),
    });
    expect(received).toHaveLength(1);
    await command(['outbox', 'retry'], withKey);
    expect(received.slice(1).flatMap(toEvents)).toMatchObject([{ reference, to: 'open_alert' }]);
    const stored = await readColumn(
      database,
      z.string(),
      sql`select to_state as to from customer_state_change where customer_id = (select customer_id from customer where reference = ${reference ?? null}) order by change_id`,
    );
    expect(stored).toEqual(['open_alert', 'false_positive', 'open_alert']);
  });
});
