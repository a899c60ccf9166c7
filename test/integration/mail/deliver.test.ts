import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DeliveryResult, deliver, renderMessage, toSmtpOptions } from '../../../src/mail/delivery.js';
import type { MailMessage } from '../../../src/mail/message.js';
import { buildReportMessage } from '../../../src/mail/report-message.js';
import { mailSettingsSchema, type Recipient } from '../../../src/mail/settings.js';
import { toReport } from '../../../src/reports/report.js';
import { writeReport } from '../../../src/reports/write-report.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';
import { listenOnLoopback } from '../../helpers/loopback.js';

interface MailServer {
  url: string;
  received: { recipients: string[]; raw: Buffer }[];
  /** Every sender that a client named, whether a message followed or not. */
  senders: string[];
  logins: string[];
  close(): Promise<void>;
}

async function startMailServer(options: { refuse?: string; offerTls?: boolean } = {}): Promise<MailServer> {
  const mail: Omit<MailServer, 'url' | 'close'> = { received: [], senders: [], logins: [] };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.offerTls ? [] : ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username = '', password = '' }, _session, callback) => {
      mail.logins.push(`${username} ${password}`);
      callback(null, { user: username });
    },
    onMailFrom: ({ address }, _session, callback) => {
      mail.senders.push(address);
      callback();
    },
    onRcptTo: ({ address }, _session, callback) => {
      callback(address === options.refuse ? new Error('no such mailbox') : undefined);
    },
    onData: (stream, session, callback) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        mail.received.push({ recipients: session.envelope.rcptTo.map((to) => to.address), raw: Buffer.concat(chunks) });
        callback();
      });
    },
  });
  // A refused certificate surfaces here as well as at the client.
  server.on('error', () => {});
  return {
    ...mail,
    url: `smtp://127.0.0.1:${await listenOnLoopback(server.server)}`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

let folder = '';
let server: MailServer | null = null;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-mail-'));
});
afterEach(async () => {
  await server?.close();
  server = null;
  await rm(folder, { recursive: true, force: true });
});

async function buildMessages(
  to: readonly string[],
  attach: Recipient['attach'] = 'none',
): Promise<readonly MailMessage[]> {
  const settings = mailSettingsSchema.parse({ from: 'screening@bank.example', to });
  const report = toReport(buildEventfulFacts());
  const written = await writeReport(report, folder);
  return to.map((address) => buildReportMessage(report, written, { address, shows: 'report', attach }, settings));
}

const toFile = (result: DeliveryResult | undefined): string =>
  result?.kind === 'accepted' ? result.said.replace(/^written to /, '') : '';

const bySmtp = { transport: 'smtp', folder: '', timeoutMs: 2000 } as const;

