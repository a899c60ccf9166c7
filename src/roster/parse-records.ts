import { type Options, parse } from 'csv-parse/sync';
import { maxRecordLength } from './record-splitter.js';

/**
 * Reads whole records, one text each, into their fields; null for a record that csv-parse does not read as exactly one.
 * Where there is no quote, the delimiter alone decides.
 */
export function parseRecords(texts: readonly string[], delimiter: string): (readonly string[] | null)[] {
  const quoted = texts.filter(hasQuote);
  const parsed = parseQuoted(quoted, delimiter).values();
  return texts.map((text) => (hasQuote(text) ? (parsed.next().value ?? null) : text.split(delimiter)));
}

function hasQuote(text: string): boolean {
  return text.includes('"');
}

function parseQuoted(texts: readonly string[], delimiter: string): (readonly string[] | null)[] {
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
    trim: true,
    // In bytes; a UTF-16 unit is at most three bytes of UTF-8.
    max_record_size: 3 * maxRecordLength,
  };
  try {
    return parse(text, options);
  } catch {
    return null;
  }
}
