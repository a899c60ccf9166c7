/** Where a scan stands at the end of a physical line. */
export interface QuoteScan {
  /** `closed`: the record may end here; `open`: inside quotes, it goes on; `malformed`: no reading of the quotes is valid. */
  state: 'closed' | 'open' | 'malformed';
  /** Fields begun so far. */
  fieldCount: number;
  /** Index in the last line just behind the quote that is still open. */
  openedAt: number;
}

const quote = '"';

/**
 * Follows the quotes of one physical line, from the start of a record or from the middle of a quoted field.
 * A quote opens only at the start of a field (spaces before it allowed), is doubled within, and closes only at the end of the field.
 */
export function scanQuotes(text: string, delimiter: string, from: QuoteScan | null): QuoteScan {
  let fieldCount = from?.fieldCount ?? 1;
  let isOpen = from?.state === 'open';
  let openedAt = 0;
  for (let at = 0; ; ) {
    if (!isOpen) {
      const opening = skipSpaces(text, at);
      const end = text.indexOf(delimiter, at);
      if (text[opening] !== quote || (end >= 0 && end < opening)) {
        const field = end < 0 ? text.slice(at) : text.slice(at, end);
        if (field.includes(quote)) return { state: 'malformed', fieldCount, openedAt };
        if (end < 0) return { state: 'closed', fieldCount, openedAt };
        fieldCount += 1;
        at = end + 1;
        continue;
      }
      isOpen = true;
      openedAt = opening + 1;
      at = openedAt;
    }
    const closing = findClosingQuote(text, at);
    if (closing < 0) return { state: 'open', fieldCount, openedAt };
    isOpen = false;
    const behind = skipSpaces(text, closing + 1);
    if (behind >= text.length) return { state: 'closed', fieldCount, openedAt };
    if (text[behind] !== delimiter) return { state: 'malformed', fieldCount, openedAt };
    fieldCount += 1;
    at = behind + 1;
  }
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at += 1;
  return at;
}

function findClosingQuote(text: string, from: number): number {
  for (let at = text.indexOf(quote, from); at >= 0; at = text.indexOf(quote, at + 2)) {
    if (text[at + 1] !== quote) return at;
  }
  return -1;
}