describe('mail by SMTP', () => {
  it('arrives on loopback as it was built and can be read', async () => {
    server = await startMailServer();
    const messages = await buildMessages(['mlro@bank.example'], 'full');
    const results = await deliver(messages, bySmtp, server.url.replace('//', '//night:s%40fe@'));
    expect(results).toEqual([{ kind: 'accepted', said: expect.stringMatching(/^250 /) }]);
    const [mail] = server.received;
    const parsed = await simpleParser(mail?.raw ?? '');
    expect(mail?.recipients).toEqual(['mlro@bank.example']);
    expect(server.logins).toEqual(['night s@fe']);
    expect(parsed.subject).toBe('[PARTIAL] 2 not screened - TEST key, retail, 2026-11-21');
    expect(parsed.messageId).toBe(messages[0]?.messageId);
    expect(parsed.date?.toISOString()).toBe('2026-11-21T02:04:15.000Z');
    expect(parsed.text?.trim()).toBe(messages[0]?.text.trim());
    expect(parsed.html).toContain('2 of 500 customers in scope are not screened.');
    const page = await readFile(join(folder, 'run-20261121-0200-7f3a', 'report.html'));
    expect(parsed.attachments.map((attachment) => attachment.content)).toEqual([page]);
  });

  it('sends byte for byte what an .eml file holds', async () => {
    server = await startMailServer();
    const messages = await buildMessages(['mlro@bank.example'], 'full');
    await deliver(messages, bySmtp, server.url);
    const [result] = await deliver(messages, { ...bySmtp, transport: 'file', folder: join(folder, 'mail') });
    const file = toFile(result);
    expect((await readFile(file)).equals(server.received[0]?.raw ?? Buffer.alloc(0))).toBe(true);
  });

  it('reports a refused recipient and still reaches the other', async () => {
    server = await startMailServer({ refuse: 'gone@bank.example' });
    const messages = await buildMessages(['gone@bank.example', 'mlro@bank.example']);
    const results = await deliver(messages, bySmtp, server.url);
    expect(results).toMatchObject([
      { kind: 'refused', said: expect.stringContaining('no such mailbox') },
      { kind: 'accepted' },
    ]);
    expect(server.received.map((mail) => mail.recipients)).toEqual([['mlro@bank.example']]);
  });

  it('never leaves in clear text for a host that is not loopback by name', async () => {
    server = await startMailServer();
    // 0.0.0.0 reaches this machine without being a loopback name.
    const results = await deliver(
      await buildMessages(['mlro@bank.example']),
      bySmtp,
      server.url.replace('127.0.0.1', 'night:key@0.0.0.0'),
    );
    expect(results).toMatchObject([{ kind: 'failed' }]);
    expect([server.received, server.senders, server.logins]).toEqual([[], [], []]);
  });

  it('never leaves under a certificate that cannot be verified', async () => {
    server = await startMailServer({ offerTls: true });
    const results = await deliver(
      await buildMessages(['mlro@bank.example']),
      bySmtp,
      server.url.replace('127.0.0.1', '0.0.0.0'),
    );
    expect(results).toMatchObject([{ kind: 'failed', said: expect.stringMatching(/certificate/i) }]);
    expect([server.received, server.senders]).toEqual([[], []]);
  });

  it('to a server that is down fails for each recipient and shows no password', async () => {
    server = await startMailServer();
    const url = server.url.replace('//', '//night:hunter2@');
    await server.close();
    server = null;
    const results = await deliver(await buildMessages(['a@bank.example', 'b@bank.example']), bySmtp, url);
    expect(results.map((result) => result.kind)).toEqual(['failed', 'failed']);
    expect(JSON.stringify(results)).not.toContain('hunter2');
  });

  it.each([
    'nonsense',
    'http://mail.example',
    'smtp://',
    'smtp://mail.example?ignoreTLS=true',
    'smtp://%E0%A4%A@mail.example',
  ])('refuses the address %s without showing it', async (url) => {
    const error: unknown = await deliver([], bySmtp, url).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'MailError', code: 'smtp_url_invalid' });
    expect(String(error)).not.toContain('mail.example');
  });

  it('without SMTP_URL is a mistake in the settings', async () => {
    await expect(deliver([], bySmtp)).rejects.toMatchObject({ name: 'MailError', code: 'smtp_url_missing' });
  });

  it.each(['smtp://localhost.evil.example', 'smtp://127.0.0.1.evil.example', 'smtp://mail.example', 'smtp://10.0.0.1'])(
    '%s has to speak TLS',
    (url) => {
      expect(toSmtpOptions(url, 1000)).toMatchObject({
        requireTLS: true,
        ignoreTLS: false,
        tls: { rejectUnauthorized: true },
      });
    },
  );
});

describe('mail as .eml files', () => {
  it('always has the same name and bytes, readable by the owner alone', async () => {
    const messages = await buildMessages(['mlro@bank.example', 'deputy@bank.example']);
    const settings = { ...bySmtp, transport: 'file', folder: join(folder, 'mail') } as const;
    const first = await deliver(messages, settings);
    expect(await deliver(messages, settings)).toEqual(first);
    for (const [index, result] of first.entries()) {
      const file = toFile(result);
      const message = messages[index];
      if (message === undefined) throw new Error('more results than messages');
      expect((await readFile(file)).equals(await renderMessage(message))).toBe(true);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    }
  });

  it('does not send an attachment that is no longer what was written', async () => {
    const messages = await buildMessages(['mlro@bank.example'], 'full');
    await writeFile(join(folder, 'run-20261121-0200-7f3a', 'report.html'), 'changed');
    const results = await deliver(messages, { ...bySmtp, transport: 'file', folder: join(folder, 'mail') });
    expect(results).toMatchObject([{ kind: 'failed', said: expect.stringContaining('no longer the file') }]);
  });

  it('that cannot be written are reported, not thrown', async () => {
    await writeFile(join(folder, 'taken'), '');
    const messages = await buildMessages(['mlro@bank.example']);
    const results = await deliver(messages, { ...bySmtp, transport: 'file', folder: join(folder, 'taken') });
    expect(results).toMatchObject([{ kind: 'failed' }]);
  });
});
