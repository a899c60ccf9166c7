import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { runCommandLine } from '../../../src/cli/run-command-line.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { makeInvocation } from '../../helpers/cli-process.js';
import { createLogin } from '../../helpers/database-servers.js';
import { testDatabases, toReviewerGrants } from '../../helpers/databases.js';
import { people, toCsv, watchlist } from '../../helpers/small-world.js';

vi.setConfig({ testTimeout: 120_000 });

const runSchema = z.object({ runId: z.string(), state: z.string() });
const onlyControl = watchlist.slice(-1);
const said = ['--reason', 'the publisher confirmed it'];

describe('runs accept', () => {
  const databases = testDatabases('postgres');
  let folder = '';
  let url = '';
  let sandbox: Sandbox;
  const configure = (assessing = '') =>
    writeFile(
      join(folder, 'nightscreen.config.yaml'),
      `rosters: [{ name: people, csv: { path: people.csv } }]
controls: [{ type: person, name: Control Listed, expect: match }, { type: person, name: Zzyzx Qwfpg, expect: none }]
reports: { dir: ${JSON.stringify(join(folder, 'reports'))} }
review: { fourEyes: [critical] }
mail: { transport: file, from: from@mail.example, to: [to@mail.example] }
${assessing}
`,
    );
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nightscreen-accept-'));
    sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
    await writeFile(join(folder, 'people.csv'), toCsv(people));
    await configure();
    url = (await databases.locate()).url ?? '';
  });
  afterAll(async () => {
    await sandbox.close();
    await rm(folder, { recursive: true });
  });

  async function run(words: readonly string[], login?: string, key = sandbox.privateKey) {
    const { invocation, terminal } = makeInvocation(folder);
    const location = new URL(url);
    if (login !== undefined) location.username = login;
    const environment = {
      DATABASE_URL: location.href,
      NIGHTSCREEN_BASE_URL: sandbox.url,
      NIGHTSCREEN_API_KEY: key,
    };
    const exitCode = await runCommandLine({ words, environment, folder, terminal: invocation.terminal });
    return { exitCode, ...terminal };
  }

  /** Searches for everybody; gives the run. */
  async function screenAll(world: typeof watchlist, exitCode: number, ...words: string[]): Promise<string> {
    sandbox.setWorld({ watchlist: world, dossiers: [] });
    const screened = await run(['screen', '--roster', 'people', '--all', '--json', ...words]);
    expect(screened).toMatchObject({ exitCode });
    return runSchema.parse(JSON.parse(screened.stdout)).runId;
  }
  async function readHeld(runId: string, exitCode: number, ...words: string[]) {
    const written = await run(['report', '--run', runId, '--json', ...words]);
    expect([written.exitCode, written.stderr]).toEqual([exitCode, expect.not.stringContaining('failed')]);
    const { directory } = z.object({ directory: z.string() }).parse(JSON.parse(written.stdout));
    const { held } = z
      .object({ held: z.array(z.object({ accepted: z.array(z.unknown()) })) })
      .parse(JSON.parse(await readFile(join(directory, 'report.json'), 'utf8')));
    return { held, page: await readFile(join(directory, 'report.html'), 'utf8') };
  }
  async function readLastMail(): Promise<string> {
    const mails = join(folder, 'reports', 'mail');
    const names = (await readdir(mails)).map((name) => join(mails, name));
    const sent = await Promise.all(names.map(async (name) => ({ name, at: (await stat(name)).mtimeMs })));
    const [last] = sent.sort((one, other) => other.at - one.at);
    return (await readFile(last?.name ?? '', 'utf8')).replaceAll(/=\r?\n/g, '');
  }
  const expectRefused = async (words: readonly string[], message: RegExp) => {
    const { exitCode, stdout, stderr } = await run(['runs', 'accept', ...words]);
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(message);
  };

  it('takes the answers of a held run by the names of two people and their reason once, and refuses everything else with exit code 2', async () => {
    // With a live key the trial is over, in which changed settings apply at once.
    const { livePrivateKey } = sandbox;
    expect(await run(['import', '--roster', 'people'], undefined, livePrivateKey)).toMatchObject({ exitCode: 0 });
    const good = await screenAll(watchlist, 0);
    const held = await screenAll(onlyControl, 3);
    await expectRefused([good, ...said], /\S+ is not held, so there is nothing to accept/);
    await expectRefused(['99', ...said], /there is no run 99/);
    await expectRefused(['last', ...said], /last/);
    await expectRefused([held], /--reason: is missing/);
    await configure('changes: { scoreStep: 0.05 }');
    await expectRefused([held, ...said], /the assessment settings differ from those accepted/);
    await configure();

    const stopped = await screenAll(onlyControl, 4, '--max-searches', '1');
    await expectRefused([held, ...said], new RegExp(`${stopped} has not ended`));
    await expectRefused([stopped, ...said], /has not ended/);
    // An import gives the open run up; its one answer is newer than the held one.
    expect(await run(['import', '--roster', 'people'])).toMatchObject({ exitCode: 0 });

    const calls = sandbox.ledger().length;
    const proposed = await run(['runs', 'accept', held, ...said]);
    expect([proposed.exitCode, proposed.stdout]).toEqual([3, expect.stringContaining('A second person accepts it')]);
    await expectRefused([held, ...said], /waits for a second person/);
    const { login, url: own } = await createLogin(await databases.open({ url }), 'second', toReviewerGrants);
    const consent = await run(['runs', 'accept', held, ...said], login);
    expect([consent.exitCode, consent.stdout]).toEqual([3, expect.stringContaining('owns the tables applies it')]);
    const again = await run(['runs', 'accept', held, ...said], login);
    expect([again.exitCode, again.stderr]).toEqual([2, expect.stringContaining(`${login} already proposed it`)]);
    const byHand = (await databases.open({ url: own })).execute(
      `insert into acceptance (kind, run_id, is_proposal, accepted_by, is_attested, reason, accepted_at)
       select 'answers', max(run_id), false, session_user, false, 'alone', now() from run_hold`,
    );
    await expect(byHand).rejects.toThrow(/cannot say that a run is accepted/);
    const { exitCode, stdout } = await run(['runs', 'accept', held, ...said, '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      schema: 'nightscreen/run-accept/1',
      runId: held,
      kind: 'accepted',
      state: 'complete',
      parties: 5,
    });
    expect(sandbox.ledger()).toHaveLength(calls);
    expect((await run(['runs', 'show', held])).stdout).toMatch(/^state +complete/m);
    await expectRefused([held, ...said], /is already accepted, by .*nightscreen.* on 20/);
    // The one with a newer answer was searched for too, and the report is written.
    const { sums } = JSON.parse((await run(['runs', 'show', held, '--json'])).stdout);
    expect(sums.counts).toMatchObject({ planned: 6, screened: 6, failed: 0, remaining: 0 });
    expect((await readHeld(held, 0)).page).toContain('Every sum on this page holds');
  });

  it('shows everyone who proposed or accepted it, with reasons, in runs show at once and then in the report', async () => {
    await screenAll(watchlist, 0);
    const older = await screenAll(onlyControl, 3);
    const owner = await databases.open({ url });
    const { login } = await createLogin(owner, 'third', toReviewerGrants);
    const { login: other } = await createLogin(owner, 'fourth', toReviewerGrants);
    expect(await run(['runs', 'accept', older, ...said], login)).toMatchObject({ exitCode: 3 });
    const held = await screenAll(onlyControl, 3);
    // The newer night has replaced the older one: nobody consents to what can never apply.
    for (const one of [other, undefined]) {
      const late = await run(['runs', 'accept', older, ...said], one);
      expect([late.exitCode, late.stderr]).toEqual([2, expect.stringContaining(`accept ${held} instead`)]);
    }
    const named = await run(['runs', 'accept', held, '--by', 'A. Meyer', ...said], login);
    expect([named.exitCode, named.stderr]).toEqual([2, expect.stringContaining('Omit --by')]);
    const consents = [login, other].map((one) => run(['runs', 'accept', held, ...said], one));
    for (const consent of await Promise.all(consents)) expect(consent).toMatchObject({ exitCode: 3, stderr: '' });
    // All who consented are shown before the acceptance; the report as it was written stays as it is.
    const waiting = (await run(['runs', 'show', held], login)).stdout;
    expect(waiting).toMatch(/^held +answers, not accepted yet$/m);
    expect(waiting.match(/^acceptance +proposed by/gm)).toHaveLength(2);
    expect(waiting).toMatch(new RegExp(`^acceptance +proposed by ${login} on 20.+: the publisher confirmed it$`, 'm'));
    expect((await readHeld(held, 3)).held).toMatchObject([{ accepted: [] }]);
    const refused = await run(['report', '--run', held], login);
    expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringContaining('`nightscreen runs show ID`')]);
    expect(await run(['runs', 'accept', held, ...said])).toMatchObject({ exitCode: 0 });
    const shown = (await run(['runs', 'show', held], login)).stdout;
    expect(shown).toMatch(/^state +complete/m);
    expect(shown).toMatch(/^held +answers, accepted$/m);
    expect(shown.match(/^acceptance +(proposed|accepted) by .+: the publisher confirmed it$/gm)).toHaveLength(3);
    const document = JSON.parse((await run(['runs', 'show', held, '--json'])).stdout);
    expect(document).toMatchObject({ holds: [{ kind: 'answers' }], acceptances: [{}, {}, { isProposal: false }] });
    const report = await readHeld(held, 0, '--send');
    const reason = 'the publisher confirmed it';
    expect(report.held).toMatchObject([
      {
        accepted: [
          { isProposal: true, reason },
          { isProposal: true, reason },
          { isProposal: false, reason },
        ],
      },
    ]);
    for (const one of [login, other]) {
      expect(report.page).toContain(`proposed by ${one}`);
      expect(await readLastMail()).toContain(`The run was held: proposed by ${one}`);
    }
    const masked = await readHeld(held, 0, '--mask');
    expect(JSON.stringify(masked.held)).not.toMatch(new RegExp(`${login}|publisher`));
  });
});
