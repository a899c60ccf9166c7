import { mkdtemp, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { serviceSettingsSchema } from '../../../src/client/settings.js';
import { readPublishedList } from '../../../src/lists/published-list.js';
import { runAssurance } from '../../../src/runs/checks/assurance.js';
import { runCheck } from '../../../src/runs/checks/check.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { listenOnLoopback } from '../../helpers/loopback.js';
import { openSmallSites } from '../../helpers/small-site.js';

const { signal } = new AbortController();
const apiKey = 'k_3f9c2a71d0';

describeOnPostgres('a key without a prefix, of which the service says that it is a test key', (open) => {
  const openSite = openSmallSites(open);
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** The service at an address of its own, where `apiKey` opens what the sandbox's test key opens. */
  const acceptKey = async (sandbox: { url: string; privateKey: string }): Promise<string> => {
    const { origin, pathname } = new URL(sandbox.url);
    const authorization = `Basic ${Buffer.from(`${sandbox.privateKey}:`).toString('base64')}`;
    const server = createServer(async (request, response) => {
      const pieces: Buffer[] = [];
      for await (const piece of request) pieces.push(piece);
      const { method = 'GET' } = request;
      const headers = { authorization, 'content-type': 'application/json' };
      const body = method === 'GET' ? {} : { body: Buffer.concat(pieces) };
      const answer = await fetch(`${origin}${request.url ?? ''}`, { method, headers, ...body });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
    });
    closing.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return `http://127.0.0.1:${await listenOnLoopback(server)}${pathname}`;
  };
  const openWithKey = async () => {
    const site = await openSite();
    const app = await site.work({ apiKey, url: await acceptKey(site.sandbox) });
    expect(app.client().keyMode).toBe('unknown');
    const readModes = () => readRows(site.database, 'select kind, mode from run order by run_id');
    return { ...site, app, readModes };
  };

  it('makes a sweep, a check, an assurance and a night of mode test', async () => {
    const { app, roster, run, readModes } = await openWithKey();
    const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-list-')), 'list.txt');
    await writeFile(path, 'Wilhelmina Achterberg\n');
    const list = await readPublishedList(path);
    await runSweep(app, { writeReport: false }, signal);
    const question = { type: 'person', name: 'Ada', reason: 'file 4711', askedBy: 'erika@desk' } as const;
    const { result } = await runCheck(app, question, signal);
    expect(result).toMatchObject({ mode: 'test' });
    const sample = { list, size: 1, seed: 'a', atLeast: undefined, type: 'person', spelling: 'as_listed' } as const;
    const assured = await runAssurance(app, sample, signal);
    expect(assured).toMatchObject({ mode: 'test' });
    await run(app, { roster });
    expect(await readModes()).toEqual(['sweep', 'check', 'assure', 'rescreen'].map((kind) => ({ kind, mode: 'test' })));
  });

  it('is a test key by service.mode where the account has no public key, and stays of that account when it is renewed', async () => {
    const { sandbox, database, work, run, readModes } = await openWithKey();
    sandbox.setFaults([{ path: '/api_keys/public', status: 404, times: 1_000 }]);
    const settings = { service: serviceSettingsSchema.parse({ mode: 'test' }) };
    const night = async (key: string, offsetMs: number) =>
      run(await work({ apiKey: key, url: await acceptKey(sandbox), settings, offsetMs }));
    expect(await night(apiKey, 0)).toMatchObject({ state: 'complete', counts: { screened: 6 } });
    expect(await night('k_renewed', 1)).toMatchObject({ state: 'complete', counts: { screened: 0 } });
    expect(await readModes()).toEqual(['rescreen', 'rescreen'].map((kind) => ({ kind, mode: 'test' })));
    const accounts = await readRows(database, 'select public_key from account');
    expect(accounts).toEqual([{ publicKey: '(none, test mode)' }]);
  });
});
