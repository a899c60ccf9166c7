import type { AddressInfo } from 'node:net';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';

/** A message as it arrived. */
export interface ReceivedMail {
  to: string;
  messageId: string;
  subject: string;
  date: Date;
  text: string;
}

/** A mail server on this machine; while `isRefusing` it takes no message. */
export interface MailServer {
  url: string;
  isRefusing: boolean;
  received: ReceivedMail[];
  close(): Promise<void>;
}

/** Starts a mail server that keeps what it is sent. */
export async function startMailServer(): Promise<MailServer> {
  const received: ReceivedMail[] = [];
  const mail: MailServer = { url: '', isRefusing: false, received, close: async () => {} };
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: (_address, _session, callback) => callback(mail.isRefusing ? new Error('come back later') : undefined),
    onData: (stream, session, callback) => {
      simpleParser(stream).then(({ messageId = '', subject = '', date = new Date(0), text = '' }) => {
        received.push({ to: session.envelope.rcptTo[0]?.address ?? '', messageId, subject, date, text });
        callback();
      }, callback);
    },
  });
  server.on('error', () => {});
  const address = await new Promise<AddressInfo>((resolve) => {
    const listener = server.listen(0, '127.0.0.1', () => {
      const found = listener.address();
      if (found !== null && typeof found === 'object') resolve(found);
    });
  });
  mail.url = `smtp://127.0.0.1:${address.port}`;
  mail.close = () => new Promise((resolve) => server.close(() => resolve()));
  return mail;
}
