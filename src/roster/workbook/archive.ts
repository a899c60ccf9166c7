import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { BlobReader, configure, type FileEntry, ZipReader } from '@zip.js/zip.js';
import { RosterError } from '../../errors.js';
import { splitElements, type XmlElement } from '../../xml.js';

configure({ useWebWorkers: false });

const mebibyte = 1024 * 1024;
const maxParts = 10_000;
/** The parts other than sheets and texts are held in memory as a whole. */
const maxPartBytes = 16 * mebibyte;
/** A part above `ratioBytes` may unpack to so many times its size. XML of sheets unpacks to about 10 times. */
const maxRatio = 200;
const ratioBytes = 4 * mebibyte;

/** The parts of a workbook by their path in the archive. */
export interface WorkbookParts {
  has(path: string): boolean;
  /** The whole text of a part of at most 16 MiB; empty for a missing one. */
  readText(path: string): Promise<string>;
  /** The elements of one name in a part, one after the other; throws when the part ends before its root does. */
  readElements(
    path: string,
    name: string,
    root: string,
    maxBytes?: number,
  ): AsyncGenerator<XmlElement, void, undefined>;
  /** Throws RosterError `roster_changed` when the file is not as it was at its opening. */
  checkUnchanged(): Promise<void>;
}

/** Reports that a workbook cannot be read. */
export const refuseWorkbook = (name: string, problem: string, cause?: unknown): RosterError =>
  new RosterError('workbook_unreadable', `${name} ${problem}. Save it again as .xlsx, or as CSV UTF-8.`, { cause });

/**
 * Opens a ZIP archive. Reading throws RosterError `workbook_unreadable` for a damaged or encrypted part, `workbook_too_large` for one that unpacks
 * to more than its limit, and `roster_changed` when the file was changed since.
 */
export async function openArchive(path: string, name: string): Promise<WorkbookParts> {
  const parts = new Map<string, FileEntry>();
  const before = await stat(path, { bigint: true });
  const reader = new ZipReader(new BlobReader(await openAsBlob(path)), { checkSignature: true });
  const entries = await reader.getEntries().catch((error: unknown) => {
    throw toPartError(error, name, 'the directory of its parts');
  });
  if (entries.length > maxParts) throw refuseWorkbook(name, `is no workbook: it has more than ${maxParts} parts`);
  for (const entry of entries) {
    if (entry.directory) continue;
    const part = toKey(entry.filename);
    if (parts.has(part)) throw refuseWorkbook(name, `holds the part ${part} twice`);
    parts.set(part, entry);
  }
  async function* readPieces(part: string, maxBytes: number): AsyncGenerator<string, void, undefined> {
    const entry = parts.get(toKey(part));
    if (entry === undefined) throw refuseWorkbook(name, `is incomplete: it lacks the part ${part}`);
    checkSize(entry, maxBytes, name);
    const decoder = new TextDecoder('utf-8', { fatal: true });
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
    const unpacked = entry.getData(writable);
    // The stream passes a failure to its reader too; without this handler it would also be an unhandled rejection.
    unpacked.catch((reason: unknown) => writable.abort(reason).catch(() => {}));
    let bytes = 0;
    try {
      for await (const chunk of readable) {
        bytes += chunk.length;
        if (bytes > entry.uncompressedSize) throw refuseWorkbook(name, `has a part ${part} of a false size`);
        yield decoder.decode(chunk, { stream: true });
      }
      await unpacked;
      yield decoder.decode();
    } catch (error) {
      throw toPartError(error, name, `its part ${part}`);
    }
  }
  return {
    has: (part) => parts.has(toKey(part)),
    checkUnchanged: async () => {
      const { size, mtimeNs, ino } = await stat(path, { bigint: true });
      if (size !== before.size || mtimeNs !== before.mtimeNs || ino !== before.ino) throw refuseChanged(name);
    },
    readText: async (part) => {
      let text = '';
      if (parts.has(toKey(part))) for await (const piece of readPieces(part, maxPartBytes)) text += piece;
      return text;
    },
    readElements: (part, element, root, maxBytes = Number.POSITIVE_INFINITY) =>
      splitElements(readPieces(part, maxBytes), { root, names: [element] }, (problem) =>
        refuseWorkbook(name, `has a part ${part} that ${problem}`),
      ),
  };
}

/** Programs write the names of parts in different case, and with a slash before them or a backslash within. */
const toKey = (path: string): string => path.replaceAll('\\', '/').replace(/^\//, '').toLowerCase();

function checkSize({ filename, compressedSize, uncompressedSize, encrypted }: FileEntry, most: number, name: string) {
  if (encrypted) throw refuseWorkbook(name, 'has a password: remove it');
  const isBomb = uncompressedSize > ratioBytes && uncompressedSize > compressedSize * maxRatio;
  if (!isBomb && uncompressedSize <= most) return;
  const what = isBomb ? `${maxRatio} times its size` : `${most / mebibyte} MiB`;
  throw new RosterError(
    'workbook_too_large',
    `${name}: the part ${filename} unpacks to more than ${what}. Save the sheet as CSV UTF-8.`,
  );
}

function toPartError(error: unknown, name: string, what: string): RosterError {
  if (error instanceof RosterError) return error;
  if (error instanceof Error && error.name === 'NotReadableError') return refuseChanged(name, error);
  return refuseWorkbook(name, `is damaged or incomplete: ${what} cannot be read`, error);
}

const refuseChanged = (name: string, cause?: unknown): RosterError =>
  new RosterError(
    'roster_changed',
    `${name} was changed while it was read. Start when the export is complete; export under another name and rename the file at the end.`,
    { cause },
  );
