import { afterAll, describe, expect, it } from 'vitest';
import { expectComplete, makeSite, Nursery } from '../campaign/site.js';
import type { KillPoint } from '../campaign/traps.js';
import { testDatabases } from '../helpers/databases.js';
import { serveMail } from '../helpers/mail-server.js';

/** Where a process dies between queueing a mail and knowing that it was sent, and how often the server then gets it. */
const deaths: readonly (readonly [where: string, point: KillPoint, times: number])[] = [
  ['between the transaction that closes the run and its report', 'after_finishing', 1],
  ['when the report is written and its mail not queued yet', 'after_report_files', 1],
  ['between queueing the mail and sending it', 'before_sending', 1],
  ['when the server has said 250 and nobody has noted it', 'before_noting_sent', 2],
];

const nursery = new Nursery();
afterAll(() => nursery.close());

describe.each(['postgres', 'embedded'] as const)('mail of a night whose process is killed, %s', (dialect) => {
  const databases = testDatabases(dialect);

  // The outbox is the same on both; where it can be sent twice is tried on both.
  it.each(dialect === 'postgres' ? deaths : deaths.slice(-1))('%s', { timeout: 240_000 }, async (_, point, times) => {
    const server = await serveMail();
    const site = await makeSite(nursery, databases.locate, {
      customers: 20,
      rate: { perSecond: 400, concurrency: 4 },
    });
    try {
      await site.playFirstNight();
      const mailing = { smtpUrl: server.url };
      const death = { point, occurrence: 1, delayMs: 0 };
      const killed = await nursery.begin(site.toOrder({ ...mailing, death }));
      expect(await killed.death).toEqual({ reported: null, signal: 'SIGKILL' });
      expect(server.received).toHaveLength(times - 1);
      // On a server nobody can tell a dead sender from a slow one before its claim has run out: time passes in one step.
      await site.withDatabase((database) =>
        database.execute('update outbox set claimed_until = clock_timestamp() where claimed_until is not null'),
      );
      const sent: string[] = [];
      for (let restarts = 0; restarts < 2; restarts += 1) {
        const life = await nursery.begin(site.toOrder({ ...mailing, task: 'mail' }));
        expectComplete(await life.death);
        sent.push(...server.received.map(({ messageId }) => messageId));
      }
      expect(server.received).toHaveLength(times);
      expect(new Set(sent).size).toBe(1);
      for (const mail of server.received) {
        expect(mail).toMatchObject({
          to: 'reviewer@bank.example',
          subject: expect.stringMatching(/^\[COMPLETE\] /),
          attachments: [expect.stringMatching(/-report\.html$/)],
        });
      }
    } finally {
      await site.close();
    }
  });
});
