import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { makeInvocation } from '../../helpers/cli-process.js';
import { createLogin } from '../../helpers/database-servers.js';
import { testDatabases, toAccepterGrants, toExceptionGrants, toReviewerGrants } from '../../helpers/databases.js';
import { listenOnLoopback } from '../../helpers/loopback.js';
import { buildSandboxDossier, people, toCsv, watchlist } from '../../helpers/small-world.js';

/** The names agree but for C-4; C-5 and C-6 have none. */
const dossiers = [1, 2, 3, 4].map((number) =>
  buildSandboxDossier(number, { name: number === 4 ? 'Somebody Else' : (people[number - 1] ?? '') }),
);
const rowSchema = z.array(z.record(z.string(), z.string()));

describe('a reviewer whose login has the documented rights and no others', () => {
  const databases = testDatabases('postgres');
  const logins = { ada: '', boris: '' };
  let folder = '';
  let url = '';
  let sandbox: Sandbox;
  const reported: string[] = [];
  const receiver = createServer(async (request, response) => {
    for await (const piece of request) reported.push(String(piece));
    response.writeHead(204).end();
  });
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nightscreen-rights-'));
    sandbox = await startSandbox({ world: { watchlist, dossiers } });
    const port = await listenOnLoopback(receiver);
    await writeFile(join(folder, 'people.csv'), toCsv(people));
    await writeFile(
      join(folder, 'nightscreen.config.yaml'),
      `rosters: [{ name: people, csv: { path: people.csv }, dossiers: { expect: always } }]
review: { fourEyes: [critical, high] }
reports: { dir: ${JSON.stringify(join(folder, 'reports'))} }
webhooks: [{ url: 'http://127.0.0.1:${port}/', secretEnv: HOOK_SECRET }]
`,
    );
    url = (await databases.locate()).url ?? '';
  });
  afterAll(async () => {
    await sandbox.close();
    receiver.close();
    await rm(folder, { recursive: true });
  });

  const run = async (words: string[], login?: string) => {
    const { invocation, terminal } = makeInvocation(folder);
    const location = new URL(url);
    if (login !== undefined) location.username = login;
    const exitCode = await runCommandLine({
      words,
      environment: {
        DATABASE_URL: location.href,
        NIGHTSCREEN_BASE_URL: sandbox.url,
        NIGHTSCREEN_API_KEY: sandbox.privateKey,
        HOOK_SECRET: `whsec_${Buffer.alloc(32, 7).toString('base64')}`,
      },
      folder,
      terminal: invocation.terminal,
    });
    return { exitCode, ...terminal };
  };

  it('can do all of review with them, webhooks included', async () => {
    expect(await run(['sweep', '--no-report'])).toMatchObject({ exitCode: 0 });
    expect(await run(['rescreen'])).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('failed') });
    const owner = await databases.open({ url });
    for (const name of ['ada', 'boris'] as const) {
      const made = await createLogin(owner, name, toReviewerGrants);
      logins[name] = made.login;
      const limited = await databases.open({ url: made.url });
      await expect(limited.execute('select from evidence_key')).rejects.toThrow(/permission denied/);
    }
    const list = join(folder, 'review.csv');
    const as = async (login: string, ...words: string[]): Promise<string> => {
      const { exitCode, stdout, stderr } = await run(['review', ...words], login);
      expect([words[0], exitCode, stderr]).toEqual([words[0], 0, expect.not.stringMatching(/denied|SQLSTATE/)]);
      return stdout + stderr;
    };
    const fill = async (decide: (row: Record<string, string>) => string) => {
      const rows = rowSchema.parse(parse(await readFile(list, 'utf8'), { bom: true, columns: true }));
      const filled = rows.map((row) => ({ ...row, disposition: decide(row), reason: 'looked at it' }));
      await writeFile(list, stringify(filled, { header: true }));
      return rows.map(({ reference }) => reference);
    };
    const old =
      'customer_id,match_id,listed_name,decision,reason,decided_by,decided_at\nC-2,,Oktavian Prunescu,false_positive,other,old,2020\n';
    await writeFile(join(folder, 'old.csv'), old);
    await as(logins.ada, 'import', '--legacy', 'old.csv', '--apply');
    await as(logins.ada, 'export', '--out', list);
    expect(await fill(({ reference }) => (reference === 'C-1' ? 'true_match' : 'false_positive'))).toHaveLength(2);
    expect(await as(logins.ada, 'import', list)).toContain('would be decided');
    expect(await as(logins.ada, 'import', list, '--apply')).toMatch(
      /does not send changes of state to webhooks itself/,
    );
    // One's own proposals again: they wait for somebody else.
    const again = await as(logins.ada, 'import', list, '--apply');
    expect(again).toMatch(/^decided already +1$/m);
    expect(again).toMatch(/^proposed already +1, pending the approval of another person$/m);
    expect(again).toContain('1 pending approval of yours');
    expect(await as(logins.ada, 'show', 'C-1')).toMatch(/^state +true match/m);
    await as(logins.ada, 'assign', '--customer', 'C-2', '--to', 'boris');
    await as(logins.boris, 'export', '--out', list, '--proposals');
    expect(await fill(() => 'false_positive')).toEqual(['C-2']);
    expect(await as(logins.boris, 'import', list, '--apply')).toMatch(/^approved +1$/m);
    const [, mark = ''] = /^alert +(\S+)$/m.exec(await as(logins.boris, 'show', 'C-2')) ?? [];
    await as(logins.boris, 'undo', mark, '--reason', 'a slip');
    expect(reported.join('')).not.toContain('true_match');
    expect(await run(['outbox', 'retry'])).toMatchObject({ exitCode: 0 });
    expect(reported.join('')).toMatch(/"reference":"C-1","from":"open_alert","to":"true_match"/);
    await acceptDiscrepancies(as);
  });

  it('can read runs, coverage and status, and has what the pages add for settings and for exceptions of a roster', async () => {
    const owner = await databases.open({ url });
    const createReviewer = async (name: string, toFurther: (login: string) => readonly string[]) =>
      (await createLogin(owner, name, (login) => [toReviewerGrants(login), ...toFurther(login)].join('\n'))).login;
    const accepter = await createReviewer('meyer', toAccepterGrants);
    const login = await createReviewer('larsen', toExceptionGrants);
    const { runs } = z
      .object({ runs: z.array(z.object({ runId: z.string() })) })
      .parse(JSON.parse((await run(['runs', '--json'], login)).stdout));
    const reading = [
      ['runs', 'show', runs[0]?.runId ?? ''],
      ['coverage'],
      ['status'],
      ['config', '--all'],
      ['review', 'show', 'C-1'],
    ];
    for (const words of reading) {
      const { exitCode, stdout, stderr } = await run(words, login);
      expect([words, exitCode, stdout + stderr]).toEqual([words, 0, expect.not.stringMatching(/denied|SQLSTATE/)]);
    }
    const said = ['--reason', 'corrected soon'];
    expect(await run(['config', 'accept', ...said], accepter)).toMatchObject({ exitCode: 0 });
    await writeFile(join(folder, 'people.csv'), `${toCsv(people)}C-77,person,\n`);
    expect(await run(['import', '--roster', 'people'])).toMatchObject({ exitCode: 0 });
    const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const excepted = await run(['roster', 'except', '--roster', 'people', '--all', '--until', until, ...said], login);
    expect([excepted.exitCode, excepted.stdout + excepted.stderr]).toEqual([
      0,
      expect.stringContaining('1 gap accepted until'),
    ]);
    const report = await run(['report'], login);
    expect([report.exitCode, report.stderr]).toEqual([2, expect.stringContaining('only their owner writes reports')]);
  });

  /** Two people accept what is high, one what is medium; by hand nobody goes beyond the rules. */
  async function acceptDiscrepancies(as: (login: string, ...words: string[]) => Promise<string>): Promise<void> {
    const list = join(folder, 'discrepancies.csv');
    const until = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10);
    const fill = async (login: string, kind: string): Promise<string> => {
      expect(await as(login, 'export', '--discrepancies', '--out', list)).toContain('discrepancies: ');
      const rows = rowSchema.parse(parse(await readFile(list, 'utf8'), { bom: true, columns: true }));
      const filled = rows.map((row) => (row['kind'] === kind ? { ...row, accept_until: until, reason: 'known' } : row));
      await writeFile(list, stringify(filled, { header: true }));
      return as(login, 'import', list, '--apply');
    };
    expect(await fill(logins.ada, 'name_conflict')).toMatch(
      /^discrepancies proposed +1, pending the approval of another person/m,
    );
    expect(await as(logins.ada, 'import', list, '--apply')).toMatch(/^accepted already +1$/m);
    expect(await fill(logins.ada, 'customer_without_dossier')).toMatch(/^discrepancies accepted +2$/m);
    const says = async (login: string, sql: string): Promise<string> => {
      const location = new URL(url);
      location.username = login;
      const client = new Client({ connectionString: location.href });
      await client.connect();
      try {
        await client.query(
          `insert into discrepancy_event
             (discrepancy_id, seen_event_id, kind, severity, facts, happened_at, reviewer, is_attested, reason, accepted_until)
           select discrepancy_id, (select max(event_id) from discrepancy_event seen where seen.discrepancy_id = d.discrepancy_id), ${sql}`,
        );
        return 'taken';
      } catch (error) {
        return error instanceof Error ? error.message : 'failed';
      } finally {
        await client.end();
      }
    };
    const facts = `'low', '{}', now()`;
    const of = (kind: string): string => `from discrepancy d where d.kind = '${kind}'`;
    const said = (login: string, kind: string, days: number): string =>
      `'accepted', ${facts}, '${login}', false, 'by hand', current_date + ${days} ${of(kind)}`;
    expect(await says(logins.ada, said(logins.ada, 'name_conflict', 30))).toMatch(/accepted by two people/);
    expect(await says(logins.boris, said(logins.boris, 'name_conflict', 60))).toMatch(/accepted by two people/);
    expect(await says(logins.boris, said('cleo', 'name_conflict', 30))).toMatch(/in the name of/);
    expect(await says(logins.ada, said(logins.ada, 'approved_with_sanctions_alert', 30))).toMatch(/never accepted/);
    expect(await says(logins.ada, said(logins.ada, 'customer_without_dossier', 200))).toMatch(/180 days at most/);
    expect(await says(logins.ada, `'resolved', ${facts}, null, false, null, null ${of('name_conflict')}`)).toMatch(
      /cannot say|check constraint/,
    );
    expect(await fill(logins.boris, 'name_conflict')).toMatch(/^discrepancies accepted +1$/m);
  }
});
