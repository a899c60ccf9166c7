import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { toReport } from '../../../src/reports/report.js';
import { manifestJsonSchema, writeReport } from '../../../src/reports/write-report.js';
import { bundleProgram } from '../../helpers/cli-process.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';
import { buildRunFacts } from '../../helpers/run-facts.js';

const names = [
  'report.html',
  'report.xlsx',
  'changes.csv',
  'not-screened.csv',
  'rejects.csv',
  'report.json',
  'SHA256SUMS',
  'manifest.json',
];
const report = toReport(buildEventfulFacts());
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-report-'));
});

const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

describe('writing a report', () => {
  it('gives the same bytes twice, in any time zone', async () => {
    const first = await writeReport(report, join(folder, 'a'));
    const zone = process.env['TZ'];
    process.env['TZ'] = 'Pacific/Kiritimati';
    try {
      const second = await writeReport(toReport(buildEventfulFacts()), join(folder, 'b'));
      expect(second.files).toEqual(first.files);
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
    expect((await writeReport(report, join(folder, 'a'))).files).toEqual(first.files);
  });

  it('the manifest and SHA256SUMS tell the truth about every file', async () => {
    const written = await writeReport(report, folder);
    expect(written.directory).toBe(join(folder, report.run.runId));
    expect(written.files.map((file) => file.name)).toEqual(names);
    for (const file of written.files) {
      const bytes = await readFile(join(written.directory, file.name));
      expect(file).toEqual({ name: file.name, bytes: bytes.length, sha256: digest(bytes) });
    }
    const manifest = manifestJsonSchema.parse(
      JSON.parse(await readFile(join(written.directory, 'manifest.json'), 'utf8')),
    );
    expect(manifest.files).toEqual(written.files.slice(0, -1));
    const sums = await readFile(join(written.directory, 'SHA256SUMS'), 'utf8');
    expect(sums).toBe(
      written.files
        .slice(0, 6)
        .map((file) => `${file.sha256}  ${file.name}\n`)
        .join(''),
    );
  });

  it('lets only the owner read', async () => {
    const old = process.umask(0);
    try {
      const { directory } = await writeReport(report, join(folder, 'deep', 'down'));
      expect((await stat(directory)).mode & 0o777).toBe(0o700);
      for (const name of await readdir(directory)) expect((await stat(join(directory, name))).mode & 0o777).toBe(0o600);
      expect((await readdir(directory)).toSorted()).toEqual(names.toSorted());
    } finally {
      process.umask(old);
    }
  });

  it('that fails half way leaves nothing under a final name', async () => {
    const directory = join(folder, report.run.runId);
    await mkdir(join(directory, 'rejects.csv', 'in-the-way'), { recursive: true });
    await expect(writeReport(report, folder)).rejects.toMatchObject({
      name: 'ReportError',
      code: 'report_not_written',
    });
    expect(await readdir(directory)).toEqual(['rejects.csv']);
  });

  it('to a full disk leaves nothing under a final name and says what to do', async () => {
    const program = await bundleProgram(new URL('./write-report-program.ts', import.meta.url));
    try {
      // What a file may hold, in blocks of 512 bytes: not even the first, all but the CSV, everything.
      for (const [blocks, isWhole] of [
        [4, false],
        [800, false],
        [80_000, true],
      ] as const) {
        const place = join(folder, String(blocks));
        const words = ['-c', `ulimit -f ${blocks}; exec "$0" "$@"`, process.execPath, program.path, place, '3000'];
        const { status, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
        expect(status).toBe(isWhole ? 0 : 1);
        if (!isWhole) expect(stderr).toContain('Free disk space, or choose another folder with --out');
        expect((await readdir(join(place, 'run-20261121-0200-7f3a'))).toSorted()).toEqual(
          isWhole ? names.toSorted() : [],
        );
      }
    } finally {
      await program.remove();
    }
  });

  it('to a place that is a file, too long or a link is refused', async () => {
    await writeFile(join(folder, 'file'), '');
    await symlink(tmpdir(), join(folder, report.run.runId));
    for (const place of [join(folder, 'file'), join(folder, 'x'.repeat(300)), folder]) {
      await expect(writeReport(report, place)).rejects.toMatchObject({ code: 'report_not_written' });
    }
    expect((await readdir(folder)).toSorted()).toEqual(['file', report.run.runId].toSorted());
  });

  it('replaces a link that lies under a final name and leaves its target alone', async () => {
    const target = join(folder, 'target');
    await writeFile(target, 'untouched');
    await mkdir(join(folder, report.run.runId));
    await symlink(target, join(folder, report.run.runId, 'report.html'));
    await writeReport(report, folder);
    expect(await readFile(target, 'utf8')).toBe('untouched');
  });

  it('never leaves the folder of reports, whatever the run is called', async () => {
    for (const runId of ['../escape', '..', '', 'a/b', '.hidden']) {
      await expect(writeReport(toReport(buildRunFacts({ runId })), folder)).rejects.toMatchObject({
        code: 'report_not_written',
      });
    }
    expect(await readdir(folder)).toEqual([]);
  });
});
