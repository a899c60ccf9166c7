import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, expect, it } from 'vitest';
import { z } from 'zod';
import { open as openSealed } from '../../../../src/evidence/seal.js';
import { verifyEvidence } from '../../../../src/evidence/verify.js';
import type { RosterSettings } from '../../../../src/roster/settings.js';
import { type AppContext, evidenceSettingsSchema } from '../../../../src/runs/app-context.js';
import { eraseCustomers } from '../../../../src/runs/erasure.js';
import { listPopulation } from '../../../../src/runs/evidence-lists.js';
import { type CustomerEvidence, findCustomer, showEvidence } from '../../../../src/runs/evidence-show.js';
import { applyRetention, holdCustomer, releaseCustomer } from '../../../../src/runs/retention.js';
import { runSweep } from '../../../../src/runs/sweep-run.js';
import { runReports } from '../../../../src/runs/write-reports.js';
import { type Database, readColumn } from '../../../../src/store/database/database.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { decide, findAlerts, makeAcceptance, openSmallSites, type SmallSite } from '../../../helpers/small-site.js';
import { buildSandboxDossier, controls, dayMs, fileOf, watchlist } from '../../../helpers/small-world.js';

/** In another order than on the list, where both words are as well. */
const planted = 'Prunescu Oktavian';
const reference = 'PLANT-7731';
const namesake = 'Quillon Zetabarre';

const folders: string[] = [];
afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-erasure-'));
  folders.push(folder);
  return folder;
}

const signal = new AbortController().signal;

/** All rows of all tables as text. */
async function dumpTables(database: Database): Promise<string> {
  const tables = await readColumn(
    database,
    z.string(),
    `select relname from pg_class where relkind = 'r' and relnamespace = to_regnamespace(current_schema()) order by 1`,
  );
  const dumps: string[] = [];
  for (const table of tables) {
    dumps.push(...(await readColumn(database, z.string(), `select '${table} ' || one::text from "${table}" one`)));
  }
  return dumps.join('\n');
}

