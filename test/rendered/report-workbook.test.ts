import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BlobReader, TextWriter, ZipReader } from '@zip.js/zip.js';
import { describe, expect, it } from 'vitest';
import { toReport } from '../../src/reports/report.js';
import { renderReportWorkbook } from '../../src/reports/workbook-report.js';
import { openListTable } from '../../src/runs/review/list-table.js';
import { buildEventfulFacts } from '../helpers/eventful-run-facts.js';
import { collectBytes } from '../helpers/report-files.js';
import { buildParty, buildToReview, buildWaitingAlert } from '../helpers/run-facts.js';

const run = promisify(execFile);
const isInstalled = await run('soffice', ['--version']).then(
  () => true,
  () => false,
);
const title = isInstalled ? 'a report in LibreOffice' : 'a report in LibreOffice, which is not installed (soffice)';

const folder = await mkdtemp(join(tmpdir(), 'nightscreen-office-'));
const name = '=HYPERLINK("http://evil.example")';
const alerts = [buildWaitingAlert({ party: buildParty({ reference: 'C-1', name }) })];
await writeFile(
  join(folder, 'report.xlsx'),
  await collectBytes(renderReportWorkbook(toReport(buildEventfulFacts(), buildToReview(alerts)))),
);

/** As LibreOffice writes it again; it keeps what it has understood. */
async function convert(filter: string, ending: string): Promise<Buffer> {
  const profile = `-env:UserInstallation=file://${join(folder, 'profile')}`;
  const out = join(folder, 'out');
  await run('soffice', [profile, '--headless', '--convert-to', filter, '--outdir', out, join(folder, 'report.xlsx')]);
  return readFile(join(out, `report.${ending}`));
}

async function readParts(bytes: Uint8Array): Promise<ReadonlyMap<string, string>> {
  const parts = new Map<string, string>();
  for (const entry of await new ZipReader(new BlobReader(new Blob([Buffer.from(bytes)]))).getEntries()) {
    if (!entry.directory) parts.set(entry.filename, await entry.getData(new TextWriter()));
  }
  return parts;
}

describe.skipIf(!isInstalled)(title, () => {
  it('is a workbook of which it understands dropdowns, locks and filters, and which is still read back', async () => {
    const saved = await convert('xlsx', 'xlsx');
    const sheet = (await readParts(saved)).get('xl/worksheets/sheet2.xml') ?? '';
    expect(sheet).toMatch(
      /<dataValidation [^>]*sqref="A3"[^>]*><formula1>&quot;true match,false positive,inconclusive,no longer matched&quot;</,
    );
    expect(sheet).toMatch(/<dataValidation [^>]*sqref="B3"/);
    expect(sheet).toMatch(/<sheetProtection [^>]*sheet="true"[^>]* sort="false" autoFilter="false"/);
    // What is sorted on a protected sheet must be a range that may be edited.
    expect(sheet).toMatch(/<protectedRange [^>]*sqref="A3:AX3"/);
    expect(sheet).toMatch(/<autoFilter ref="A2:AX3"/);
    expect(sheet).not.toMatch(/<f[ >]/);
    const path = join(folder, 'saved.xlsx');
    await writeFile(path, saved);
    const required = ['alert', 'disposition', 'reason', 'name'];
    const table = await openListTable(path, { names: required, required, origin: 'a report', isTrace: () => false });
    const rows: (readonly string[])[] = [];
    for await (const { pick } of table.rows) rows.push([pick('alert'), pick('name')]);
    expect(rows).toEqual([[alerts[0]?.mark, name]]);
  }, 120_000);

  it('prints every sheet', async () => {
    const pdf = await convert('pdf', 'pdf');
    expect(pdf.subarray(0, 5).toString()).toBe('%PDF-');
    expect(pdf.toString('latin1').match(/\/Type\s*\/Page\b/g)?.length).toBeGreaterThan(6);
  }, 120_000);
});
