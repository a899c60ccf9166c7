import type { PartyBinding } from './bind-columns.js';
import { Fault } from './fault.js';

/** The longest field of any column, in UTF-16 units. */
const maxFieldLength = 10_000;
/** The longest field that is kept without being read, in UTF-16 units. */
const maxAttributeLength = 1_000;

// Anything that could be at fault in any column.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const conspicuous = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/;
const lineBreak = /[\n\r\u0085\u2028\u2029]/;
const control = /[\p{Cc}\u2028\u2029]/u;

/** Between the fields of a row that are joined; no sound row has it within one of them. */
const separator = '\u001f';
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const conspicuousJoined = /[\u0000-\u001e\u007f-\u009f\u2028\u2029\ufffd]/;

/** What a look at all fields of a row together has shown. */
export interface FieldsSeen {
  /** The first field that is too long or holds a character that no value may hold; what is in columns that nobody reads is harmless. */
  fault: Fault | null;
  /** All fields with U+001F between them; null where one of them holds a control character. */
  joined: string | null;
}

/** Looks at all fields of a row at once, which is enough for nearly all rows. */
export function lookAtFields(binding: PartyBinding, fields: readonly string[]): FieldsSeen {
  const row = fields.join(separator);
  const isPlain = !conspicuousJoined.test(row) && countSeparators(row) === fields.length - 1;
  return { fault: findFieldFault(binding, fields, row.length, isPlain), joined: isPlain ? row : null };
}

function findFieldFault(
  binding: PartyBinding,
  fields: readonly string[],
  rowLength: number,
  isPlain: boolean,
): Fault | null {
  if (rowLength > maxFieldLength) {
    for (const [index, text] of fields.entries()) {
      if (text.length <= maxFieldLength) continue;
      return new Fault('field_too_long', { header: binding.headers[index] ?? '', index }, text);
    }
  }
  for (const column of binding.attributes) {
    const text = fields[column.index] ?? '';
    if (text.length > maxAttributeLength) return new Fault('field_too_long', column, text);
  }
  return isPlain ? null : findCharacterFault(binding, fields);
}

function countSeparators(row: string): number {
  let count = 0;
  for (let at = row.indexOf(separator); at >= 0; at = row.indexOf(separator, at + 1)) count += 1;
  return count;
}

/** Tells whether a text holds a control character, a line break or U+FFFD. */
export function isConspicuous(text: string): boolean {
  return conspicuous.test(text);
}

function findCharacterFault(binding: PartyBinding, fields: readonly string[]): Fault | null {
  for (const column of binding.words) {
    const text = (fields[column.index] ?? '').trim();
    if (control.test(text)) return new Fault('control_character', column, text);
    if (text.includes('\ufffd')) return new Fault('replacement_character', column, text);
  }
  for (const column of binding.names) {
    const text = (fields[column.index] ?? '').trim();
    if (lineBreak.test(text)) return new Fault('line_break_in_name', column, text);
    if (control.test(text)) return new Fault('control_character', column, text);
    if (text.includes('\ufffd')) return new Fault('replacement_character', column, text);
  }
  for (const column of binding.attributes) {
    const text = fields[column.index] ?? '';
    // No database keeps it.
    if (text.includes('\0')) return new Fault('control_character', column, text);
    if (text.includes('\ufffd')) return new Fault('replacement_character', column, text);
  }
  return null;
}
