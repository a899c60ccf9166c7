import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { createBoundedServer, listenAt } from '../../src/serving.js';

const closing: (Server | Socket)[] = [];
afterEach(() => {
  for (const one of closing.splice(0)) {
    if ('closeAllConnections' in one) one.close().closeAllConnections();
    else one.destroy();
  }
});

/** A server with short deadlines that answers a request once it has its body. */
async function open(connectionsOfAddress = 8): Promise<number> {
  const limits = { headMs: 300, requestMs: 600, connectionsOfAddress, connections: 16 };
  const server = createBoundedServer(async (request, response) => {
    await text(request).catch(() => '');
    response.end('ok');
  }, limits);
  closing.push(server);
  return listenAt(server, '--port', 0, '127.0.0.1');
}

/** Connects from an address of this machine and says something. */
function say(port: number, words: string, localAddress = '127.0.0.1'): Socket {
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  socket.write(words);
  closing.push(socket);
  return socket;
}

const end = (socket: Socket): Promise<unknown> => new Promise((resolve) => socket.once('close', resolve));

const whole = 'POST /events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}';
const hear = async (socket: Socket): Promise<string> => text(socket).catch(() => '');

it.each([
  ['says nothing', ''],
  ['sends half a head', 'POST /events HTTP/1.1\r\nhost: local'],
  ['sends half a body', 'POST /events HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{}'],
  ['stays after its answer', whole.replace('connection: close\r\n', '')],
])('ends the connection of a client that %s', async (_, words) => {
  const socket = say(await open(), words).resume();
  // Ten times the deadline, for a machine that others use as well.
  await Promise.race([end(socket), delay(6_000).then(() => Promise.reject(new Error('it is still open')))]);
});

it('ends the connection of a client that sends its head or body byte by byte', async () => {
  const port = await open();
  for (const head of ['POST /', 'POST /events HTTP/1.1\r\nhost: localhost\r\ncontent-length: 900\r\n\r\n']) {
    const socket = say(port, head).resume();
    const drip = setInterval(() => socket.write('x'), 50);
    await end(socket);
    clearInterval(drip);
  }
});

it('answers one address while another one has as many slow connections as it can get', async () => {
  const port = await open();
  const slow = Array.from({ length: 40 }, () => say(port, 'POST /').resume());
  await Promise.all(slow.slice(8).map((socket) => socket.destroyed || end(socket)));
  expect(await hear(say(port, whole, '127.0.0.2'))).toMatch(/^HTTP\/1.1 200/);
  // Its own next request is answered once a slow one is gone.
  await Promise.all(slow.map((socket) => socket.destroyed || end(socket)));
  expect(await hear(say(port, whole))).toMatch(/^HTTP\/1.1 200/);
});
