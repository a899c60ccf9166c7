import type { PartyBinding } from './column-binding.js';
import { maxAttributeLength } from './column-settings.js';
import type { RejectReason } from './customer.js';
import type { BoundColumn } from './headers.js';

/** What a field ends with that was cut. */
const cutMark = '…';

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
  /** The first mapped field that is too long or holds a character that no value may hold; what is in columns that nobody reads is harmless. */
  fault: Fault | null;
  /** Those of the row; of columns that are not mapped, as much as is kept. */
  fields: readonly string[];
  /** All fields with U+001F between them; null where one of them holds a control character. */
  joined: string | null;
}

/** Looks at all fields of a row at once, which is enough for nearly all rows. */
export function lookAtFields(binding: PartyBinding, given: readonly string[]): FieldsSeen {
  const whole = given.join(separator);
  const { fault, fields } =
    whole.length <= maxAttributeLength ? { fault: null, fields: given } : fitFields(binding, given);
  const row = fields === given ? whole : fields.join(separator);
  const isPlain = !conspicuousJoined.test(row) && countSeparators(row) === fields.length - 1;
  return {
    fault: fault ?? (isPlain ? null : findCharacterFault(binding, fields)),
    fields,
    joined: isPlain ? row : null,
  };
}

/** Cuts long fields of columns that are not mapped; of mapped ones the first that is too long is at fault. */
function fitFields(
  { headers, limits }: PartyBinding,
  given: readonly string[],
): { fault: Fault | null; fields: readonly string[] } {
  let fault: Fault | null = null;
  let fields: string[] | null = null;
  for (const [index, text] of given.entries()) {
    const limit = limits[index];
    if (limit === undefined || text.length <= limit.length) continue;
    if (limit.isCut) {
      fields ??= [...given];
      fields[index] = cut(text, limit.length);
    } else fault ??= new Fault('field_too_long', { header: headers[index] ?? '', index }, text);
  }
  return { fault, fields: fields ?? given };
}

/** A character of two units is left out rather than halved. */
function cut(text: string, length: number): string {
  const end = length - cutMark.length;
  const isHalved = (text.codePointAt(end - 1) ?? 0) > 0xffff;
  return text.slice(0, isHalved ? end - 1 : end) + cutMark;
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

/** Why a row is refused, the column at fault where one is, and what stands there. */
export class Fault {
  readonly reason: RejectReason;
  readonly column: BoundColumn | null;
  readonly text: string;

  constructor(reason: RejectReason, column: BoundColumn | null, text: string) {
    this.reason = reason;
    this.column = column;
    this.text = text;
  }
}
