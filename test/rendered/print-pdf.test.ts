import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findChromium } from '../../src/cli/commands/report.js';
import { printPdf } from '../../src/reports/print-pdf.js';
import { toReport } from '../../src/reports/report.js';
import { writeReport } from '../../src/reports/write-report.js';
import { buildEventfulFacts } from '../helpers/eventful-run-facts.js';

function findBrowser(): string | null {
  try {
    return findChromium(process.env);
  } catch {
    return null;
  }
}

const chromium = findBrowser();

it.skipIf(chromium === null)('prints the page to a whole PDF (skipped where there is no Chromium)', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-pdf-'));
  try {
    const { directory, files } = await writeReport(toReport(buildEventfulFacts()), folder);
    const written = await printPdf(chromium ?? '', directory);
    const bytes = await readFile(join(directory, 'report.pdf'));
    expect(bytes).toHaveLength(written.bytes);
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-');
    expect((await readdir(directory)).toSorted()).toEqual([...files.map(({ name }) => name), 'report.pdf'].toSorted());
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
