import { subscribe } from 'node:diagnostics_channel';
import { createClient } from '../../src/client/client.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { openSharedRate } from '../../src/store/night/account-pace.js';

/** What a client process is to do: `searches` of them as fast as its rate allows, or as many as fit into `seconds`. */
export interface PaceClientOrder {
  url: string;
  perSecond: number;
  concurrency: number;
  /** Searches begun and not read yet, waiting and backing off included. */
  callers: number;
  searches?: number;
  seconds?: number;
  /** The database whose processes share the rate of account 1; without it the process has the rate alone. */
  databaseUrl?: string;
}

/** What came of it; `sentMs` are the instants at which a search's headers were written to a socket. */
export interface PaceClientReport {
  answered: number;
  failed: number;
  attempts: number;
  sentMs: number[];
}

process.on('message', async (order: PaceClientOrder) => {
  const sentMs: number[] = [];
  subscribe('undici:client:sendHeaders', (message) => {
    if (JSON.stringify(message, ['request', 'method']).includes('POST')) sentMs.push(performance.now());
  });
  const rate = { perSecond: order.perSecond, concurrency: order.concurrency };
  const client = createClient({ baseUrl: order.url, apiKey: 'private_sandbox_x', rate });
  const { databaseUrl } = order;
  const reconnect = { reconnectForMs: 90_000, emit: () => undefined };
  const database = databaseUrl === undefined ? null : await openDatabase({ url: databaseUrl, reconnect }, 'tests');
  if (database !== null) client.shareRate(openSharedRate(database, 1));
  const endMs = performance.now() + (order.seconds ?? Number.POSITIVE_INFINITY) * 1_000;
  let attempts = 0;
  let answered = 0;
  let failed = 0;
  const observer = {
    ended: () => {
      attempts += 1;
    },
  };
  function* names(): Generator<{ type: 'person'; name: string }> {
    const count = order.searches ?? Number.POSITIVE_INFINITY;
    for (let number = 0; number < count && performance.now() < endMs; number += 1) {
      yield { type: 'person', name: `Customer ${number}` };
    }
  }
  for await (const { error } of client.aml.searchEach(names(), { concurrency: order.callers, observer })) {
    if (error === undefined) answered += 1;
    else failed += 1;
  }
  await client.close();
  await database?.close();
  process.send?.({ answered, failed, attempts, sentMs } satisfies PaceClientReport);
});
process.on('disconnect', () => process.exit());
