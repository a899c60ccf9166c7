import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { listenOnLoopback } from './loopback.js';

export interface ReceivedWebhook {
  headers: IncomingHttpHeaders;
  body: string;
}

/** A receiver of a test that gives these statuses one after another, then 204; null for no answer at all. */
export async function startReceiver(statuses: (number | null)[] = []) {
  const received: ReceivedWebhook[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await text(request) });
    const status = statuses.length > 0 ? statuses.shift() : 204;
    if (status === null) request.socket.destroy();
    else response.writeHead(status ?? 204, { location: '/elsewhere' }).end();
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${await listenOnLoopback(server)}/hook`, received };
}
