import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { rescreenRosters } from '../../jobs/rescreen.js';
import { InterruptedError } from '../../src/cli/exit-code.js';
import { shiftedClock } from '../../src/clock.js';
import type { MailSettings } from '../../src/mail/settings.js';
import type { AppContext } from '../../src/runs/app-context.js';
import { deliverDue } from '../../src/runs/mail/deliver.js';
import { mailFailure } from '../../src/runs/mail/failures.js';
import { listMails } from '../../src/runs/mail/manage.js';
import { testDatabases } from '../helpers/databases.js';
import { listenOnLoopback } from '../helpers/loopback.js';
import { attachedMail, type MailServer, serveMail, toMailSettings } from '../helpers/mail-server.js';
import { openSmallSites } from '../helpers/small-site.js';

const hourMs = 3_600_000;
const toSettings = (changes: Partial<MailSettings> = {}) =>
  toMailSettings(['one@bank.example', 'two@bank.example'], changes);
const at = (app: AppContext, hours: number): AppContext => ({
  ...app,
  owner: `process-${hours}`,
  clock: shiftedClock(hours * hourMs),
});

describe('mail', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  /** A run whose report waits with its page attached, because the server took nothing. */
  async function queueAttachment(): Promise<{ server: MailServer; app: AppContext; artifacts: string }> {
    const server = await serveMail();
    server.isRefusing = true;
    const { work, run } = await begin();
    const dir = await mkdtemp(join(tmpdir(), 'nightscreen-mail-'));
    const settings = { ...toSettings(attachedMail), reports: { dir } };
    const app = { ...(await work({ settings })), secret: () => server.url };
    const artifacts = (await run(app, { writeReport: true })).artifacts ?? '';
    return { server, app, artifacts };
  }

  it('whose stored message cannot be read keeps no other from being sent or listed', async () => {
    const server = await serveMail();
    server.isRefusing = true;
    const { work, run, database } = await begin();
    const app = { ...(await work({ settings: toSettings() })), secret: () => server.url };
    await run(app, { writeReport: true });
    await database.execute(`update outbox set content = '{"subject": 1}' where destination = 'one@bank.example'`);
    server.isRefusing = false;
    expect(await deliverDue(at(app, 1))).toEqual({ sent: 1, failed: 1 });
    expect(server.received.map(({ to }) => to)).toEqual(['two@bank.example']);
    expect(await listMails(database, 'default', { all: true })).toMatchObject([
      { state: 'queued', subject: null, lastError: 'its stored content cannot be read' },
      { state: 'sent' },
    ]);
  });

  it('finds its attachment where a later revision of the report has moved it', async () => {
    const { server, app, artifacts } = await queueAttachment();
    await mkdir(join(artifacts, 'revision-1'));
    await rename(join(artifacts, 'report.html'), join(artifacts, 'revision-1', 'report.html'));
    await writeFile(join(artifacts, 'report.html'), 'another revision');
    server.isRefusing = false;
    expect(await deliverDue(at(app, 1))).toEqual({ sent: 1, failed: 0 });
    expect(server.received[0]?.attachments).toEqual([expect.stringMatching(/report\.html$/)]);
    expect(await readFile(join(artifacts, 'report.html'), 'utf8')).toBe('another revision');
  });

  it('goes without an attachment that is gone for good, and says so', async () => {
    const { server, app, artifacts } = await queueAttachment();
    await rename(join(artifacts, 'report.html'), join(artifacts, 'elsewhere.html'));
    server.isRefusing = false;
    for (const hours of [1, 2, 3]) expect(await deliverDue(at(app, hours))).toEqual({ sent: 0, failed: 1 });
    expect(await deliverDue(at(app, 4))).toEqual({ sent: 1, failed: 0 });
    expect(server.received).toMatchObject([
      {
        attachments: [],
        text: expect.stringMatching(
          /Not attached, because the file was removed or changed: .*report\.html, SHA-256 [0-9a-f]{64}\n/,
        ),
      },
    ]);
  });

  it('tells of a failure directly when the database has gone away', async () => {
    const server = await serveMail();
    const { work, database } = await begin();
    const app = { ...(await work({ settings: toSettings() })), secret: () => server.url };
    const gone = () => Promise.reject(new Error('the database has gone away'));
    const error = new TypeError('Aroha Ngata');
    const away = { ...database, query: gone, execute: gone, transaction: gone };
    await mailFailure({ ...app, database: away }, { task: 'rescreen', roster: 'people', error });
    expect(server.received.map(({ to }) => to)).toEqual(['one@bank.example', 'two@bank.example']);
    expect(server.received[0]?.subject).toMatch(/^\[RED\] rescreen of people failed/);
  });

  it('says that a night was stopped in its import, as no fault and with what is left to do', async () => {
    const server = await serveMail();
    const { work, roster } = await begin();
    const app = {
      ...(await work({ settings: toSettings({ to: ['one@bank.example'] }) })),
      secret: () => server.url,
    };
    const controller = new AbortController();
    const emit: AppContext['emit'] = (event) => {
      if (event.kind === 'stage_started' && event.stage === 'import') controller.abort(new InterruptedError('SIGTERM'));
    };
    const night = await rescreenRosters({ ...app, emit }, [roster, { ...roster, name: 'core' }], controller.signal);
    expect(night.failures).toMatchObject([
      { roster: 'people', error: { signal: 'SIGTERM' } },
      { roster: 'core', error: { code: 'not_started' } },
    ]);
    expect(server.received).toMatchObject([
      {
        subject: expect.stringMatching(
          /^\[RED\] rescreen of people was stopped: stopped by SIGTERM before its first search/,
        ),
        text: expect.stringContaining('nightscreen rescreen'),
      },
    ]);
    expect(server.received[0]?.text).not.toMatch(/unexpected|failed|doctor/);
  });

  it('keeps nobody who is asked to stop waiting for a server that says nothing, and is not lost by that', async () => {
    const silent = createServer();
    const port = await listenOnLoopback(silent);
    const { work, database } = await begin();
    const settings = toSettings({ to: ['one@bank.example', 'two@bank.example'], timeoutMs: 60_000 });
    const app = { ...(await work({ settings })), secret: () => `smtp://127.0.0.1:${port}` };
    const stopped = AbortSignal.abort(new InterruptedError('SIGTERM'));
    const begunMs = performance.now();
    const error: unknown = stopped.reason;
    await mailFailure(app, { task: 'rescreen', roster: 'people', error, signal: stopped });
    // Stopped while the first is being sent, the second is not begun.
    const controller = new AbortController();
    const sending = deliverDue(at(app, 1), controller.signal);
    await once(silent, 'connection');
    controller.abort();
    expect(await sending).toEqual({ sent: 0, failed: 1 });
    // A third of what it would wait for one of them.
    expect(performance.now() - begunMs).toBeLessThan(20_000);
    silent.close();
    const server = await serveMail();
    await deliverDue({ ...at(app, 2), secret: () => server.url });
    expect(server.received.map(({ to }) => to).toSorted()).toEqual(['one@bank.example', 'two@bank.example']);
    expect((await listMails(database, 'default', { all: true })).map(({ state }) => state)).toEqual(['sent', 'sent']);
  });
});
