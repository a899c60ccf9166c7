import { compareHeaders } from './compare-headers.js';
import { openCsvFile } from './csv-file.js';
import type { CsvSource } from './csv-source.js';

/**
 * Opens each of these files as far as its header, one after the other. Throws RosterError, as a reading of all of them would, for the first
 * that cannot be read, is not written as declared, or has not the columns of the first file in their order.
 */
export async function checkHeaders(
  paths: readonly string[],
  source: CsvSource,
  isMapped: (header: string) => boolean,
): Promise<void> {
  let first: { path: string; headers: readonly string[] } | undefined;
  for (const path of paths) {
    const tally = { lines: 0, headers: 0, blanks: 0, continuations: 0, records: 0 };
    const file = await openCsvFile({ path, name: path, file: path, tally, onBytes: () => undefined }, source, isMapped);
    await file.close();
    first ??= { path, headers: file.headers };
    compareHeaders(first.path, first.headers, path, file.headers, isMapped);
  }
}
