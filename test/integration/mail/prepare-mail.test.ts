import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BlobReader, Uint8ArrayWriter, ZipReader } from '@zip.js/zip.js';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ReportToMail, writeArchive } from '../../../src/mail/archive.js';
import { renderMessage } from '../../../src/mail/delivery.js';
import { buildReportMessage } from '../../../src/mail/report-message.js';
import { mailSettingsSchema, type Recipient } from '../../../src/mail/settings.js';
import { toReport } from '../../../src/reports/report.js';
import type { ReportSettings } from '../../../src/reports/settings.js';
import { type WrittenReport, writeReport } from '../../../src/reports/write-report.js';
import type { RunEvent } from '../../../src/runs/app-context.js';
import { prepareReportMail } from '../../../src/runs/write-reports.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';
import { buildRunFacts } from '../../helpers/run-facts.js';

const password = 'korrekt-pferd-batterie';
const settings = mailSettingsSchema.parse({ from: 'night@bank.example', to: ['mlro@bank.example'] });
const report = toReport(buildEventfulFacts());
const address = 'mlro@bank.example';

let folder = '';
let share = '';
let reported: RunEvent[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-letters-'));
  share = join(folder, 'share');
  await mkdir(share);
  reported = [];
});

const dir = (): string => join(folder, 'reports');
async function prepare(
  attach: Recipient['attach'],
  changes: Partial<ReportSettings> = {},
  secret?: string,
): Promise<ReportToMail> {
  const app = {
    settings: { reports: { dir: dir(), ...changes } },
    secret: () => secret,
    emit: (event: RunEvent) => void reported.push(event),
  };
  const written = await writeReport(report, dir());
  return prepareReportMail(app, report, written, [{ address, shows: 'report', attach }]);
}
const build = (written: ReportToMail, attach: Recipient['attach']) =>
  buildReportMessage(report, written, { address, shows: 'report', attach }, settings);
const digest = async (path: string): Promise<string> =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;

describe('a published report', () => {
  it('is the same files in a folder of the same name, as readable as the share is and never writable for others', async () => {
    await chmod(share, 0o777);
    const { files, folder: published } = await prepare('none', { publishTo: share });
    const copy = join(share, report.run.runId);
    expect(published).toBe(copy);
    expect((await readdir(copy)).toSorted()).toEqual(files.map(({ name }) => name).toSorted());
    for (const { name, sha256 } of files) expect(await digest(join(copy, name))).toBe(sha256);
    expect([await modeOf(copy), await modeOf(join(copy, 'report.html'))]).toEqual([0o755, 0o644]);
    await chmod(share, 0o700);
    await prepare('none', { publishTo: share });
    expect(await modeOf(copy)).toBe(0o700);
  });

  it('is replaced whole by its next revision, and copied once only', async () => {
    await prepare('none', { publishTo: share });
    const copy = join(share, report.run.runId);
    const { mtimeMs } = await stat(join(copy, 'report.html'));
    await prepare('none', { publishTo: share });
    expect((await stat(join(copy, 'report.html'))).mtimeMs).toBe(mtimeMs);
    await rm(dir(), { recursive: true });
    const other = toReport({ ...buildRunFacts(), runId: report.run.runId });
    const written = await writeReport(other, dir());
    const app = {
      settings: { reports: { dir: dir(), publishTo: share } },
      secret: () => undefined,
      emit: () => {},
    };
    await prepareReportMail(app, other, written, []);
    for (const { name, sha256 } of written.files) expect(await digest(join(copy, name))).toBe(sha256);
  });

  it.each([
    ['is not there, as when nothing is mounted', () => join(folder, 'nowhere')],
    ['holds a link in its place', () => share],
  ])(
    'that goes to a folder which %s is told in the mail and as a warning, and hides no report',
    async (_, toFolder) => {
      const elsewhere = join(folder, 'elsewhere');
      await mkdir(elsewhere);
      await symlink(elsewhere, join(share, report.run.runId));
      const written = await prepare('none', { publishTo: toFolder() });
      expect(reported).toMatchObject([{ kind: 'warning', code: 'report_not_published' }]);
      expect(await readdir(elsewhere)).toEqual([]);
      expect(await readdir(written.directory)).toContain('manifest.json');
      const { text } = build(written, 'none');
      expect(text).toContain('The report could not be copied to the folder for readers');
      expect(text).toContain(`Report:       on the server, in the folder ${report.run.runId}`);
      expect(text).not.toContain(folder);
    },
  );

  it('is not made of files that are no longer those that were written', async () => {
    const written: WrittenReport = await writeReport(report, dir());
    await writeFile(join(written.directory, 'changes.csv'), 'forged');
    const app = {
      settings: { reports: { dir: dir(), publishTo: share } },
      secret: () => undefined,
      emit: (event: RunEvent) => void reported.push(event),
    };
    await prepareReportMail(app, report, written, []);
    expect(reported).toMatchObject([
      { code: 'report_not_published', message: expect.stringContaining('changes.csv was changed') },
    ]);
    expect(await readdir(join(share, report.run.runId))).toEqual([]);
  });
});

