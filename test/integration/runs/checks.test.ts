import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { formatRunDescription } from '../../../src/cli/commands/runs.js';
import { formatCheck } from '../../../src/cli/present-run.js';
import { readPublishedList } from '../../../src/lists/published-list.js';
import { previewAssurance, runAssurance, showAssurance } from '../../../src/runs/checks/assurance.js';
import { describeBecauseOf } from '../../../src/runs/checks/because-of.js';
import { runCheck, showCheck } from '../../../src/runs/checks/check.js';
import { describeRun } from '../../../src/runs/describe-run.js';
import { previewBecauseOf } from '../../../src/runs/preview.js';
import { parseRunId } from '../../../src/runs/run-reference.js';
import { budgetSettingsSchema } from '../../../src/screening/budget.js';
import { readColumn } from '../../../src/store/database/database.js';
import { describeOnPostgres, readRows, testDatabases } from '../../helpers/databases.js';
import { printFigure } from '../../helpers/figures.js';
import { listSearches, openPreparedSites, openSmallSites, searched } from '../../helpers/small-site.js';
import { controls, dayMs, signal } from '../../helpers/small-world.js';

const question = {
  type: 'person',
  name: ' Wilhelmina  Achterberg ',
  reason: 'file 4711',
  askedBy: 'erika@desk',
} as const;

async function writeList(text: string): ReturnType<typeof readPublishedList> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-list-')), 'list.txt');
  await writeFile(path, text);
  return readPublishedList(path);
}

