import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { BlobReader, configure, ZipReader, ZipWriter } from '@zip.js/zip.js';
import { MailError, readMessage } from '../errors.js';
import { writeWhole } from '../files.js';
import { readWrittenFile, type WrittenFile, type WrittenReport } from '../reports/write-report.js';

interface Archive extends WrittenFile {
  path: string;
}

/** AES-256 in the ZIP format. */
const strength = 3;

configure({ useWebWorkers: false });

/**
 * Packs a written report into a ZIP encrypted with AES-256; the same report and password give the same file. An existing file is never
 * overwritten, because a mail may refer to it: another password makes another file. `at` is the time of its entries. Throws MailError
 * `archive_not_written`, which never shows the password.
 */
export async function writeArchive(written: WrittenReport, password: string, at: Date): Promise<Archive> {
  const contents = createHash('sha256').update(written.files.map(({ sha256 }) => sha256).join(' '));
  const stem = `${written.directory}.${contents.digest('hex').slice(0, 12)}`;
  try {
    const path = (await findExisting(stem, password)) ?? (await pack(written, stem, password, at));
    return { name: 'report.zip', path, ...(await measure(path)) };
  } catch (error) {
    const message = `the encrypted archive could not be written: ${readMessage(error)}`;
    throw new MailError('archive_not_written', message, { cause: error });
  }
}

async function findExisting(stem: string, password: string): Promise<string | null> {
  const folder = dirname(stem);
  const names = await readdir(folder);
  for (const name of names.filter((name) => name.startsWith(`${basename(stem)}.`) && name.endsWith('.zip')).sort()) {
    const path = join(folder, name);
    if (await opensWith(path, password)) return path;
  }
  return null;
}

async function opensWith(path: string, password: string): Promise<boolean> {
  const isFile = await lstat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  if (!isFile) return false;
  const reader = new ZipReader(new BlobReader(await openAsBlob(path)));
  try {
    const [first] = await reader.getEntries();
    if (first === undefined || first.directory) return false;
    await first.getData(new WritableStream(), { password, checkPasswordOnly: true });
    return true;
  } catch {
    return false;
  } finally {
    await reader.close();
  }
}

/** Its name contains a digest of its bytes, which differ each time: two processes that write at once make two files. */
function pack({ directory, files }: WrittenReport, stem: string, password: string, at: Date): Promise<string> {
  return writeWhole(stem, async (file) => {
    const hash = createHash('sha256');
    const write = async (block: Uint8Array): Promise<void> => {
      hash.update(block);
      await file.writeFile(block);
    };
    const target = new WritableStream<Uint8Array>({ write });
    const zip = new ZipWriter(target, { password, encryptionStrength: strength, lastModDate: at });
    for (const each of files) await zip.add(each.name, ReadableStream.from(readWrittenFile(directory, each)));
    await zip.close();
    return `${stem}.${hash.digest('hex').slice(0, 12)}.zip`;
  });
}

async function measure(path: string): Promise<Pick<WrittenFile, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path)) {
    hash.update(chunk);
    bytes += chunk.length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** A written report with everything that its mail may need; without `folder` it is on the server. */
export interface ReportToMail extends WrittenReport {
  /** The folder of the copy that readers can open. */
  folder?: string;
  /** Problems of its preparation, as sentences for its readers. */
  notes?: readonly string[];
  masked?: WrittenReport;
  archive?: Archive;
}
