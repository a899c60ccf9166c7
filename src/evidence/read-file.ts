import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createGunzip } from 'node:zlib';
import { readErrorCode, readMessage } from '../errors.js';

const blockBytes = 262_144;
const longestLine = 67_108_864;
const largestSmallFile = 268_435_456;
const lineFeed = 0x0a;

/** What is wrong with a line. */
export class LineError extends Error {}

/** What a file of a pack holds by its content; digests in hex. */
export interface FoundFile {
  bytes: number;
  lines: number;
  sha256: string;
  /** Of the bytes on disk. */
  packedSha256: string;
  /** The first wrong line, counted from 1. */
  wrong: { line: number; what: string } | null;
  /** Why the content could not be read to its end; the figures are then those of what was read. */
  failure: string | null;
}

/** Reads a file with compressed lines block by block. `check` gets each line up to the first for which it throws LineError. */
export async function readLines(path: string, check: (line: string) => void): Promise<FoundFile> {
  const splitter = new LineSplitter(check);
  const packed = createHash('sha256');
  const plain = createHash('sha256');
  let bytes = 0;
  const failure = await readRegular(path, async (file, size) => {
    // Small packs are many: with full blocks, a chain of five small ones takes 25 ms instead of 10.
    const gunzip = createGunzip({ chunkSize: Math.min(blockBytes, 4_096 + 8 * size) });
    const source = file.createReadStream({ highWaterMark: Math.min(blockBytes, size + 1), autoClose: false });
    source.on('data', (block) => packed.update(block)).on('error', (error) => gunzip.destroy(error));
    try {
      for await (const block of source.pipe(gunzip)) {
        bytes += block.length;
        plain.update(block);
        splitter.add(block);
      }
    } finally {
      source.destroy();
    }
    splitter.end();
    // Node ignores what follows.
    if (gunzip.bytesWritten !== size) throw new Error('bytes follow the end of the compressed content');
  }).then(() => null, describeFailure);
  const { lines, wrong } = splitter;
  return { bytes, lines, sha256: plain.digest('hex'), packedSha256: packed.digest('hex'), wrong, failure };
}

function describeFailure(error: unknown): string {
  const code = readErrorCode(error);
  if (code === 'Z_BUF_ERROR') return 'the compressed content is cut';
  return code?.startsWith('Z_') ? `the compressed content is damaged (${readMessage(error)})` : readMessage(error);
}

/** Reads a file without compression whole. Throws for one of more than 256 MB, and for what is no regular file. */
export async function readWhole(path: string): Promise<Buffer> {
  let content = Buffer.alloc(0);
  await readRegular(path, async (file, size) => {
    if (size > largestSmallFile) throw new Error('the file is larger than 256 MB');
    content = await file.readFile();
  });
  return content;
}

/** Opens a file without waiting for a pipe and without following a symbolic link. */
async function readRegular(path: string, read: (file: FileHandle, size: number) => Promise<void>): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new Error('it is no regular file');
    await read(file, facts.size);
  } finally {
    await file.close();
  }
}

/** Cuts blocks into lines, counts them, and checks them up to the first wrong one. */
class LineSplitter {
  lines = 0;
  wrong: { line: number; what: string } | null = null;
  private readonly check: (line: string) => void;
  private rest: Buffer[] = [];
  private restBytes = 0;

  constructor(check: (line: string) => void) {
    this.check = check;
  }

  add(block: Buffer): void {
    const end = block.lastIndexOf(lineFeed);
    if (end < 0) {
      this.keep(block);
      return;
    }
    this.keep(block.subarray(0, end));
    const whole = this.rest.length === 1 ? (this.rest[0] ?? block) : Buffer.concat(this.rest);
    this.restBytes = 0;
    this.checkLines(whole);
    this.keep(block.subarray(end + 1));
  }

  /** Is called at the end of the file, where nothing may follow the last line feed. */
  end(): void {
    if (this.restBytes > 0) this.wrong ??= { line: this.lines + 1, what: 'the last line has no line feed' };
  }

  private keep(block: Buffer): void {
    if (this.restBytes === 0) this.rest = [block];
    else this.rest.push(block);
    this.restBytes += block.length;
    if (this.restBytes > longestLine) throw new Error(`line ${this.lines + 1} is longer than 64 MB`);
  }

  private checkLines(whole: Buffer): void {
    const lines = whole.toString('utf8').split('\n');
    const isText = isUtf8(whole);
    for (const [at, line] of lines.entries()) {
      if (this.wrong) break;
      this.wrong = this.findMistake(line, isText, this.lines + at + 1);
    }
    this.lines += lines.length;
  }

  private findMistake(text: string, isText: boolean, line: number): { line: number; what: string } | null {
    if (!isText && text.includes('\ufffd')) return { line, what: 'the line is no UTF-8' };
    try {
      this.check(text);
      return null;
    } catch (error) {
      if (error instanceof LineError) return { line, what: error.message };
      throw error;
    }
  }
}
