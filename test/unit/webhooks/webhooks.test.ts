import { createServer } from 'node:http';
import { Agent } from 'undici';
import { expect, it } from 'vitest';
import { buildMessage, parseWebhookSecrets, postMessage, signMessage } from '../../../src/webhooks/messages.js';
import { webhooksSettingsSchema } from '../../../src/webhooks/settings.js';
import { listenOnLoopback } from '../../helpers/loopback.js';

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';

it('signs as the published example of Standard Webhooks does, and by two keys while one takes the place of the other', () => {
  const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' };
  const headers = signMessage(message, parseWebhookSecrets('X', secret), new Date(1_614_265_330_000));
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  const both = signMessage(message, parseWebhookSecrets('X', `${secret} ${secret}`), new Date(1_614_265_330_000));
  expect(both['webhook-signature'].split(' ')).toHaveLength(2);
});

it('never gives what a restored database tells together with something newer the id of the message that told it before', () => {
  const change = { roster: 'people', reference: 'C-1', from: null, to: 'clear', reason: null, asOf: null, dueAt: null };
  const rest = { expiresAt: null, runId: null, mode: 'test', changedAt: new Date(0) } as const;
  const toId = (...sequences: readonly number[]) =>
    buildMessage(
      'https://core.bank.example/hook',
      sequences.map((sequence) => ({ sequence, ...change, ...rest })),
    ).id;
  expect(toId(10, 11)).toBe('nightscreen_a9ae78f44031f03b_11');
  expect(toId(10, 11, 1_000_012)).toBe('nightscreen_a9ae78f44031f03b_1000012');
});

it('takes no secret that is missing, short or not base64, and never shows one', () => {
  for (const text of [undefined, '', 'abc', 'whsec_c2hvcnQ=', `${secret} ${secret} ${secret}`, 'whsec_%%%']) {
    expect(() => parseWebhookSecrets('HOOK', text)).toThrow(/HOOK/);
    if (text) expect(() => parseWebhookSecrets('HOOK', text)).not.toThrow(text);
  }
});

it('takes addresses with TLS or on this machine, each once, without credentials or a query', () => {
  const isTaken = (...urls: readonly string[]) =>
    webhooksSettingsSchema.safeParse(urls.map((url) => ({ url }))).success;
  expect(isTaken('https://core.example/hook', 'http://127.0.0.1:8080/hook', 'http://[::1]/')).toBe(true);
  for (const url of [
    'http://core.example/hook',
    'ftp://x/',
    'https://a:b@core.example/',
    'https://a@core.example/',
    'nothing',
  ])
    expect(isTaken(url)).toBe(false);
  for (const url of ['https://core.example/hook?token=geheim', 'https://core.example/hook?']) {
    const { error } = webhooksSettingsSchema.safeParse([{ url }]);
    expect(error?.issues.map(({ message }) => message).join()).toMatch(/^must not contain a query(?!.*geheim)/);
  }
  expect(isTaken('https://core.example/hook', 'https://core.example/hook')).toBe(false);
});

it('gives up on a receiver that sends an answer slower than the deadline', async () => {
  const server = createServer((_, response) => response.writeHead(200).write('slow'));
  const port = await listenOnLoopback(server);
  const dispatcher = new Agent();
  const silent = createServer(() => undefined);
  const silentPort = await listenOnLoopback(silent);
  const post = (at: number, deadlineMs: number) =>
    postMessage(
      { url: `http://127.0.0.1:${at}`, keys: [], dispatcher, deadlineMs },
      { id: 'x', body: '{}' },
      new Date(),
    );
  // The status has come: it was taken, whatever else the receiver has to say. A busy machine takes its time for it.
  expect(await post(port, 1_500)).toMatchObject({ kind: 'sent' });
  expect(await post(silentPort, 150)).toMatchObject({ kind: 'failed', said: 'no answer within 150 ms' });
  await dispatcher.destroy();
  for (const one of [server, silent]) {
    one.closeAllConnections();
    one.close();
  }
});
