import { mkdtemp, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findChromium } from '../../../src/cli/commands/report.js';
import { printPdf } from '../../../src/reports/print-pdf.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-pdf-'));
});

/** A program that stands in for the browser: what it is given as `$pdf` it should write. */
async function writeBrowser(script: string, name = 'browser'): Promise<string> {
  const path = join(folder, name);
  const findPdf =
    'for word in "$@"; do case "$word" in --print-to-pdf=*) pdf=$(echo "$word" | cut -d= -f2) ;; esac; done';
  await writeFile(path, `#!/bin/sh\n${findPdf}\n${script}\n`, { mode: 0o755 });
  return path;
}

describe('printing the page', () => {
  it.each([
    ['fails', 'echo "cannot open display" >&2; exit 3', 'the browser ended with 3: cannot open display'],
    ['writes nothing', 'exit 0', 'ENOENT'],
    [
      'writes half a file',
      'printf "%%PDF-1.7 and so on" > "$pdf"',
      'an incomplete PDF; check whether the disk is full',
    ],
  ])('by a browser that %s leaves nothing and says so', async (_what, script, message) => {
    const browser = await writeBrowser(script);
    await expect(printPdf(browser, folder)).rejects.toThrow(message);
    await expect(printPdf(browser, folder)).rejects.toMatchObject({ name: 'ReportError', code: 'pdf_not_printed' });
    expect(await readdir(folder)).toEqual(['browser']);
  });

  it('gives a file for its owner only, replaces a link, and tells the browser no secret', async () => {
    process.env['NIGHTSCREEN_TEST_SECRET'] = 'private_test_secret';
    try {
      const browser = await writeBrowser('{ echo "%PDF-1.7"; env; echo "$@"; echo "%%EOF"; } > "$pdf"');
      await writeFile(join(folder, 'target'), 'untouched');
      await symlink(join(folder, 'target'), join(folder, 'report.pdf'));
      const written = await printPdf(browser, folder);
      const text = await readFile(join(folder, 'report.pdf'), 'utf8');
      expect(written).toMatchObject({ name: 'report.pdf', bytes: text.length });
      expect(text).toContain(`file://${folder}/report.html`);
      expect(text).not.toContain('secret');
      expect((await stat(join(folder, 'report.pdf'))).mode & 0o777).toBe(0o600);
      expect(await readFile(join(folder, 'target'), 'utf8')).toBe('untouched');
      expect((await readdir(folder)).toSorted()).toEqual(['browser', 'report.pdf', 'target']);
    } finally {
      delete process.env['NIGHTSCREEN_TEST_SECRET'];
    }
  });

  it('finds the browser on the path or where CHROMIUM_PATH says, and names what to install', async () => {
    const chromium = await writeBrowser('exit 0', 'chromium');
    expect(findChromium({ PATH: `/nowhere:${folder}` })).toBe(chromium);
    expect(findChromium({ PATH: '', CHROMIUM_PATH: chromium })).toBe(chromium);
    expect(() => findChromium({ PATH: folder, CHROMIUM_PATH: folder })).toThrow('does not name an executable program');
    expect(() => findChromium({ PATH: '/nowhere' })).toThrow('Chromium was not found: install it');
  });
});