describe('an encrypted archive', () => {
  it('holds all files of the report under AES-256, opens with the password, and with no other', async () => {
    const { archive, files } = await prepare('archive', {}, password);
    if (archive === undefined) throw new Error('there is no archive');
    expect(await modeOf(archive.path)).toBe(0o600);
    const bytes = await readFile(archive.path);
    const entries = await new ZipReader(new BlobReader(new Blob([bytes]))).getEntries();
    expect(entries.map(({ filename }) => filename)).toEqual(files.map(({ name }) => name));
    for (const entry of entries) {
      if (entry.directory) throw new Error('there is a folder in the archive');
      expect(entry).toMatchObject({ encrypted: true, zipCrypto: false, extraFieldAES: { strength: 3 } });
      const content = await entry.getData(new Uint8ArrayWriter(), { password });
      const hash = createHash('sha256').update(content).digest('hex');
      expect(hash).toBe(files.find(({ name }) => name === entry.filename)?.sha256);
    }
    const [first] = entries;
    if (first === undefined || first.directory) throw new Error('the archive is empty');
    await expect(first.getData(new Uint8ArrayWriter(), { password: `${password}!` })).rejects.toThrow(/password/i);
    await expect(first.getData(new Uint8ArrayWriter())).rejects.toThrow(/encrypted/i);
    expect(bytes.includes('Amina')).toBe(false);
  });

  it('is made once, so that a mail that is sent again has the same bytes', async () => {
    const first = await prepare('archive', {}, password);
    const again = await prepare('archive', {}, password);
    expect(again.archive).toEqual(first.archive);
    expect((await readdir(dir())).filter((name) => name.endsWith('.zip'))).toHaveLength(1);
  });

  it('that was mailed stays as it is when the password changes: the new one opens another beside it', async () => {
    const first = await prepare('archive', {}, password);
    const mailed = build(first, 'archive');
    const before = await renderMessage(mailed);
    const other = await prepare('archive', {}, 'another-password');
    expect(other.archive?.path).not.toBe(first.archive?.path);
    expect(await digest(first.archive?.path ?? '')).toBe(first.archive?.sha256);
    expect(await digest(other.archive?.path ?? '')).toBe(other.archive?.sha256);
    expect((await renderMessage(mailed)).equals(before)).toBe(true);
    expect((await prepare('archive', {}, password)).archive).toEqual(first.archive);
    expect((await prepare('archive', {}, 'another-password')).archive).toEqual(other.archive);
  });

  it('that two make at once is what each of them tells', async () => {
    const written = await writeReport(report, dir());
    const made = await Promise.all([1, 2].map(() => writeArchive(written, password, report.run.finishedAt)));
    for (const { path, sha256 } of made) expect(await digest(path)).toBe(sha256);
  });

  it('goes by mail without its password, which stands in no message, warning or name', async () => {
    const written = await prepare('archive', {}, password);
    const message = build(written, 'archive');
    expect(message.attachments.map(({ name }) => name)).toEqual([`${report.run.runId}-report.zip`]);
    const raw = await renderMessage(message);
    for (const text of [raw.toString(), JSON.stringify([message, written, reported, await readdir(dir())])]) {
      expect(text).not.toContain(password);
    }
    expect(message.text).toContain('attachments are encrypted');
  });

  it('that cannot be made is told in the mail and as a warning, and the mail goes without', async () => {
    const written = await prepare('archive');
    expect(reported).toMatchObject([{ code: 'archive_not_written', message: expect.stringContaining('is not set') }]);
    const message = build(written, 'archive');
    expect(message.attachments).toEqual([]);
    expect(message.text).toContain('The encrypted archive could not be written');
  });
});

it('a masked report lies in a folder of its own with a manifest that says so, and its page is what is attached', async () => {
  const written = await prepare('masked');
  const manifest = JSON.parse(await readFile(join(dir(), `${report.run.runId}-masked`, 'manifest.json'), 'utf8'));
  expect(manifest).toMatchObject({ runId: report.run.runId, masked: true });
  const { attachments, text } = build(written, 'masked');
  expect(attachments).toMatchObject([{ name: `${report.run.runId}-report-masked.html` }]);
  const page = await readFile(attachments[0]?.path ?? '', 'utf8');
  expect(page).toContain('MASKED');
  expect(`${page}${text}`).not.toMatch(/Haddad|Kuznetsov|王秀英/i);
  await prepare('masked');
  expect(await readdir(join(dir(), `${report.run.runId}-masked`))).not.toContainEqual(expect.stringMatching(/^former/));
});

it('what is too large for mail stays behind, told by size and digest, with where the report is', () => {
  const page = { name: 'report.html', bytes: 8_000_000, sha256: 'aa' };
  const { attachments, text } = build({ directory: join(dir(), report.run.runId), files: [page] }, 'full');
  expect(attachments).toEqual([]);
  expect(text).toContain('because it is too large for mail (8.0 MB)');
  expect(text).toContain('SHA-256:      aa');
  expect(text).toContain(`Report:       on the server, in the folder ${report.run.runId}`);
  expect(text).toContain('contains no personal data');
});