describe('a single check', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('stores who asked, about which name and why, and the answer; without a reason or a name it is refused before', async () => {
    const site = await begin();
    const app = await site.work();
    await expect(runCheck(app, { ...question, name: '---', reason: ' ' }, signal)).rejects.toMatchObject({
      problems: [{ where: 'name' }, { where: 'flag --reason' }],
    });
    expect(await readRows(site.database, 'select run_id from run')).toEqual([]);
    const { result, exitCode } = await runCheck(app, question, signal);
    expect(exitCode).toBe(0);
    expect(result).toMatchObject({
      state: 'complete',
      verdict: 'open_alert',
      sentName: 'Wilhelmina Achterberg',
      reason: 'file 4711',
      askedBy: 'erika@desk',
      attempts: 1,
      keyFingerprints: [app.client().keyFingerprint],
      answer: { total: 1, matches: [{ rank: 1, isHit: true, topics: ['sanction'] }] },
    });
    expect(result.responseDigest).toMatch(/^[0-9a-f]{64}$/);
    expect(await showCheck(site.database, 'default', result.runId)).toEqual(result);
    const counts = await readRows(
      site.database,
      `select (sums #>> '{counts,searches}')::integer as searches, (sums #>> '{counts,hits}')::integer as hits,
         (sums #>> '{counts,planned}')::integer as planned
       from run where kind = 'check'`,
    );
    expect(counts).toEqual([{ searches: 1, hits: 1, planned: 0 }]);
  });

  it('that fails never has the verdict clear, whatever fails', async () => {
    const site = await begin();
    const ask = async (name: string, options: Parameters<typeof site.work>[0] = {}) =>
      runCheck(await site.work({ maxAttempts: 1, ...options }), { ...question, name }, signal);
    const crossed = '{"query":"somebody else","type":"person","total":0,"results":[]}';
    site.sandbox.setFaults([{ path: '/aml/search', raw: { status: 201, body: crossed } }]);
    expect(await ask('Aroha Ngata')).toMatchObject({
      exitCode: 3,
      result: { verdict: 'not_screened', state: 'incomplete', answer: null },
    });
    site.sandbox.setFaults([{ path: '/aml/search', status: 402, times: 1 }]);
    expect(await ask('Aroha Ngata')).toMatchObject({ exitCode: 4, result: { verdict: 'not_screened' } });
    site.sandbox.setFaults([{ path: '/aml/search', status: 503, times: 50 }]);
    expect(await ask('Aroha Ngata')).toMatchObject({
      exitCode: 4,
      result: {
        verdict: 'not_screened',
        notAnsweredBecause: ['the service is out of reach: the search ended with http_503'],
      },
    });
    site.sandbox.setFaults([]);
    const budget = { currency: 'EUR', reserveShare: 0.05, maxSearchesPerDay: 1 };
    expect(await ask('Aroha Ngata', { settings: { budget } })).toMatchObject({
      exitCode: 4,
      result: {
        verdict: 'not_screened',
        notAnsweredBecause: [expect.stringContaining('1 searches for this day')],
        attempts: 0,
      },
    });
    const codes = await readColumn(
      site.database,
      z.string(),
      'select outcome_reason as code from single_search order by run_id',
    );
    expect(codes).toEqual(['echo_mismatch', 'account', 'outage', 'budget']);
    expect(await ask('Aroha Ngata')).toMatchObject({ exitCode: 0, result: { verdict: 'clear' } });
  });

  it('with a live key is complete without a hit only when control searches of both kinds have passed within a day', async () => {
    const site = await begin();
    const budget = budgetSettingsSchema.parse({ maxSearchesPerMonth: 1_000, pricePerSearch: 0.1 });
    const live = (offsetMs = 0, settings: Parameters<typeof site.work>[0] = {}) =>
      site.work({
        offsetMs,
        apiKey: site.sandbox.livePrivateKey,
        ...settings,
        settings: { budget, ...settings.settings },
      });
    const ask = async (offsetMs: number, name = 'Aroha Ngata') => {
      const { result, exitCode } = await runCheck(await live(offsetMs), { ...question, name }, signal);
      return { exitCode, state: result.state, verdict: result.verdict, controls: result.controls.verdict };
    };
    const doubted = { exitCode: 3, state: 'incomplete', verdict: 'not_screened' };
    expect(await ask(-3 * dayMs)).toEqual({ ...doubted, controls: 'never' });
    expect(await ask(-3 * dayMs, question.name)).toMatchObject({
      exitCode: 0,
      verdict: 'open_alert',
      controls: 'never',
    });
    const unwatched = await site.run(await live(-3 * dayMs, { settings: { controls: [] } }));
    expect(unwatched).toMatchObject({ state: 'incomplete', exitCode: 3 });
    expect(unwatched.reasons[0]).toContain('no control searches are configured for a live key');
    const onlyNothing = controls.filter(({ expect }) => expect === 'none');
    const oneSided = await site.run(await live(-3 * dayMs, { settings: { controls: onlyNothing } }));
    expect(oneSided).toMatchObject({ state: 'incomplete', exitCode: 3 });
    expect(oneSided.reasons[0]).toContain('no control search expects a match');
    expect(await ask(-3 * dayMs + 60_000)).toEqual({ ...doubted, controls: 'one_sided' });
    expect(await site.run(await live(-2 * dayMs))).toMatchObject({ state: 'complete' });
    const held = { exitCode: 0, state: 'complete', verdict: 'clear', controls: 'hold' };
    expect(await ask(-2 * dayMs + 60_000)).toEqual(held);
    expect(await ask(0)).toEqual({ ...doubted, controls: 'too_old' });
    site.sandbox.setWorld({ watchlist: [], dossiers: [] });
    expect(await site.run(await live(60_000))).toMatchObject({ state: 'incomplete' });
    expect(await ask(120_000)).toEqual({ ...doubted, controls: 'failed' });
    expect(formatCheck((await runCheck(await live(180_000), question, signal)).result)).toMatch(
      /^controls +NONE in this check; the last ones on this account FAILED \(\S+-rescreen-\d+, /m,
    );
  });

  it('with a test key has no verdict without a hit after control searches on the account have failed, until they pass', async () => {
    const site = await begin();
    const ask = async (offsetMs: number) =>
      (await runCheck(await site.work({ offsetMs }), { ...question, name: 'Aroha Ngata' }, signal)).result;
    expect(await ask(0)).toMatchObject({ state: 'complete', verdict: 'clear', controls: { verdict: 'never' } });
    const wrong = [{ type: 'person', name: 'Nobody Lists This Name', expect: 'match' } as const];
    expect(await site.run(await site.work({ offsetMs: 60_000, settings: { controls: wrong } }))).toMatchObject({
      state: 'incomplete',
    });
    const doubted = await ask(120_000);
    expect(doubted).toMatchObject({ state: 'incomplete', verdict: 'not_screened', controls: { verdict: 'failed' } });
    expect(doubted.answer).toMatchObject({ total: 0 });
    expect(formatCheck(doubted)).toMatch(/^verdict +NOT SCREENED: .*\nbecause +no proof that the service finds listed/);
    expect(await showCheck(site.database, 'default', doubted.runId)).toEqual(doubted);
    expect(await site.run(await site.work({ offsetMs: 180_000 }))).toMatchObject({ state: 'complete' });
    expect(await ask(240_000)).toMatchObject({ state: 'complete', verdict: 'clear', controls: { verdict: 'hold' } });
  });

  it('never passes a cap, whatever its repeats and however many are made at once', async () => {
    const site = await begin();
    const capped = async (maxSearchesPerDay: number) =>
      site.work({ settings: { budget: { currency: 'EUR', reserveShare: 0.05, maxSearchesPerDay } } });
    site.sandbox.setFaults([{ path: '/aml/search', cut: 'after_work', times: 10 }]);
    const { result, exitCode } = await runCheck(await capped(2), question, signal);
    expect({ exitCode, attempts: result.attempts, because: result.notAnsweredBecause }).toEqual({
      exitCode: 4,
      attempts: 2,
      because: ['the budget of 2 searches for this day is used up'],
    });
    expect(searched(site.sandbox, 'Wilhelmina Achterberg')).toBe(2);

    site.sandbox.setFaults([]);
    const app = await capped(2 + 3);
    const asked = Array.from({ length: 6 }, (_, at) => runCheck(app, { ...question, name: `Somebody ${at}` }, signal));
    const checks = await Promise.all(asked);
    const searches = site.sandbox.ledger().filter(({ searchName }) => searchName?.startsWith('Somebody'));
    expect(searches.length).toBeLessThanOrEqual(3);
    const answered = checks.filter(({ result }) => result.state === 'complete');
    expect(answered).toHaveLength(searches.length);
    expect(checks.filter(({ exitCode }) => exitCode === 4)).toHaveLength(6 - searches.length);
    // Checks that reserve for each other may leave a part of the budget, which the next one gets.
    for (let left = 3 - searches.length; left > 0; left -= 1) await runCheck(app, question, signal);
    expect((await runCheck(app, question, signal)).exitCode).toBe(4);
  });
});

