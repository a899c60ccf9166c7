import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { appendFile, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { open as openSealed } from '../../../../src/evidence/seal.js';
import type { AppContext } from '../../../../src/runs/app-context.js';
import { evidenceSettingsSchema } from '../../../../src/runs/app-context.js';
import { exportCustomer, exportRun } from '../../../../src/runs/evidence-export.js';
import { showEvidence } from '../../../../src/runs/evidence-show.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openSmallSites } from '../../../helpers/small-site.js';
import { controls, dayMs, fileOf, people, toCsv } from '../../../helpers/small-world.js';

async function* toPage(): AsyncGenerator<string> {
  yield '<!doctype html><title>certificate</title>';
}

async function exportOf(app: AppContext, reference: string, folder: string) {
  return exportCustomer(app, await showEvidence(app, { reference }), { folder, page: toPage(), by: 'T. Tester' });
}

const verify = (folder: string) => spawnSync('python3', [join(folder, 'verify-export.py')], { encoding: 'utf8' });

interface SealedLine {
  sealed?: string;
  record?: [number, number];
  answer?: number;
  change?: number;
}

/** The sealed lines of all packs of an export, each with what it is about. */
function listSealed(folder: string): { about: string; sealed: string }[] {
  const files = readdirSync(join(folder, 'packs'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => /(customers|answers|changes)\.jsonl\.gz$/.test(name))
    .flatMap((name) =>
      gunzipSync(readFileSync(join(folder, 'packs', name)))
        .toString()
        .trim()
        .split('\n'),
    )
    .flatMap((text) => {
      const { sealed, record, answer, change } = JSON.parse(text) as SealedLine;
      if (sealed === undefined) return [];
      const about = record
        ? `record/${record.join('/')}`
        : change === undefined
          ? `answer/${answer}`
          : `change/${change}`;
      return [{ about, sealed }];
    });
}

const readKeys = (folder: string): readonly Buffer[] =>
  readFileSync(join(folder, 'keys.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => Buffer.from((JSON.parse(line) as { key: string }).key, 'base64'));

/** The texts that these keys open. */
const openAll = (folder: string): { about: string; text: string }[] =>
  listSealed(folder).flatMap(({ about, sealed }) =>
    readKeys(folder).flatMap((key) => {
      try {
        return [{ about, text: openSealed(key, about, sealed) }];
      } catch {
        return [];
      }
    }),
  );

describeOnPostgres('an export of evidence', (open) => {
  const openSite = openSmallSites(open);

  /** A site after three nights with packs; the second one has a new name of C-3. */
  async function openNights() {
    const { roster, work, run } = await openSite();
    const dir = await mkdtemp(join(tmpdir(), 'nightscreen-evidence-'));
    const settings = { controls: [...controls], evidence: evidenceSettingsSchema.parse({ dir }) };
    await run(await work({ offsetMs: -3 * dayMs, settings }));
    await writeFile(fileOf(roster), toCsv(people.map((name, index) => (index === 2 ? 'Tamsin Newname' : name))));
    await run(await work({ offsetMs: -2 * dayMs, settings }));
    await run(await work({ offsetMs: -dayMs, settings }));
    const app = await work({ settings });
    const last = await run(app, { writeReport: true });
    const to = join(await mkdtemp(join(tmpdir(), 'nightscreen-export-')), 'handed-over');
    return { dir, app, last, to };
  }

  it('about a customer has its packs, the chain to the last pack, and keys of nobody else', async () => {
    const { dir, app, to } = await openNights();
    // The record is in the first pack, the answer too, and the newest run in the fourth.
    const exported = await exportOf(app, 'C-1', to);
    expect(exported).toMatchObject({ folder: to, packs: 2, chain: { from: 1, to: { sequence: 4 } }, missing: [] });
    expect(readdirSync(join(to, 'packs'))).toEqual(['1-1', '4-4']);
    expect(readdirSync(join(to, 'chain'))).toEqual(['1.json', '2.json', '3.json', '4.json']);
    for (const name of readdirSync(join(dir, '4', '1'))) {
      expect(readFileSync(join(to, 'packs', '4-4', '4', '1', name))).toEqual(readFileSync(join(dir, '4', '1', name)));
    }
    const checked = verify(to);
    expect(checked.stdout).toContain(`4:${exported.chain.to.sha256}`);
    expect(checked.status, checked.stdout).toBe(0);

    const texts = openAll(to);
    expect(texts.map(({ about }) => about.split('/')[0])).toEqual(expect.arrayContaining(['record', 'answer']));
    for (const { text } of texts) {
      expect(text.toLowerCase()).toContain('wilhelmina');
      for (const other of people.slice(1)) expect(text.toLowerCase()).not.toContain(other.toLowerCase());
    }
    expect(listSealed(to).length).toBeGreaterThan(texts.length);
    const readme = readFileSync(join(to, 'README.txt'), 'utf8');
    expect(readme).toContain(`4:${exported.chain.to.sha256}`);
    expect(readme).toContain('Anybody with this file can read these texts for ever');
    expect(readFileSync(join(to, 'certificate.html'), 'utf8')).toContain('certificate');
    expect(JSON.parse(readFileSync(join(to, 'evidence.json'), 'utf8'))).toMatchObject({ verdict: 'screened' });

    const [first] = texts;
    const line = listSealed(to).find(({ about }) => about === first?.about);
    const program = join(to, 'open-sealed.mjs');
    const outputs = readKeys(to).map((key) => {
      const words = [program, key.toString('base64'), line?.about ?? '', line?.sealed ?? ''];
      return spawnSync('node', words, { encoding: 'utf8' }).stdout;
    });
    expect(outputs).toContain(`${first?.text}\n`);
  });

  it('is refused for a folder that is there, and for packs that are damaged or missing; then nothing is left', async () => {
    const { dir, app, to } = await openNights();
    await exportOf(app, 'C-1', to);
    await expect(exportOf(app, 'C-1', to)).rejects.toThrow('it exists');
    const other = `${to}-other`;
    await appendFile(join(dir, '4', '1', 'customers.jsonl.gz'), 'x');
    await expect(exportOf(app, 'C-1', other)).rejects.toThrow(/nothing was exported: 4\/1\/customers.jsonl.gz: /);
    await writeFile(join(dir, '2', '1', 'manifest.json'), '{}');
    await expect(exportOf(app, 'C-1', other)).rejects.toThrow('does not follow the pack before it');
    expect(existsSync(other)).toBe(false);
    expect(readdirSync(join(to, '..'))).toEqual(['handed-over']);
    // What was handed over stays whole, until somebody changes it.
    expect(verify(to).status).toBe(0);
    const text = readFileSync(join(to, 'chain', '2.json'), 'utf8');
    await writeFile(join(to, 'chain', '2.json'), text.replace('"default"', '"another"'));
    expect(verify(to)).toMatchObject({ status: 1, stdout: expect.stringContaining('chain/3.json does not follow') });
  });

  it('of a run has its packs and its report, and no key', async () => {
    const { app, last, to } = await openNights();
    const exported = await exportRun(app, { run: last.runId, folder: to });
    expect(exported).toMatchObject({ packs: 1, missing: [] });
    expect(readdirSync(to).toSorted()).toEqual([
      'README.txt',
      'chain',
      'open-sealed.mjs',
      'packs',
      'report',
      'verify-evidence.py',
      'verify-export.py',
    ]);
    for (const name of readdirSync(join(to, 'report'))) {
      expect(readFileSync(join(to, 'report', name))).toEqual(readFileSync(join(last.artifacts ?? '', name)));
    }
    expect(readdirSync(join(to, 'report'))).toContain('report.xlsx');
    expect(verify(to).status).toBe(0);
    await appendFile(join(last.artifacts ?? '', 'changes.csv'), 'x');
    await expect(exportRun(app, { run: last.runId, folder: `${to}-2` })).rejects.toThrow(
      'changed after it was written',
    );
    await expect(exportRun(app, { run: '999', folder: `${to}-2` })).rejects.toThrow('there is no run 999');
    expect(existsSync(`${to}-2`)).toBe(false);
  });
});
