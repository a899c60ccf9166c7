import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mailJob } from '../../../jobs/mail.js';
import { reportJob } from '../../../jobs/report.js';
import { shiftedClock } from '../../../src/clock.js';
import { RosterHeldError, RunLockedError } from '../../../src/errors.js';
import type { MailSettings } from '../../../src/mail/settings.js';
import type { AppContext } from '../../../src/runs/app-context.js';
import { deliverDue } from '../../../src/runs/mail/deliver.js';
import { mailFailure } from '../../../src/runs/mail/failures.js';
import { listMails, retryMails, sendReports } from '../../../src/runs/mail/manage.js';
import type { Database } from '../../../src/store/database/database.js';
import { testDatabases } from '../../helpers/databases.js';
import {
  attachedMail,
  type MailServer,
  serveMail,
  startMailServer,
  toMailSettings,
} from '../../helpers/mail-server.js';
import { openPreparedSites, openSmallSites } from '../../helpers/small-site.js';
import type { TestAppContext } from '../../helpers/small-world.js';
import { hourMs } from '../../helpers/small-world.js';

const team = ['one', 'two', 'three', 'four', 'five'].map((name) => `${name}@bank.example`);
const toSettings = (changes: Partial<MailSettings> = {}) => toMailSettings(team, changes);
/** The same workplace at another time, as another process. */
let processes = 0;
const at = (app: TestAppContext, hours: number): AppContext => {
  processes += 1;
  return { ...app, owner: `process-${processes}`, clock: shiftedClock(hours * hourMs) };
};

const slot = { date: '2026-03-01', dueAt: new Date(), attempt: 1, isLate: false };

const messageIds = (server: MailServer): readonly string[] => server.received.map(({ messageId }) => messageId);
const statesOf = async (database: Database): Promise<readonly string[]> =>
  (await listMails(database, 'default', { all: true })).map(({ state }) => state);