describeOnPostgres('a check whose process was killed', (_open, databases) => {
  const begin = openPreparedSites(databases, async (site) => {
    const app = await site.work();
    const { result: answered } = await runCheck(app, question, signal);
    const { result: killed } = await runCheck(app, { ...question, name: 'Aroha Ngata' }, signal);
    const { result: alive } = await runCheck(app, { ...question, name: 'Ciro Malvestuto' }, signal);
    // As a kill leaves them: the first before its run was closed, the second before its answer; the lease of the third is valid.
    await site.database.runScript(`
      update run set state = 'running', finished_at = null, sums = null, stage = 'started', lease_key = 'check/default/' || (run_id + 4)
        where kind = 'check';
      update single_search set response_id = null, verdict = null, ended_at = null where run_id = 2;
      alter table call disable trigger call_ends_once;
      update call set ended_at = null, status = null, outcome = 'in_flight', service_request_id = null where run_id = 2;
      alter table call enable trigger call_ends_once;
      insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at)
        select 'check/default/' || (run_id + 4), epoch, 'somebody', now() - interval '1 minute', now(),
          now() + case run_id when 3 then interval '1 hour' else interval '-1 second' end
        from run where kind = 'check'`);
    return { answered, killed, alive };
  });

  it.each(['a check', 'a screening'])('is closed by the next run, %s, whichever lease it had', async (next) => {
    const site = await begin();
    const { answered, killed, alive } = site.prepared;
    if (next === 'a check') await runCheck(await site.work(), question, signal);
    else await site.run(await site.work());
    expect(await showCheck(site.database, 'default', answered.runId)).toMatchObject({
      state: 'complete',
      verdict: 'open_alert',
    });
    expect(await showCheck(site.database, 'default', killed.runId)).toMatchObject({
      state: 'incomplete',
      verdict: 'not_screened',
      notAnsweredBecause: ['its process ended before an answer was stored; run the check again'],
    });
    expect(await showCheck(site.database, 'default', alive.runId)).toMatchObject({ state: 'running' });
    const unknown = await readRows(site.database, `select run_id as run from call where outcome = 'unknown'`);
    expect(unknown).toEqual([{ run: 2 }]);
  });
});

