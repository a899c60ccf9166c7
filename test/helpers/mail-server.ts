import type { Socket } from 'node:net';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { onTestFinished } from 'vitest';
import { type MailSettings, mailSettingsSchema } from '../../src/mail/settings.js';
import { listenOnLoopback } from './loopback.js';

/** A message as it arrived. */
export interface ReceivedMail {
  to: string;
  messageId: string;
  inReplyTo: string | undefined;
  references: readonly string[];
  subject: string;
  date: Date;
  text: string;
  attachments: readonly string[];
}

/** A mail server on this machine. */
export interface MailServer {
  url: string;
  port: number;
  /** While it is true, no message is taken for now (4xx). */
  isRefusing: boolean;
  /** Recipients who are refused, with the code that they are refused with. */
  refused: Map<string, number>;
  /** How many messages are still kept without an answer: the connection ends after the final dot. */
  cuts: number;
  /** The code and words with which a message that has attachments is refused after its data; null for none. */
  refusedAttachments: { code: number; said: string } | null;
  received: ReceivedMail[];
  close(): Promise<void>;
}

/** How the server differs from one that takes everything in clear text. */
export interface MailServerOptions {
  port?: number;
  /** Bytes that a message may have, announced as SIZE. */
  size?: number;
  /** STARTTLS with a certificate that nobody vouches for. */
  offersTls?: boolean;
}

const toRefusal = (responseCode: number, said = 'not now, or not ever'): Error =>
  Object.assign(new Error(said), { responseCode });

/** Starts a mail server that keeps what it is sent. */
export async function startMailServer({ port = 0, size, offersTls }: MailServerOptions = {}): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const refused = new Map<string, number>();
  const mail: MailServer = {
    url: '',
    port,
    isRefusing: false,
    refused,
    cuts: 0,
    refusedAttachments: null,
    received,
    close: async () => {},
  };
  const sockets = new Set<Socket>();
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    ...(size === undefined ? {} : { size }),
    onMailFrom: (_address, _session, callback) => callback(mail.isRefusing ? toRefusal(450) : undefined),
    onRcptTo: ({ address }, _session, callback) => {
      const code = refused.get(address);
      callback(code === undefined ? undefined : toRefusal(code));
    },
    onData: (stream, session, callback) => {
      simpleParser(stream).then((parsed) => {
        const { messageId = '', subject = '', date = new Date(0), text = '', inReplyTo, references = [] } = parsed;
        const attachments = parsed.attachments.map(({ filename = '' }) => filename);
        if (mail.refusedAttachments !== null && attachments.length > 0)
          return callback(toRefusal(mail.refusedAttachments.code, mail.refusedAttachments.said));
        const to = session.envelope.rcptTo[0]?.address ?? '';
        received.push({ to, messageId, inReplyTo, references: [references].flat(), subject, date, text, attachments });
        if (mail.cuts === 0) return callback();
        mail.cuts -= 1;
        for (const socket of sockets) socket.destroy();
      }, callback);
    },
  });
  server.on('error', () => {});
  server.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  mail.port = await listenOnLoopback(server.server, port);
  mail.url = `smtp://127.0.0.1:${mail.port}`;
  mail.close = () => new Promise((resolve) => server.close(() => resolve()));
  return mail;
}

/** Starts a mail server that is closed after the test. */
export async function serveMail(options: MailServerOptions = {}): Promise<MailServer> {
  const server = await startMailServer(options);
  onTestFinished(() => server.close());
  return server;
}

/** Settings of mail by SMTP to these people, without early warnings. */
export const toMailSettings = (to: readonly string[], changes: Partial<MailSettings> = {}) => ({
  mail: {
    ...mailSettingsSchema.parse({ transport: 'smtp', from: 'night@bank.example', to }),
    earlyWarning: false,
    timeoutMs: 2_000,
    ...changes,
  },
});

/** Of these, one recipient who gets the whole page. */
export const attachedMail: Partial<MailSettings> = {
  to: [],
  recipients: [{ to: 'one@bank.example', kinds: ['report', 'warning', 'failure'], attach: 'full' }],
};
