import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { verifyEvidence } from '../../../../src/evidence/verify.js';
import { type AppContext, evidenceSettingsSchema } from '../../../../src/runs/app-context.js';
import { exportKeys, wrapAllKeys } from '../../../../src/runs/evidence-keys.js';
import { writeMissingPacks } from '../../../../src/runs/packs.js';
import { acceptRun } from '../../../../src/runs/screening/accept-run.js';
import { runReports } from '../../../../src/runs/write-reports.js';
import { type Database, readColumn } from '../../../../src/store/database/database.js';
import { describeOnEachDatabase } from '../../../helpers/databases.js';
import { digestAll, openEvidenceFolders } from '../../../helpers/evidence-folders.js';
import { exposed, names, sanctioned, worldOf } from '../../../helpers/held-world.js';
import { makeAcceptance, openSmallSites } from '../../../helpers/small-site.js';
import { dayMs, people, watchlist } from '../../../helpers/small-world.js';

describeOnEachDatabase('the packs of a run', (open) => {
  const openSite = openSmallSites(open);
  const makeSettings = openEvidenceFolders();

  it('each night writes one that refers to those before, and a lost one is made again byte for byte', async () => {
    const site = await openSite();
    const { dir, settings } = await makeSettings();
    for (const days of [3, 2, 1, 0]) {
      if (days === 1) site.sandbox.setWorld({ watchlist: watchlist.slice(1), dossiers: [] });
      await site.run(await site.work({ settings, offsetMs: -days * dayMs }));
    }
    const verdict = await verifyEvidence(dir);
    expect(verdict).toMatchObject({ packs: 4, since: 1, head: { sequence: 4 }, problems: [] });
    const before = await digestAll(dir);
    await rm(join(dir, '2'), { recursive: true });
    await rm(join(dir, '4'), { recursive: true });
    const app = await site.work({ settings });
    const made = [join(dir, '2', '1'), join(dir, '4', '1')];
    expect(await writeMissingPacks(app)).toEqual({ made, lost: [] });
    expect(await digestAll(dir)).toEqual(before);
  });

  it('what a written pack holds is never changed in the database, and a key is only deleted', async () => {
    const site = await openSite();
    const { settings } = await makeSettings();
    await site.run(await site.work({ settings }));
    for (const rewriting of [
      `update evidence_pack set run_json = '{}'`,
      'update evidence_pack set written_at = null, manifest_sha256 = null',
      'delete from evidence_pack',
      'truncate evidence_pack',
      'update packed set pack_id = 7',
      'delete from packed',
      'truncate packed',
      `update evidence_key set key = '\\x00'`,
      'truncate evidence_key',
    ]) {
      await expect(site.database.execute(rewriting), rewriting).rejects.toThrow('are never changed or removed');
    }
    expect(await site.database.execute(`delete from evidence_key where kind = 'customer'`)).toBeGreaterThan(0);
  });

  it('a run whose pack cannot be written stands; the next one writes both', async () => {
    const site = await openSite();
    const { dir, settings } = await makeSettings();
    const blocked = join(dir, 'blocked');
    await writeFile(blocked, 'a file where the folder belongs');
    const evidence = evidenceSettingsSchema.parse({ dir: blocked });
    const app = await site.work({ settings: { ...settings, evidence }, offsetMs: -dayMs });
    expect(await site.run(app)).toMatchObject({ state: 'complete' });
    expect(app.events).toContainEqual(expect.objectContaining({ kind: 'warning', code: 'evidence_not_written' }));
    await rm(blocked);
    await site.run(await site.work({ settings: { ...settings, evidence } }));
    expect(await verifyEvidence(blocked)).toMatchObject({ packs: 2, problems: [] });
  });

  it('a run that stopped, was resumed, held and then accepted has a pack of each, and all are made again', async () => {
    const site = await openSite(names);
    site.sandbox.setWorld(worldOf([...sanctioned, ...exposed]));
    const { dir, settings } = await makeSettings();
    await site.run(await site.work({ settings, offsetMs: -dayMs }));
    site.sandbox.setWorld(worldOf(sanctioned));
    const app = await site.work({ settings });
    expect(await site.run(app, { maxSearches: 10 })).toMatchObject({ state: 'stopped' });
    const held = await site.run(await site.work({ settings }));
    expect(held).toMatchObject({ state: 'incomplete', counts: { screened: 10, failed: 20 } });
    await acceptRun(app, held.runId, await makeAcceptance(app), new AbortController().signal);
    const endings = await readColumn(site.database, z.string(), 'select ending from evidence_pack order by sequence');
    expect(endings).toEqual(['ended', 'stopped', 'ended', 'accepted']);
    expect(await verifyEvidence(dir)).toMatchObject({ packs: 4, problems: [] });
    const before = await digestAll(dir);
    await rm(dir, { recursive: true });
    expect((await writeMissingPacks(app)).made).toHaveLength(4);
    expect(await digestAll(dir)).toEqual(before);
  });

  it('a folder that lacks the packs before gets none, and the right one gets all', async () => {
    const site = await openSite();
    const { dir, settings } = await makeSettings();
    const other = await makeSettings();
    await site.run(await site.work({ settings, offsetMs: -2 * dayMs }));
    const strayed = await site.work({ settings: other.settings, offsetMs: -dayMs });
    expect(await site.run(strayed)).toMatchObject({ state: 'complete' });
    const message = expect.stringContaining('lacks the packs before number 2');
    expect(strayed.events).toContainEqual(expect.objectContaining({ code: 'evidence_not_written', message }));
    expect(await readdir(other.dir)).toEqual([]);
    await site.run(await site.work({ settings }));
    expect(await verifyEvidence(dir)).toMatchObject({ packs: 3, problems: [] });
  });

  it('a database that was begun anew continues the chain of the folder', async () => {
    const { dir, settings } = await makeSettings();
    const before = await openSite();
    await before.run(await before.work({ settings, offsetMs: -2 * dayMs }));
    await before.run(await before.work({ settings, offsetMs: -dayMs }));
    const site = await openSite();
    const app = await site.work({ settings });
    await site.run(app);
    expect(app.events).toContainEqual(expect.objectContaining({ kind: 'warning', code: 'evidence_continued' }));
    const next = await site.run(await site.work({ settings, offsetMs: dayMs }));
    expect(next.runId).toMatch(/-3$/);
    expect(await verifyEvidence(dir)).toMatchObject({ packs: 4, head: { sequence: 4 }, problems: [] });
    expect((await readdir(join(dir, '1'))).toSorted()).toEqual(['1', '2']);
  });

  it('a pack is signed with the key of the settings, and has no readable name of a customer, and no digest of an answer', async () => {
    const site = await openSite();
    const { dir, settings } = await makeSettings();
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const { dir: other } = await makeSettings();
    const signingKeyFile = join(other, 'evidence.pem');
    await writeFile(signingKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const evidence = evidenceSettingsSchema.parse({ dir, signingKeyFile });
    await site.run(await site.work({ settings: { ...settings, evidence } }));
    const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(await verifyEvidence(dir, { publicKey: pem })).toMatchObject({ signed: { packs: 1 }, problems: [] });
    const files = (await readdir(join(dir, '1', '1'))).filter((name) => name.endsWith('.gz'));
    // Whoever has its key could try a dictionary of names.
    const digests = await readColumn(site.database, z.string(), `select encode(digest, 'hex') from response`);
    expect(digests.length).toBeGreaterThan(0);
    for (const name of files) {
      const content = gunzipSync(await readFile(join(dir, '1', '1', name))).toString();
      for (const text of [...people, ...digests]) expect(content).not.toContain(text);
    }
  });

  it('off writes none, and the report says so', async () => {
    const site = await openSite();
    const { settings } = await makeSettings();
    const app = await site.work({ settings: { ...settings, evidence: evidenceSettingsSchema.parse('off') } });
    await site.run(app, { writeReport: true });
    expect(await readColumn(site.database, z.number(), 'select count(*)::integer from evidence_pack')).toEqual([0]);
    const [report] = await runReports(app, {});
    expect(await readFile(join(report?.directory ?? '', 'report.html'), 'utf8')).toContain('evidence: off');
  });

  it('keys are wrapped with EVIDENCE_KEY: without it no pack is written, a new one wraps all again, and the export has no bare key', async () => {
    const site = await openSite();
    const { dir, settings } = await makeSettings();
    const [first, second] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')];
    const withKey = (app: AppContext, key: string | undefined) => ({
      ...app,
      secret: (name: string) => (name === 'EVIDENCE_KEY' ? key : app.secret(name)),
    });
    await site.run(await site.work({ settings, offsetMs: -3 * dayMs }));
    const bare = await readKeys(site.database);
    expect(bare.every((key) => key.length === 64)).toBe(true);
    const app = await site.work({ settings, offsetMs: -2 * dayMs });
    const file = join(dir, '..', 'keys.jsonl');
    await expect(exportKeys(withKey(app, undefined), file, 'ada')).rejects.toThrow('EVIDENCE_KEY');
    await expect(exportKeys(withKey(app, first), file, 'ada')).rejects.toThrow('evidence keys wrap');
    await wrapAllKeys(withKey(app, first));
    await site.run(withKey(app, first));
    const wrapped = await readKeys(site.database);
    expect(wrapped.every((key) => key.length === 120)).toBe(true);
    // A night without changes has nothing to seal.
    site.sandbox.setWorld({ watchlist: watchlist.slice(1), dossiers: [] });
    const blind = await site.work({ settings, offsetMs: -dayMs });
    await site.run(withKey(blind, second));
    expect(blind.events).toContainEqual(expect.objectContaining({ code: 'evidence_not_written' }));
    await wrapAllKeys(withKey(app, `${second},${first}`));
    await expect(wrapAllKeys(withKey(app, first))).rejects.toThrow('EVIDENCE_KEY does not open it');
    await site.run(withKey(await site.work({ settings }), second));
    expect(await verifyEvidence(dir)).toMatchObject({ packs: 4, problems: [] });
    await rm(join(dir, '1'), { recursive: true });
    expect(await writeMissingPacks(withKey(app, second))).toMatchObject({ made: [join(dir, '1', '1')], lost: [] });
    await exportKeys(withKey(app, second), file, 'ada');
    const exported = await readFile(file, 'utf8');
    expect(exported.split('\n')).toHaveLength((await readKeys(site.database)).length + 1);
    for (const key of bare) expect(exported).not.toContain(Buffer.from(key, 'hex').toString('base64'));
  });
});

const readKeys = (database: Database) =>
  readColumn(database, z.string(), `select encode(key, 'hex') from evidence_key`);