describe('mail from the outbox', () => {
  const databases = testDatabases('postgres');
  const begin = openSmallSites(databases.open);
  /** Sites after a night whose five mails wait, because no server answered; `prepared` is its run. */
  const beginWaiting = openPreparedSites(databases, async ({ work, run }) => {
    const down = await startMailServer();
    await down.close();
    const app = { ...(await work({ settings: toSettings() })), secret: () => down.url };
    return run(app, { writeReport: true });
  });

  it('reaches each recipient once with one Message-ID, also after refusals and a cut connection', async () => {
    const server = await serveMail();
    const { work, run, database } = await begin();
    const app = { ...(await work({ settings: toSettings() })), secret: () => server.url };
    server.refused.set('two@bank.example', 550).set('three@bank.example', 451);
    server.cuts = 1;
    const first = await run(app, { writeReport: true });
    expect(first).toMatchObject({ state: 'complete', exitCode: 3, mail: { queued: 5, sent: 2, lost: 1 } });
    // The server stored the first mail and cut the connection before its answer.
    expect(server.received.map(({ to }) => to)).toEqual(['one', 'four', 'five'].map((name) => `${name}@bank.example`));
    expect(await statesOf(database)).toEqual(['queued', 'refused', 'queued', 'sent', 'sent']);
    const warnings = app.events.filter((event) => event.kind === 'warning');
    expect(warnings.map(({ code }) => code).filter((code) => code.startsWith('mail'))).toEqual([
      'mail_waits',
      'mail_not_sent',
      'mail_waits',
    ]);

    await deliverDue(at(app, 0));
    expect(server.received).toHaveLength(3);
    server.refused.clear();
    await deliverDue(at(app, 1));
    expect(await statesOf(database)).toEqual(['sent', 'refused', 'sent', 'sent', 'sent']);
    expect(messageIds(server)[3]).toBe(messageIds(server)[0]);
    expect(new Set(messageIds(server)).size).toBe(4);

    const [, refused] = await listMails(database, 'default', { all: true });
    expect(refused).toMatchObject({ lastError: expect.stringContaining('550'), attempts: [{ outcome: 'refused' }] });
    const tried = await retryMails(at(app, 1), [refused?.id ?? 0]);
    expect(tried.map(({ state }) => state)).toEqual(['sent']);
    await sendReports(at(app, 1), {});
    expect(server.received).toHaveLength(6);
    expect(await mailJob.run(at(app, 1), new AbortController().signal, slot)).toEqual({ runs: [] });

    // A night without changes is mailed as well, in the thread of the roster.
    const second = await run(at(app, 25), { writeReport: true });
    expect(second).toMatchObject({ exitCode: 0, mail: { queued: 5, sent: 5, lost: 0 } });
    const later = server.received.slice(6);
    expect(later.map(({ to }) => to)).toEqual(team);
    for (const mail of later) {
      const before = server.received.find(({ to }) => to === mail.to)?.messageId;
      expect([mail.inReplyTo, mail.references]).toEqual([before, [before]]);
    }
  });

  it('waits while the server is down for a day, and is sent once when three processes deliver at the same time', async () => {
    const down = await startMailServer();
    await down.close();
    const { work, database, prepared } = await beginWaiting();
    const app = { ...(await work({ settings: toSettings() })), secret: () => down.url };
    for (const hours of [1, 6, 12, 24]) await deliverDue(at(app, hours));
    expect(await statesOf(database)).toEqual(team.map(() => 'queued'));
    const server = await serveMail({ port: down.port });
    await Promise.all([deliverDue(at(app, 30)), deliverDue(at(app, 30)), deliverDue(at(app, 30))]);
    expect(server.received.map(({ to }) => to).toSorted()).toEqual(team.toSorted());
    expect(server.received[0]?.text).toContain(prepared.runId);
    const [mail] = await listMails(database, 'default', { all: true });
    expect(mail?.attempts.map(({ outcome }) => outcome)).toEqual([
      ...(mail?.attempts ?? []).slice(1).map(() => 'failed'),
      'sent',
    ]);
  });

  it('is given up after three days with a warning, and can be retried', async () => {
    const down = await startMailServer();
    await down.close();
    const { work, database } = await beginWaiting();
    const app = { ...(await work({ settings: toSettings() })), secret: () => down.url };
    for (const hours of [73, 73.1, 73.2]) await deliverDue(at(app, hours));
    expect(await statesOf(database)).toEqual(team.map(() => 'given_up'));
    expect(app.events.at(-1)).toMatchObject({
      code: 'mail_not_sent',
      message: expect.stringContaining('outbox retry'),
    });
    const server = await serveMail({ port: down.port });
    const [given] = await listMails(database, 'default', { all: false });
    await retryMails(at(app, 74), [given?.id ?? 0]);
    expect(server.received).toHaveLength(1);
    await expect(retryMails(app, [4_711])).rejects.toThrow('there is no mail 4711');
  });

  it('is sent with the digest in place of the attachment when the message is too large for the server', async () => {
    const server = await serveMail({ size: 12_000 });
    const { work, run } = await begin();
    const settings = toSettings(attachedMail);
    const app = { ...(await work({ settings })), secret: () => server.url };
    await run(app, { writeReport: true });
    expect(server.received).toMatchObject([{ attachments: [], text: expect.stringMatching(/SHA-256 [0-9a-f]{64}/) }]);
  });

  it('that is refused for good later makes the job end with 3 once, and the report job too', async () => {
    const server = await serveMail();
    const { work } = await beginWaiting();
    const app = { ...(await work({ settings: toSettings() })), secret: () => server.url };
    const { signal } = new AbortController();
    server.refused.set('two@bank.example', 550).set('three@bank.example', 554).set('four@bank.example', 451);
    const lost = { runs: [], exitCode: 3, note: '2 mails not sent for good: nightscreen outbox' };
    expect(await mailJob.run(at(app, 1), signal, slot)).toEqual(lost);
    expect(await mailJob.run(at(app, 3), signal, slot)).toEqual({ runs: [] });
    server.refused.set('four@bank.example', 550);
    const note = '1 mail not sent for good: nightscreen outbox';
    expect(await reportJob.run(at(app, 6))).toEqual({ ...lost, note });
  });

  it.each([
    [550, '5.3.4 Message size exceeds fixed limit'],
    [554, 'Message too large'],
  ])('is sent without its attachment when the server refuses the data as too large by %i', async (code, said) => {
    const server = await serveMail();
    server.refusedAttachments = { code, said };
    const { work, run } = await begin();
    const app = { ...(await work({ settings: toSettings(attachedMail) })), secret: () => server.url };
    expect(await run(app, { writeReport: true })).toMatchObject({ exitCode: 0, mail: { queued: 1, sent: 1, lost: 0 } });
    expect(server.received).toMatchObject([{ attachments: [], text: expect.stringMatching(/SHA-256 [0-9a-f]{64}/) }]);
  });

  it('is queued by the transaction that closes a run, and sent later when the report could not be written', async () => {
    const { work, run, database } = await begin();
    const folder = await mkdtemp(join(tmpdir(), 'nightscreen-mail-'));
    await writeFile(join(folder, 'taken'), '');
    const mail = toSettings({ transport: 'file', to: ['one@bank.example'] });
    const app = await work({ settings: { ...mail, reports: { dir: join(folder, 'taken') } } });
    await expect(run(app, { writeReport: true })).rejects.toThrow('could not be written');
    expect(await listMails(database, 'default', { all: false })).toMatchObject([
      { state: 'queued', recipient: null, run: 1 },
    ]);
    expect(await deliverDue(at(app, 0))).toEqual({ sent: 0, failed: 0 });
    expect(await deliverDue(at(app, 0.2))).toEqual({ sent: 0, failed: 1 });
    const mended = await work({ settings: { ...mail, reports: { dir: join(folder, 'reports') } } });
    expect(await deliverDue(at(mended, 1))).toEqual({ sent: 1, failed: 0 });
    expect(await readdir(join(folder, 'reports', 'mail'))).toHaveLength(1);
    expect(await statesOf(database)).toEqual(['sent']);
  });

  it('reports once a day that a night did not run, and why', async () => {
    const server = await serveMail();
    const { work, database } = await begin();
    const app = {
      ...(await work({ settings: toSettings({ to: ['ops@bank.example'] }) })),
      secret: () => server.url,
    };
    const guard = { guard: 'rows', message: '3 rows, and 500 last time', look: 'look at the export' };
    const error = new RosterHeldError('retail.csv', [guard], 'nightscreen rescreen --accept-roster');
    // Another host has held the lock for an hour.
    const locked = new RunLockedError('screening/default/retail is held by b', 'b', hourMs);
    await mailFailure(at(app, 0), { task: 'rescreen', roster: 'retail', error: locked });
    for (const hours of [0, 0, 25]) await mailFailure(at(app, hours), { task: 'rescreen', roster: 'retail', error });
    await mailFailure(at(app, 25), { task: 'sweep', roster: null, error: new TypeError('Aroha Ngata') });
    const held = expect.stringMatching(
      /^\[RED\] rescreen of retail did not run: retail.csv is held \(guard rows\) - 2/,
    );
    expect(server.received.map(({ subject }) => subject)).toEqual([
      held,
      held,
      expect.stringMatching(/^\[RED\] sweep failed: an unexpected error \(TypeError\); the log says more - 2/),
    ]);
    expect(new Set(messageIds(server)).size).toBe(3);
    expect((await listMails(database, 'default', { all: true })).map(({ kind }) => kind)).toEqual(
      Array(3).fill('mail_failure'),
    );
  });
});