describeOnPostgres('a published list', (open) => {
  const begin = openSmallSites(open);

  it('forces a search of the customers whom it may mean and of no others, which the next run makes if the first is abandoned', async () => {
    const site = await begin();
    const app = await site.work();
    await site.run(app);
    const list = await writeList('ACHTERBERG, Wilhelmína\nKvarnstroem Bertil\nNobody Else\n');
    const options = { selection: 'forced', list, mostNamed: 10 } as const;
    const preview = await previewBecauseOf(app, site.roster, options, signal);
    expect(preview).toMatchObject({
      preview: { planned: 2, searches: 2, reasons: { forced: 2, not_due: 4 } },
      comparison: { listed: 3, comparedParties: 6, forcedCustomers: 2 },
      forced: [{ reference: 'C-1' }, { reference: 'C-4' }],
    });
    const summary = await site.run(app, {
      kind: 'screen',
      selection: 'forced',
      importFirst: false,
      becauseOf: list,
    });
    expect(summary).toMatchObject({ state: 'complete', counts: { planned: 2, screened: 2, skipped: 4 } });
    expect([searched(site.sandbox, 'Wilhelmina Achterberg'), searched(site.sandbox, 'Aroha Ngata')]).toEqual([2, 1]);
    const kept = await describeBecauseOf(site.database, { runId: parseRunId(summary.runId) }, 10);
    expect(kept).toMatchObject({ comparison: { file: 'list.txt', digest: list.digest }, forced: preview.forced });
    expect(kept?.forced[0]?.because).toContain('ACHTERBERG, Wilhelmína');
    const shown = await describeRun(app, summary.runId);
    expect(shown.becauseOf).toEqual(kept);
    expect(formatRunDescription(shown)).toMatch(/^because of +list\.txt: 3 entries.*\nforced +2 customers/m);
    const runs = await readColumn(site.database, z.string(), 'select kind from run order by run_id');
    expect(runs).toEqual(['rescreen', 'screen']);

    // The run of another list is abandoned: the next one searches for the rest of its customers, though no customer is due.
    const becauseOf = await writeList('Wilhelmina Achterberg\nBertil Kvarnström\n');
    const forced = { kind: 'screen', selection: 'forced', importFirst: false, becauseOf } as const;
    expect(await site.run(app, { ...forced, maxSearches: 1 })).toMatchObject({
      state: 'stopped',
      counts: { remaining: 1 },
    });
    expect(await site.run(app)).toMatchObject({
      state: 'complete',
      counts: { planned: 1, screened: 1, skipped: 5 },
    });
    expect(await site.run(app)).toMatchObject({ state: 'complete', counts: { planned: 0 } });
  });
});

describe('a measurement of recall', () => {
  const { open } = testDatabases('postgres');
  const begin = openSmallSites(open);

  it('counts the found names, names the missed ones, and shows the same later', async () => {
    const site = await begin();
    const app = await site.work();
    const list = await writeList('Wilhelmina Achterberg\nOktavian Prunescu\nSomebody Unlisted\nControl Listed\n');
    const options = { list, size: 10, seed: 's', spelling: 'as_listed', type: 'person', atLeast: 0.9 } as const;
    const result = await runAssurance(app, options, signal);
    expect(result).toMatchObject({
      state: 'incomplete',
      exitCode: 3,
      total: { sample: 4, answered: 4, found: 3, recall: { share: 0.75 } },
      missed: [{ listedName: 'Somebody Unlisted', results: 0 }],
      attempts: 4,
      seed: 's',
    });
    expect(result.reasons[0]).toContain('75.0 %');
    expect(await showAssurance(site.database, 'default', result.runId)).toEqual(result);
    expect(await runAssurance(app, { ...options, atLeast: 0.7 }, signal)).toMatchObject({
      state: 'complete',
      exitCode: 0,
    });
  });

  it('that stopped keeps the searches it has paid for and resumes with the rest', async () => {
    const site = await begin();
    const names = Array.from({ length: 12 }, (_, at) => `Somebody Number${at}`);
    const list = await writeList(`${names.join('\n')}\n`);
    const options = {
      list,
      size: 12,
      seed: undefined,
      spelling: 'as_listed',
      type: 'person',
      atLeast: undefined,
    } as const;
    const budget = { currency: 'EUR', reserveShare: 0, maxSearchesPerDay: 5 };
    const rate = { perSecond: 400, concurrency: 1 };
    const stopped = await runAssurance(await site.work({ rate, settings: { budget } }), options, signal);
    expect(stopped).toMatchObject({ state: 'stopped', exitCode: 4, total: { answered: 5, remaining: 7 }, attempts: 5 });
    printFigure(`measurement with 5 calls left: ${stopped.attempts} calls`);
    const ended = await runAssurance(await site.work({ rate }), options, signal);
    expect(ended).toMatchObject({
      runId: stopped.runId,
      state: 'complete',
      total: { answered: 12 },
      attempts: 12,
      seed: stopped.seed,
    });
    expect(names.map((name) => searched(site.sandbox, name))).toEqual(names.map(() => 1));
  });

  it('of a list without a usable name is refused before any search', async () => {
    const site = await begin();
    const list = await writeList('Wilhelmina Achterberg\n');
    // Nothing says whether it is a person or an entity.
    const options = {
      list,
      size: 10,
      seed: 's',
      spelling: 'as_listed',
      type: undefined,
      atLeast: 0.9,
    } as const;
    const app = await site.work();
    await expect(runAssurance(app, options, signal)).rejects.toThrow(/no name of a person or an entity/);
    expect(() => previewAssurance(app.settings, options)).toThrow(/no name of a person or an entity/);
    expect(listSearches(site.sandbox)).toEqual([]);
  });
});
