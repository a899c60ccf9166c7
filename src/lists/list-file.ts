import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { TextDecoder } from 'node:util';
import { ConfigError } from '../errors.js';
import { findOddFile } from '../files.js';

/** A file as text, piece by piece, and its digest once it has been read to its end. */
export interface ListText {
  path: string;
  pieces: AsyncIterable<string>;
  /** SHA-256 (hex) of the bytes; throws while the file has not been read to its end. */
  sha256: () => string;
}

const encodings: readonly (readonly [bytes: readonly number[], encoding: string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
];
const strangers: readonly (readonly [bytes: readonly number[], what: string])[] = [
  [[0x50, 0x4b, 0x03, 0x04], 'a ZIP archive or a spreadsheet: unpack it, or save the sheet as CSV'],
  [[0x1f, 0x8b], 'compressed with gzip: unpack it'],
  [[0x25, 0x50, 0x44, 0x46], 'a PDF: take the list in one of its other forms'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'a spreadsheet of the old kind: save it as CSV'],
];

/**
 * Reads a list file as text: by its byte order mark, else by the encoding that its XML declaration names, else as UTF-8. The pieces throw
 * ConfigError when it cannot be read, is no text, or is not in its encoding.
 */
export function openListFile(path: string): ListText {
  const hash = createHash('sha256');
  let digest: string | null = null;
  return {
    path,
    pieces: decode(path, hash, () => {
      digest = hash.digest('hex');
    }),
    sha256: () => {
      if (digest === null) throw new Error(`${path} has not been read to its end`);
      return digest;
    },
  };
}

async function* decode(path: string, hash: ReturnType<typeof createHash>, onEnd: () => void): AsyncGenerator<string> {
  let decoder: TextDecoder | undefined;
  let line = 1;
  const toText = (bytes: Buffer | undefined): string => {
    try {
      const text = decoder?.decode(bytes, { stream: bytes !== undefined }) ?? '';
      line += text.split('\n').length - 1;
      return text;
    } catch (error) {
      const message = `is not in ${decoder?.encoding.toUpperCase() ?? 'UTF-8'} at or after this line: save the file as UTF-8`;
      throw toListError(path, line, message, error);
    }
  };
  for await (const chunk of readBytes(path)) {
    hash.update(chunk);
    decoder ??= chooseDecoder(path, chunk);
    yield toText(chunk);
  }
  if (decoder === undefined) throw toListError(path, null, 'is empty: take the list from its publisher again');
  yield toText(undefined);
  onEnd();
}

async function* readBytes(path: string): AsyncGenerator<Buffer> {
  const odd = findOddFile(path);
  if (odd !== null) throw toListError(path, null, `${odd}: save the list in a file and name that`);
  try {
    for await (const chunk of createReadStream(path)) {
      const bytes: unknown = chunk;
      if (Buffer.isBuffer(bytes)) yield bytes;
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
    if (code === 'ENOENT') throw toListError(path, null, 'there is no such file', error);
    if (code === 'EISDIR') throw toListError(path, null, 'is a folder: name the file of the list in it', error);
    if (code === undefined) throw error;
    throw toListError(path, null, `cannot be read (${code})`, error);
  }
}

const beginsWith = (chunk: Buffer, bytes: readonly number[]): boolean => bytes.every((byte, at) => chunk[at] === byte);

function chooseDecoder(path: string, start: Buffer): TextDecoder {
  const stranger = strangers.find(([bytes]) => beginsWith(start, bytes));
  if (stranger) throw toListError(path, null, `is ${stranger[1]}`);
  const declared = /^<\?xml[^>]*\bencoding=["']([\w.-]+)["']/.exec(start.subarray(0, 200).toString('latin1'))?.[1];
  const encoding = encodings.find(([bytes]) => beginsWith(start, bytes))?.[1] ?? declared ?? 'utf-8';
  try {
    return new TextDecoder(encoding, { fatal: true });
  } catch (error) {
    throw toListError(path, 1, `names the encoding ${encoding}, which is not known: save the file as UTF-8`, error);
  }
}

/** What is wrong with a list, where it stands, and what to do about it; nothing has been spent by then. */
export function toListError(path: string, line: number | null, message: string, cause?: unknown): ConfigError {
  const where = line === null ? path : `${path}:${line}`;
  return new ConfigError([{ where, path: '', message }], cause === undefined ? {} : { cause });
}
