import { type Options, parse } from 'csv-parse/sync';

/** The most UTF-16 units of one record. */
export const maxRecordLength = 1024 * 1024;

/** Reads whole records with quotes, one text each, into their fields; null for a record that csv-parse does not read as exactly one. */
export function parseRecords(texts: readonly string[], delimiter: string): (readonly string[] | null)[] {
  if (texts.length === 0) return [];
  const together = tryParse(texts.join('\n'), delimiter);
  if (together?.length === texts.length) return together;
  return texts.map((text) => {
    const alone = tryParse(text, delimiter);
    return alone?.length === 1 ? (alone[0] ?? null) : null;
  });
}

function tryParse(text: string, delimiter: string): string[][] | null {
  const options: Options = {
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    // In bytes; a UTF-16 unit is at most three bytes of UTF-8.
    max_record_size: 3 * maxRecordLength,
  };
  try {
    return parse(text, options);
  } catch {
    return null;
  }
}
