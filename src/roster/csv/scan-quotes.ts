/** Where a scan stands at the end of a physical line. */
export interface QuoteScan {
  /** `closed`: the record may end here; `open`: inside quotes, it goes on; `malformed`: no reading of the quotes is valid. */
  state: 'closed' | 'open' | 'malformed';
  /** Fields begun so far. */
  fieldCount: number;
  /** Index in the last line just behind the quote that is still open. */
  openedAt: number;
  /** Whether spaces stand between a quote and the delimiter beside it. */
  isPadded: boolean;
}

const quote = '"';

/**
 * Follows the quotes of one physical line, from the start of a record or from the middle of a quoted field.
 * A quote opens only at the start of a field (spaces before it allowed), is doubled within, and closes only at the end of the field.
 */
export function scanQuotes(text: string, delimiter: string, from: QuoteScan | null): QuoteScan {
  let fieldCount = from?.fieldCount ?? 1;
  let isOpen = from?.state === 'open';
  let isPadded = from?.isPadded ?? false;
  let openedAt = 0;
  for (let at = 0; ; ) {
    if (!isOpen) {
      const opening = skipSpaces(text, at);
      if (text[opening] !== quote) {
        const end = text.indexOf(delimiter, at);
        const stray = text.indexOf(quote, at);
        if (stray >= 0 && (end < 0 || stray < end)) return { state: 'malformed', fieldCount, openedAt, isPadded };
        if (end < 0) return { state: 'closed', fieldCount, openedAt, isPadded };
        fieldCount += 1;
        at = end + delimiter.length;
        continue;
      }
      if (opening > at) isPadded = true;
      isOpen = true;
      openedAt = opening + 1;
      at = openedAt;
    }
    const closing = findClosingQuote(text, at);
    if (closing < 0) return { state: 'open', fieldCount, openedAt, isPadded };
    isOpen = false;
    const behind = skipSpaces(text, closing + 1);
    if (behind > closing + 1) isPadded = true;
    if (behind >= text.length) return { state: 'closed', fieldCount, openedAt, isPadded };
    if (!text.startsWith(delimiter, behind)) return { state: 'malformed', fieldCount, openedAt, isPadded };
    fieldCount += 1;
    at = behind + delimiter.length;
  }
}

/** Gives a record whose quotes make sense without the spaces between quotes and delimiters. */
export function dropPadding(text: string, delimiter: string): string {
  const fields: string[] = [];
  for (let at = 0; ; ) {
    const opening = skipSpaces(text, at);
    if (text[opening] === quote) {
      const closing = findClosingQuote(text, opening + 1);
      fields.push(text.slice(opening, closing + 1));
      at = skipSpaces(text, closing + 1);
      if (at >= text.length) break;
    } else {
      const end = text.indexOf(delimiter, at);
      fields.push(end < 0 ? text.slice(at) : text.slice(at, end));
      if (end < 0) break;
      at = end;
    }
    at += delimiter.length;
  }
  return fields.join(delimiter);
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at += 1;
  return at;
}

/** Finds the quote that ends a quoted field, from within it; -1 where it goes on. */
export function findClosingQuote(text: string, from: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 2)) {
    if (text[at + 1] !== quote) return at;
  }
  return -1;
}