async function readAllFiles(folder: string): Promise<readonly { path: string; text: string }[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return Promise.all(
    files.map(async (path) => {
      const bytes = await readFile(path);
      return { path, text: (path.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString('utf8') };
    }),
  );
}

const sealedLine = z.looseObject({ sealed: z.string() });
const keyRow = z.object({ kind: z.string(), id: z.number(), key: z.instanceof(Buffer) });

/** All sealed texts of all packs that any remaining key opens. */
async function openAll(database: Database, dir: string): Promise<string> {
  const keys = await database.query(keyRow, 'select kind, id, key from evidence_key');
  const opened: string[] = [];
  for (const { path, text } of await readAllFiles(dir)) {
    if (!path.endsWith('.jsonl.gz')) continue;
    for (const line of text.split('\n').filter((one) => one.includes('"sealed"'))) {
      const parsed = sealedLine.parse(JSON.parse(line));
      const run = path.split('/').at(-3);
      const abouts = Object.entries(parsed).flatMap(([kind, value]) => {
        const number = [value].flat().join('/');
        const name = kind === 'discrepancyEvent' ? 'discrepancy' : kind;
        return [`${name}/${number}`, `${name}/${run}/${number}`];
      });
      for (const { key } of keys) for (const about of abouts) opened.push(tryOpen(key, about, parsed.sealed));
    }
  }
  return opened.join('\n');
}

function tryOpen(key: Buffer, about: string, sealed: string): string {
  try {
    return openSealed(key, about, sealed);
  } catch {
    return '';
  }
}

const mentions = (text: string, names: readonly string[]): readonly string[] =>
  text.split('\n').filter((line) => names.some((name) => line.toLowerCase().includes(name.toLowerCase())));

async function erase(app: AppContext, customer: string, isPreview = false) {
  const { by } = await makeAcceptance(app);
  const found = await findCustomer(app, app.database, customer, null);
  return eraseCustomers(app, [found], { reason: 'request 12', reviewer: by, isPreview }, signal);
}

/** The runs of evidence. A pack has the end of the last call, the database when its answer was stored. */
const toComparable = ({ runs }: CustomerEvidence) =>
  runs.map(({ parties, ...run }) => ({ ...run, parties: parties.map((party) => ({ ...party, answeredAt: null })) }));

/** Who was in scope at a moment; the age of answers is known as long as they are in the database. */
async function readMembers(app: AppContext, at: Date) {
  const { batches } = await listPopulation(app, { at }, signal);
  const members: unknown[] = [];
  for await (const batch of batches) members.push(...batch.map((member) => ({ ...member, asOf: null })));
  return members;
}

describeOnPostgres('the erasure of a customer', (open) => {
  const openSite = openSmallSites(open);

  async function begin() {
    const site = await openSite();
    const [dir, reports] = [await makeFolder(), await makeFolder()];
    const roster: RosterSettings = { ...site.roster, columns: { endDate: 'last_day' } };
    const settings = {
      controls,
      rosters: [roster],
      reports: { dir: reports },
      evidence: evidenceSettingsSchema.parse({ dir }),
    };
    site.sandbox.setWorld({
      watchlist,
      dossiers: [buildSandboxDossier(1, { reference, name: planted })],
    });
    const play = async (days: number, rows: readonly string[]): Promise<AppContext> => {
      await writeFile(fileOf(roster), `customer_id,type,name,last_day\n${rows.join('\n')}\n`);
      const app = await site.work({ settings, offsetMs: days * dayMs });
      await runSweep(app, { writeReport: false }, signal);
      await site.run(app, { roster });
      await runReports(app, {});
      return app;
    };
    return { site, dir, reports, play };
  }

  const others = ['C-1,person,Tamsin Oyelaran,', `C-2,person,${namesake},`, `C-3,person,${namesake},`];

  /** A night with an alert, its decision, a rejected row, and a night after the customer has left. */
  async function playLeaving({
    site,
    play,
  }: {
    site: SmallSite;
    play: (days: number, rows: readonly string[]) => Promise<AppContext>;
  }) {
    await play(-5, [`${reference},person,${planted},`, ...others]);
    const app = await play(-4, [`${reference},robot,${planted},`, ...others]);
    const alerts = await findAlerts(site.database, reference);
    expect(alerts).toHaveLength(1);
    await decide(site.database, alerts, { comment: `${planted} is somebody else`, now: app.clock.now() });
    const left = new Date(Date.now() - 3 * dayMs).toISOString().slice(0, 10);
    await play(-1, [`${reference},person,${planted},${left}`, ...others]);
    return site.database;
  }

  it('leaves the name in no table, no report, and no pack that a remaining key opens; packs stay whole', async () => {
    const world = await begin();
    const database = await playLeaving(world);
    const texts = [planted, reference];
    expect(mentions(await dumpTables(database), texts).length).toBeGreaterThan(5);
    expect(mentions(await openAll(database, world.dir), texts).length).toBeGreaterThan(2);
    world.site.sandbox.setWorld({ watchlist, dossiers: [] });
    const app = await world.play(0, others);
    const preview = await erase(app, reference, true);
    expect(preview).toMatchObject({ isApplied: false });
    expect(mentions(await dumpTables(database), texts).length).toBeGreaterThan(5);
    const erasure = await erase(app, reference);
    expect(erasure.removed).toEqual(preview.removed);
    expect(erasure.files).toEqual(preview.files);
    expect(mentions(await dumpTables(database), texts)).toEqual([]);
    expect(mentions(await openAll(database, world.dir), texts)).toEqual([]);
    for (const { path, text } of await readAllFiles(world.reports)) {
      expect({ path, lines: mentions(text, texts) }).toEqual({ path, lines: [] });
    }
    for (const { path, text } of await readAllFiles(world.dir)) {
      expect({ path, lines: mentions(text, texts) }).toEqual({ path, lines: [] });
    }
    await world.play(1, others);
    const verdict = await verifyEvidence(world.dir);
    expect(verdict.problems).toEqual([]);
    expect(verdict.erased).toHaveLength(1);
    const shown = await showEvidence(app, { reference });
    expect(shown).toMatchObject({ erasure: { reason: 'request 12' } });
    expect(mentions(JSON.stringify(shown), [planted])).toEqual([]);
    // Reports of the nights before are written again, without the customer.
    const [first] = await readColumn(
      database,
      z.string(),
      `select to_char(started_at, 'YYYY-MM-DD') || '-rescreen-' || run_id from run where kind = 'rescreen' order by run_id limit 1`,
    );
    await runReports(app, { runId: first });
    for (const { text } of await readAllFiles(world.reports)) expect(mentions(text, texts)).toEqual([]);
  });

  it('keeps the answer that a namesake shares until the last of them is erased', async () => {
    const { site, dir, play } = await begin();
    // Guards hold a roster that most customers leave at once.
    const many = Array.from({ length: 30 }, (_, at) => `D-${at},person,Somebody Else ${at},`);
    await play(-5, [...others, ...many]);
    const left = new Date(Date.now() - 3 * dayMs).toISOString().slice(0, 10);
    const leave = (...rows: readonly string[]) => rows.map((row) => `${row}${left}`);
    const app = await play(-1, [
      `C-1,person,Tamsin Oyelaran,`,
      ...many,
      ...leave(`C-2,person,${namesake},`, `C-3,person,${namesake},`),
    ]);
    const first = await erase(app, 'C-2');
    expect(first.sharedRequests).toBe(1);
    expect(mentions(await openAll(site.database, dir), [`"query":"${namesake}"`])).toHaveLength(1);
    const shown = await showEvidence(app, { reference: 'C-3' });
    expect(shown.verdict).toBe('screened');
    const last = await erase(app, 'C-3');
    expect(last.sharedRequests).toBe(0);
    expect(mentions(await dumpTables(site.database), [namesake])).toEqual([]);
    expect(mentions(await openAll(site.database, dir), [namesake])).toEqual([]);
    expect(await verifyEvidence(dir)).toMatchObject({ problems: [] });
  });

  it('is refused for a customer in the roster, with a waiting alert, under legal hold, or erased already', async () => {
    const { site, play } = await begin();
    await play(-5, [`${reference},person,${planted},`, ...others]);
    const left = new Date(Date.now() - 3 * dayMs).toISOString().slice(0, 10);
    const app = await play(-1, [
      `${reference},person,${planted},${left}`,
      'C-1,person,Tamsin Oyelaran,',
      `C-2,person,${namesake},${left}`,
    ]);
    await expect(erase(app, 'C-1')).rejects.toThrow('C-1 is still in the roster');
    await expect(erase(app, reference)).rejects.toThrow('has 1 alert');
    const { by } = await makeAcceptance(app);
    await holdCustomer(app, await findCustomer(app, app.database, 'C-2', null), { reviewer: by, reason: 'court 7' });
    await expect(erase(app, 'C-2')).rejects.toThrow('under legal hold');
    await releaseCustomer(app, await findCustomer(app, app.database, 'C-2', null), { reviewer: by, reason: 'closed' });
    await erase(app, 'C-2');
    await expect(erase(app, 'C-2')).rejects.toThrow('had a customer C-2');
    expect(await dumpTables(site.database)).toContain(planted);
  });

  it('retention erases who left long ago, and takes old nights out of the database once their packs verify', async () => {
    const { site, dir, play } = await begin();
    const year = 365;
    await play(-3 * year, [`${reference},person,Somebody Unlisted,`, ...others]);
    const dayLeft = new Date(Date.now() - (3 * year - 1) * dayMs).toISOString().slice(0, 10);
    await play(-2 * year, [`${reference},person,Somebody Unlisted,${dayLeft}`, ...others]);
    const now = await play(0, others);
    const [roster] = now.settings.rosters;
    if (roster === undefined) throw new Error('there is no roster');
    const settings = { ...now.settings, rosters: [{ ...roster, retention: 1 }] };
    const app = { ...now, settings, keepRunsMs: 400 * dayMs };
    const countPlanned = () => readColumn(site.database, z.number(), 'select count(*)::integer from planned');
    const [before] = await countPlanned();
    const at = new Date(Date.now() - 2 * year * dayMs + dayMs);
    const earlier = await showEvidence(app, { reference: 'C-1', at });
    expect(earlier.runs[0]?.parties).toMatchObject([{ outcome: 'screened', answer: { total: 0 } }]);
    const people = await readMembers(app, at);
    expect(people).toMatchObject([{ reference: 'C-1', state: 'clear', outcome: 'screened' }, {}, {}]);
    const preview = await applyRetention(app, true, signal);
    expect(preview.rosters).toMatchObject([{ due: 1, withheld: [], held: [], erased: [{ isApplied: false }] }]);
    expect(preview.nights.runs).toHaveLength(2);
    expect(await countPlanned()).toEqual([before]);
    const manifest = join(dir, '2', '1', 'manifest.json');
    const text = await readFile(manifest, 'utf8');
    await writeFile(manifest, text.replace('"pack": 1', '"pack": 2'));
    const { rosters, nights } = await applyRetention(app, false, signal);
    expect(rosters).toMatchObject([{ due: 1, withheld: [], erased: [{ isApplied: true, references: [reference] }] }]);
    expect(nights.kept[0]?.because).toContain('evidence verify');
    await writeFile(manifest, text);
    const again = await applyRetention(app, false, signal);
    expect(again.rosters).toMatchObject([{ due: 0 }]);
    expect([...nights.runs, ...again.nights.runs].toSorted()).toEqual(preview.nights.runs.toSorted());
    expect(again.nights).toMatchObject({ kept: [] });
    expect(await countPlanned()).not.toEqual([before]);
    // What left the database is read from its packs.
    const then = await showEvidence(app, { reference: 'C-1', at });
    expect({ ...then, runs: [] }).toEqual({ ...earlier, runs: [] });
    expect(toComparable(then)).toEqual(toComparable(earlier));
    expect(await readMembers(app, at)).toEqual(people);
    await expect(runReports(app, { runId: then.runs[0]?.runId ?? '' })).rejects.toThrow(
      'its packs of evidence hold them',
    );
    // Nothing of it is needed by later nights.
    const later = await play(1, others);
    const shown = await showEvidence(later, { reference: 'C-1' });
    expect(shown.verdict).toBe('screened');
    expect(shown.runs[0]?.parties[0]?.calls).toHaveLength(1);
    await applyRetention({ ...later, keepRunsMs: -dayMs }, false, signal);
    expect(await countPlanned()).toEqual([0]);
    expect(toComparable(await showEvidence(later, { reference: 'C-1' }))).toEqual(toComparable(shown));
    expect(await verifyEvidence(dir)).toMatchObject({ problems: [] });
  });

  it('after its nights have left the database, finds former names and answers, and leaves those of others alone', async () => {
    const { site, dir, play } = await begin();
    const many = Array.from({ length: 30 }, (_, at) => `D-${at},person,Somebody Else ${at},`);
    const keep = ['C-1,person,Tamsin Oyelaran,', 'E-1,person,Somebody Else Li,', ...many];
    await play(-6, ['C-9,person,Formerly Nameling,', ...keep]);
    await play(-5, ['C-9,person,Li,', ...keep]);
    const app = await play(-4, ['C-9,person,Li,', ...keep]);
    await applyRetention({ ...app, keepRunsMs: -3 * dayMs }, false, signal);
    expect(await readColumn(site.database, z.number(), 'select count(*)::integer from planned')).toEqual([0]);
    const left = new Date(Date.now() - 3 * dayMs).toISOString().slice(0, 10);
    const later = await play(-1, [`C-9,person,Li,${left}`, ...keep]);
    expect(mentions(await dumpTables(site.database), ['Formerly Nameling']).length).toBeGreaterThan(2);
    const opened = await openAll(site.database, dir);
    await erase(later, 'C-9');
    expect(mentions(await dumpTables(site.database), ['Formerly Nameling'])).toEqual([]);
    expect(mentions(await openAll(site.database, dir), ['Formerly Nameling', '"query":"Li"'])).toEqual([]);
    const others = ['Somebody Else Li', 'Tamsin Oyelaran', 'Somebody Else 7'];
    expect(mentions(await openAll(site.database, dir), others)).toEqual(mentions(opened, others));
    // The next snapshots are compared with the week before.
    const next = await play(0, keep);
    expect(await showEvidence(next, { reference: 'C-9' })).toMatchObject({ erasure: { reason: 'request 12' } });
    expect(await verifyEvidence(dir)).toMatchObject({ problems: [] });
  });
});
