import type { PartyBinding } from './bind-columns.js';
import { Fault } from './fault.js';

/** The longest field of any column, in UTF-16 units. */
const maxFieldLength = 10_000;
/** The longest field that is kept without being read, in UTF-16 units. */
const maxAttributeLength = 1_000;

// Anything that could be at fault in any column. One look at the whole row is enough for nearly all rows.
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const conspicuous = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/;
const lineBreak = /[\n\r\u0085\u2028\u2029]/;
const control = /[\p{Cc}\u2028\u2029]/u;

/** Finds the first field that is too long or holds a character that no value may hold; what is in columns that nobody reads is harmless. */
export function findFieldFault(binding: PartyBinding, fields: readonly string[]): Fault | null {
  const row = fields.join(' ');
  if (row.length > maxFieldLength) {
    for (const [index, text] of fields.entries()) {
      if (text.length <= maxFieldLength) continue;
      return new Fault('field_too_long', { header: binding.headers[index] ?? '', index }, text);
    }
  }
  for (const column of binding.attributes) {
    const text = fields[column.index] ?? '';
    if (text.length > maxAttributeLength) return new Fault('field_too_long', column, text);
  }
  return conspicuous.test(row) ? findCharacterFault(binding, fields) : null;
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
