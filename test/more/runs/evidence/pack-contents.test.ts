import { spawnSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { sweepSettingsSchema } from '../../../../src/dossiers/sweep-dossiers.js';
import type { LineFileName } from '../../../../src/evidence/manifest.js';
import { open as openSeal } from '../../../../src/evidence/seal.js';
import { verifyEvidence } from '../../../../src/evidence/verify.js';
import { readPublishedList } from '../../../../src/lists/published-list.js';
import { dossierLinkSchema } from '../../../../src/roster/settings.js';
import type { AppContext, RunSettings } from '../../../../src/runs/app-context.js';
import { runAssurance } from '../../../../src/runs/checks/assurance.js';
import { acceptGaps } from '../../../../src/runs/coverage.js';
import { writeMissingPacks } from '../../../../src/runs/packs.js';
import { runSweep } from '../../../../src/runs/sweep-run.js';
import { type Database, readColumn, readValue } from '../../../../src/store/database/database.js';
import { sql } from '../../../../src/store/database/statement.js';
import { queuePack } from '../../../../src/store/evidence/packs.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { digestAll, openEvidenceFolders, type PackLine, readPackLines } from '../../../helpers/evidence-folders.js';
import { listenAlong, makeAcceptance, openSmallSites, type SmallSite } from '../../../helpers/small-site.js';
import {
  buildSandboxDossier,
  dayMs,
  fileOf,
  hourMs,
  people,
  signal,
  toCsv,
  watchlist,
} from '../../../helpers/small-world.js';

/** Removes all packs of a folder; they must come again byte for byte. */
async function expectSameAgain(app: AppContext, dir: string, packs: number): Promise<void> {
  const before = await digestAll(dir);
  await rm(dir, { recursive: true });
  const { made, lost } = await writeMissingPacks(app);
  expect({ made: made.length, lost }).toEqual({ made: packs, lost: [] });
  expect(await digestAll(dir)).toEqual(before);
}

/** Opens a sealed text with whichever key of a kind opens it; null where none does. */
async function openWith(database: Database, kind: string, about: string, { sealed }: PackLine): Promise<string | null> {
  const keys = await readColumn(
    database,
    z.instanceof(Buffer),
    sql`select key from evidence_key where kind = ${kind} order by id`,
  );
  for (const key of keys) {
    try {
      return openSeal(key, about, sealed ?? '');
    } catch {
      // The key of another one.
    }
  }
  return null;
}

describeOnPostgres('a pack', (open) => {
  const openSite = openSmallSites(open);
  const openFolder = openEvidenceFolders();

  it('has rejected rows, gaps, records behind matches, discrepancies and acceptances, and names nobody openly', async () => {
    const site = await openSite();
    const { dir, settings: shared } = await openFolder();
    const evidence = { ...shared.evidence, details: { maxPerRun: 200 } };
    const rosters = [{ ...site.roster, dossiers: dossierLinkSchema.parse({}) }];
    const settings = { ...shared, evidence, rosters };
    const rejected = 'C-7,robot,Gudrun Unlesbar\nC-8,clone,Hanno Unlesbar\n,person,Nemo Unlesbar\n';
    await writeFile(fileOf(site.roster), `${toCsv(people)}${rejected}`);
    site.sandbox.setWorld({ watchlist, dossiers: [buildSandboxDossier(99, { name: 'Dora Niemand' })] });
    const body = '{"id":"amla_one","note":"Personal Words"}';
    site.sandbox.setFaults([{ path: '/aml/activity/amla_one', raw: { status: 200, body } }]);
    await runSweep(await site.work({ settings, offsetMs: -dayMs }), { writeReport: false }, signal);
    const app = await site.work({ settings, offsetMs: -dayMs });
    expect(await site.run(app)).toMatchObject({ counts: { rejected: 3, skipped: 2 } });
    const until = new Date(Date.now() + 9 * dayMs).toISOString().slice(0, 10);
    const words = { ...(await makeAcceptance(app)), reason: 'Gudrun comes tomorrow' };
    await acceptGaps(app, { roster: undefined, customers: ['C-7'], until }, words);
    const last = await site.work({ settings });
    await site.run(last);
    expect((await verifyEvidence(dir)).problems).toEqual([]);
    const second = spawnSync('python3', ['docs/verify-evidence.py', dir], { encoding: 'utf8' });
    if (second.error === undefined) expect(second.stdout).toMatch(/^0 problems; 3 packs/);

    const read = (pack: string, name: LineFileName, field?: string) => readPackLines(dir, pack, name, field);
    const { database } = site;
    const rows = await read('2/1', 'customers.jsonl.gz', 'row');
    expect(rows).toMatchObject([
      { row: [1, 7], reason: expect.any(String), line: 8 },
      { row: [1, 8], reason: expect.any(String), line: 9 },
      { row: [1, 9], reason: expect.any(String), line: 10 },
    ]);
    expect(rows[2]?.sealed).toBeUndefined();
    const [row, ...gaps] = [...rows.slice(0, 1), ...(await read('2/1', 'customers.jsonl.gz', 'gap'))];
    expect(await openWith(database, 'reference', 'row/1/7', row ?? {})).toContain('Gudrun Unlesbar');
    expect(gaps).toMatchObject([
      { gap: 1, reason: 'row_rejected' },
      { gap: 2, reason: 'row_rejected' },
    ]);
    expect(await openWith(database, 'reference', 'gap/2/1', gaps[0] ?? {})).toBe('{"reference" : "C-7"}');
    // One reference has one key, in all runs.
    const keys = `select count(*)::integer from evidence_key where kind = 'reference'`;
    expect(await readValue(database, z.number(), keys)).toBe(2);

    const details = await read('2/1', 'answers.jsonl.gz', 'detail');
    expect(details).toMatchObject([
      { detail: 1, kind: 'activity', status: 200 },
      { detail: 2, kind: 'activity', status: 200 },
    ]);
    expect(await openWith(database, 'record', 'detail/2/1', details[0] ?? {})).toContain('Personal Words');

    const events = await read('2/1', 'changes.jsonl.gz', 'event');
    expect(events).toMatchObject([{ kind: 'opened' }, { kind: 'opened' }]);
    expect(await openWith(database, 'customer', `event/${events[0]?.['event']}`, events[0] ?? {})).toContain(people[0]);

    const discrepancies = await read('2/1', 'changes.jsonl.gz', 'discrepancyEvent');
    const ofCustomer = discrepancies.find((line) => 'customer' in line);
    const about = `discrepancy/${ofCustomer?.['discrepancyEvent']}`;
    expect(await openWith(database, 'customer', about, ofCustomer ?? {})).toContain('"facts"');
    const ofNobody = discrepancies.find((line) => !('customer' in line) && 'dossier' in line);
    expect(ofNobody).toMatchObject({
      kind: 'opened',
      dossier: expect.stringMatching(/99$/),
      severity: expect.any(String),
    });
    expect(ofNobody?.sealed).toBeUndefined();

    const acceptances = await read('3/1', 'dispositions.jsonl.gz', 'acceptance');
    const ofGap = acceptances.find((line) => line['kind'] === 'gap');
    const accepted = await openWith(database, 'acceptance', `acceptance/${ofGap?.['acceptance']}`, ofGap ?? {});
    expect(accepted).toContain('Gudrun comes tomorrow');

    const texts = JSON.stringify(
      await Promise.all(
        ['1/1', '2/1', '3/1'].flatMap((pack) =>
          (['customers', 'answers', 'changes', 'dispositions'] as const).map((name) => read(pack, `${name}.jsonl.gz`)),
        ),
      ),
    );
    expect(texts).toContain('row_rejected');
    for (const name of [...people, 'Unlesbar', 'Niemand', 'Gudrun', 'C-7', 'amla_one', 'Personal']) {
      expect(texts).not.toContain(name);
    }
    await expectSameAgain(last, dir, 3);
  });
});

/** Changes of all dossiers. */
const toDossiers = (status: 'approved' | 'rejected') =>
  Array.from({ length: 30 }, (_, at) => buildSandboxDossier(at + 1, { status }));

/** A sweep that is stopped after its first page. */
async function stopSweep(site: SmallSite, settings: Partial<RunSettings>, offsetMs: number): Promise<void> {
  const stop = new AbortController();
  const app = listenAlong(await site.work({ settings, offsetMs }), (event) => {
    if (event.kind === 'progress') stop.abort();
  });
  expect(await runSweep(app, { writeReport: false }, stop.signal)).toMatchObject({ state: 'stopped' });
}

describeOnPostgres('a lost pack comes again byte for byte', (open) => {
  const openSite = openSmallSites(open);
  const openFolder = openEvidenceFolders();

  it('of a sweep that stopped, was resumed, and of one whose changes a later sweep took over', async () => {
    const site = await openSite();
    const { dir, settings: shared } = await openFolder();
    const settings = { ...shared, sweep: { ...sweepSettingsSchema.parse({ windows: 1 }), perPage: 10 } };
    const sweep = async (offsetMs: number) =>
      runSweep(await site.work({ settings, offsetMs }), { writeReport: false }, signal);
    site.sandbox.setWorld({ watchlist, dossiers: toDossiers('approved') });
    await sweep(-3 * dayMs);
    site.sandbox.setWorld({ watchlist, dossiers: toDossiers('rejected') });
    await stopSweep(site, settings, -2 * dayMs);
    await sweep(-2 * dayMs + hourMs);
    site.sandbox.setWorld({ watchlist, dossiers: toDossiers('approved') });
    await stopSweep(site, settings, -dayMs);
    await sweep(0);
    const packs = ['1/1', '2/1', '2/2', '3/1', '3/2', '4/1'];
    const counts = await Promise.all(
      packs.map(async (pack) => (await readPackLines(dir, pack, 'changes.jsonl.gz', 'dossierChange')).length),
    );
    expect(counts).toEqual([0, 10, 20, 10, 0, 20]);
    expect((await verifyEvidence(dir)).problems).toEqual([]);
    await expectSameAgain(await site.work({ settings }), dir, 6);
  });

  it('of a measurement of recall that stopped and was resumed', async () => {
    const site = await openSite();
    const { dir, settings } = await openFolder();
    const file = join(dir, '..', 'nightscreen-list.txt');
    await writeFile(file, `${Array.from({ length: 12 }, (_, at) => `Somebody Number${at}`).join('\n')}\n`);
    const list = await readPublishedList(file);
    const options = { list, size: 12, seed: 's', spelling: 'as_listed', type: 'person', atLeast: undefined } as const;
    const budget = { currency: 'EUR', reserveShare: 0, maxSearchesPerDay: 5 };
    const first = await site.work({ settings: { ...settings, budget } });
    expect(await runAssurance(first, options, signal)).toMatchObject({ state: 'stopped' });
    const app = await site.work({ settings });
    expect(await runAssurance(app, options, signal)).toMatchObject({ state: 'complete' });
    expect(await readPackLines(dir, '1/1', 'customers.jsonl.gz', 'single')).toEqual([]);
    expect(await readPackLines(dir, '1/2', 'customers.jsonl.gz', 'single')).toHaveLength(12);
    expect((await verifyEvidence(dir)).problems).toEqual([]);
    await expectSameAgain(app, dir, 2);
  });

  it('of a run that stopped before its first search, and was planned again', async () => {
    const site = await openSite();
    const { dir, settings } = await openFolder();
    await site.run(await site.work({ settings, offsetMs: -dayMs }));
    const stopped = await site.run(await site.work({ settings, url: 'http://127.0.0.1:1' }));
    expect(stopped).toMatchObject({ state: 'stopped' });
    await site.database.execute('update run set account_id = null where run_id = 2');
    const app = await site.work({ settings });
    expect(await site.run(app)).toMatchObject({ runId: stopped.runId, state: 'complete' });
    expect(await readPackLines(dir, '2/1', 'customers.jsonl.gz', 'customer')).toEqual([]);
    expect(await readPackLines(dir, '2/2', 'customers.jsonl.gz', 'customer')).toHaveLength(people.length);
    expect((await verifyEvidence(dir)).problems).toEqual([]);
    await expectSameAgain(app, dir, 3);
  });

  it('also when a decision is being stored while the pack is queued: the pack waits for it', async () => {
    const site = await openSite();
    const { settings } = await openFolder();
    await site.run(await site.work({ settings }));
    const { database } = site;
    let queued = Promise.resolve();
    const changed = await database.transaction(async (transaction) => {
      await transaction.execute('select from organisation for no key update');
      queued = database.transaction((other) => queuePack(other, 1));
      await new Promise((done) => setTimeout(done, 300));
      return readValue(
        transaction,
        z.number(),
        `insert into customer_state_change (customer_id, to_state, is_test, changed_at) values (1, 'clear', true, now()) returning change_id`,
      );
    });
    await queued;
    const last = `select state_change from evidence_pack order by pack_id desc limit 1`;
    expect(await readValue(database, z.number(), last)).toBe(changed);
  });
});
