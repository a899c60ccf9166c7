import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ReportError, readMessage } from '../errors.js';
import { makePassingFolder } from '../files.js';
import type { WrittenFile } from './write-report.js';

const timeLimitMs = 120_000;

/** The browser gets no network, a temporary profile, and none of our environment variables. */
const quietFlags = [
  '--headless',
  '--disable-gpu',
  '--no-first-run',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-dev-shm-usage',
  '--proxy-server=http://127.0.0.1:9',
  '--no-pdf-header-footer',
];

/**
 * Prints the `report.html` of a folder to `report.pdf` in the same folder, with the Chromium at this path. An existing file is replaced. Throws
 * ReportError `pdf_not_printed` and then leaves no partial file.
 */
export async function printPdf(chromium: string, directory: string): Promise<WrittenFile> {
  const folder = await makePassingFolder(directory, 'printing');
  try {
    const part = join(folder, 'report.pdf');
    const page = pathToFileURL(join(directory, 'report.html')).href;
    await runBrowser(chromium, folder, [`--print-to-pdf=${part}`, page]);
    const bytes = await readFile(part);
    // A full disk truncates the file, and some versions report no error.
    if (!bytes.subarray(0, 5).equals(Buffer.from('%PDF-')) || !bytes.subarray(-16).includes('%%EOF')) {
      throw new Error('the browser wrote an incomplete PDF; check whether the disk is full');
    }
    await chmod(part, 0o600);
    await rename(part, join(directory, 'report.pdf'));
    return { name: 'report.pdf', bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  } catch (error) {
    const message = `${directory}/report.html could not be printed to a PDF: ${readMessage(error)}`;
    throw new ReportError('pdf_not_printed', message, { cause: error });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runBrowser(chromium: string, folder: string, words: readonly string[]): Promise<void> {
  // Root cannot set up the browser's sandbox.
  const rootFlags = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const child = spawn(chromium, [...quietFlags, ...rootFlags, `--user-data-dir=${join(folder, 'profile')}`, ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder },
    // Its own process group, so that all its processes can be ended.
    detached: true,
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said = (said + chunk).slice(-500);
  });
  const end = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    end();
  }, timeLimitMs);
  try {
    const [code] = await once(child, 'close');
    if (isLate) throw new Error(`it took longer than ${timeLimitMs / 1_000} s`);
    if (code !== 0) throw new Error(`the browser ended with ${code}: ${said.trim().split('\n').at(-1)}`);
  } finally {
    clearTimeout(timer);
  }
}
