import { expect, test } from 'vitest';
import { z } from 'zod';
import { startSandbox } from '../../src/sandbox/start-sandbox.js';
import { findValue } from '../../src/store/database/database.js';
import { killCli, makeCliSite, runCli } from '../helpers/cli-process.js';
import { type TestDatabases, testDatabases } from '../helpers/databases.js';
import { isFullSize, makeSeededRandom, printFigure } from '../helpers/figures.js';
import { watchlist } from '../helpers/small-world.js';

const databases = testDatabases('postgres');

const deaths = isFullSize ? 100 : 8;

test(`inviters that are killed ${deaths} times at any moment invite nobody twice`, { timeout: 900_000 }, async () => {
  const { kills, customers, timesInvited, unknown, last } = await killInviters(databases, deaths, 11);
  printFigure(`${kills} kills, ${customers} customers, ${unknown} invitations of unknown outcome at a death`);
  expect(last.exitCode).toBe(0);
  expect(kills).toBe(deaths);
  expect(unknown).toBeGreaterThan(0);
  expect([...timesInvited.values()].filter((times) => times !== 1)).toEqual([]);
  expect(timesInvited.size).toBe(customers);
});

/** What became of customers whose inviters were killed. */
interface KilledInviting {
  kills: number;
  customers: number;
  /** Invitations at the service by recipient. */
  timesInvited: ReadonlyMap<string, number>;
  /** Invitations whose outcome a dead process did not know. */
  unknown: number;
  /** Exit code and counts of the command that came last. */
  last: { exitCode: number | null; stdout: string };
}

const invite = ['reconcile', 'invite', '--send', '--json'];

/**
 * Ends `nightscreen reconcile invite --send` with SIGKILL at random moments of its calls, so many times, then runs it to its end. Between two lives the
 * lease is freed and the five minutes of an unknown outcome pass, so that each life is free to send again.
 */
async function killInviters(databases: TestDatabases, kills: number, seed: number): Promise<KilledInviting> {
  const random = makeSeededRandom(seed);
  const customers = kills * 4;
  const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
  try {
    const rows = Array.from({ length: customers }, (_, n) => `C-${n},person,Customer Number ${n},c${n}@example.org`);
    const link = `{ invite: { workflow: ${sandbox.workflowToken}, recipient: email, channel: { value: email } } }`;
    const files = {
      'people.csv': `customer_id,type,name,email\n${rows.join('\n')}\n`,
      'nightscreen.config.yaml': `service: { rate: { perSecond: 400, concurrency: 4 } }
rosters: [{ name: people, csv: { path: people.csv }, columns: { attributes: [email] }, dossiers: ${link} }]
`,
    };
    const { url = '' } = await databases.locate();
    const database = await databases.open({ url });
    const site = await makeCliSite(files, sandbox, url);
    for (const words of [['sweep', '--no-report'], ['rescreen']]) await runCli([...words, '--json'], site);

    sandbox.setConditions({ path: '/autodoc/invitations', latencyMs: { min: 0, max: 15, seed } });
    const countCalls = (): number => sandbox.ledger().filter(({ path }) => path === '/autodoc/invitations').length;
    let killed = 0;
    for (let lives = 0; killed < kills && lives < 2 * kills; lives += 1) {
      const before = countCalls();
      const calls = 1 + Math.floor(random() * 8);
      const isDue = (): boolean => countCalls() >= before + calls;
      if (await killCli(invite, site, { isDue, lingerMs: random() * 20 })) killed += 1;
      await database.execute('update lease set expires_at = clock_timestamp() where expires_at > acquired_at');
      await database.execute(
        `update invitation set sending_at = sending_at - interval '6 minutes' where state = 'sending' and sending_at > now() - interval '5 minutes'`,
      );
    }
    const last = await runCli(invite, site);
    const unknown = await findValue(
      database,
      z.number(),
      `select count(*)::integer as unknown from invitation
       where events @> '[{"kind": "sending"}]' and not events @> '[{"kind": "sent"}]'`,
    );
    const timesInvited = new Map<string, number>();
    for (let page = 1; ; page += 1) {
      const response = await fetch(`${sandbox.url}/autodoc/invitations?per_page=100&page=${page}`, {
        headers: { authorization: `Bearer ${sandbox.privateKey}` },
      });
      const { invitations } = z
        .object({ invitations: z.array(z.object({ recipient: z.string() })) })
        .parse(await response.json());
      for (const { recipient } of invitations) timesInvited.set(recipient, (timesInvited.get(recipient) ?? 0) + 1);
      if (invitations.length < 100) break;
    }
    return { kills: killed, customers, timesInvited, unknown: unknown ?? 0, last };
  } finally {
    await sandbox.close();
  }
}
