import { isUtf8 } from 'node:buffer';
import { open, stat } from 'node:fs/promises';
import { isRejectsHeader } from './rejects-columns.js';
import type { CsvSettings } from './settings.js';

/** Enough for the header; and for telling how a file is encoded that a spreadsheet has saved anew. */
const headerBytes = 64 * 1024;
const wholeBytes = 16 * 1024 * 1024;

/**
 * Gives the settings by which a `rejects.csv` is read in place of the roster that it came from: it has a header and commas,
 * or what a spreadsheet made of them, however the roster itself is written. Settings of any other file are given as they are.
 */
export async function settleRejects(csv: CsvSettings): Promise<CsvSettings> {
  const path = [csv.path].flat();
  if (path.length !== 1 || path[0] === undefined || path[0] === '-') return csv;
  const start = await readStart(path[0], headerBytes);
  if (
    start === null ||
    !isRejectsHeader(
      decode(start)
        .replace(/^"?sep=.*[\r\n]+/i, '')
        .split(/[\r\n]/, 1)[0]
        ?.split(/[,;\t|"]+/) ?? [],
    )
  )
    return csv;
  const isMarked = start[0] === 0xef || start[0] === 0xff || start[0] === 0xfe;
  const isPlain = isMarked || isUtf8((await readStart(path[0], wholeBytes)) ?? start);
  return { ...csv, delimiter: 'auto', header: true, encoding: isPlain ? 'auto' : csv.encoding };
}

/** Null for what is no file that can be read: opening it as a roster says so. */
async function readStart(path: string, length: number): Promise<Buffer | null> {
  // Opening a pipe would wait for its writer, and closing it would end the writer.
  const isFile = (await stat(path).catch(() => null))?.isFile() === true;
  const file = isFile ? await open(path).catch(() => null) : null;
  if (file === null) return null;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } catch {
    return null;
  } finally {
    await file.close();
  }
}

function decode(start: Buffer): string {
  if (start[0] === 0xff && start[1] === 0xfe) return start.toString('utf16le');
  return start.toString('utf8').replace(/^\ufeff/, '');
}
