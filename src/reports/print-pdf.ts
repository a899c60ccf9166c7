import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ReportError } from '../errors.js';
import type { WrittenFile } from './write-report.js';

const timeLimitMs = 120_000;

/** Nothing of ours for the browser: it gets no network, no profile that outlives it, and none of our variables. */
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
 * Prints the `report.html` of a report's folder to `report.pdf` beside it, with the Chromium at this path; what stood there is replaced,
 * and nothing is left where it fails. Throws ReportError `pdf_not_printed`.
 */
export async function printPdf(chromium: string, directory: string): Promise<WrittenFile> {
  const folder = await mkdtemp(join(directory, '.printing-'));
  try {
    const part = join(folder, 'report.pdf');
    const page = pathToFileURL(join(directory, 'report.html')).href;
    await runBrowser(chromium, folder, [`--print-to-pdf=${part}`, page]);
    const bytes = await readFile(part);
    // A disk that is full cuts the file short, and not every version says so.
    if (!bytes.subarray(0, 5).equals(Buffer.from('%PDF-')) || !bytes.subarray(-16).includes('%%EOF')) {
      throw new Error('the browser wrote no whole PDF; is the disk full?');
    }
    await chmod(part, 0o600);
    await rename(part, join(directory, 'report.pdf'));
    return { name: 'report.pdf', bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ReportError('pdf_not_printed', `${directory}/report.html could not be printed to a PDF: ${reason}`, {
      cause: error,
    });
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function runBrowser(chromium: string, folder: string, words: readonly string[]): Promise<void> {
  // Its sandbox cannot be set up by root.
  const rootFlags = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const child = spawn(chromium, [...quietFlags, ...rootFlags, `--user-data-dir=${join(folder, 'profile')}`, ...words], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder },
    // A group of its own, so that all its processes can be ended.
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
