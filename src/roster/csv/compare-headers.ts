import { RosterError } from '../../errors.js';

const shownHeaders = 20;
const shownLength = 60;

/** Throws RosterError `headers_differ`, naming both files and what differs, unless both have the same columns in the same order. */
export function compareHeaders(
  firstPath: string,
  first: readonly string[],
  otherPath: string,
  other: readonly string[],
): void {
  if (first.length === other.length && first.every((header, index) => header === other[index])) return;
  const missing = first.filter((header) => !other.includes(header));
  const added = other.filter((header) => !first.includes(header));
  const differences = [
    missing.length > 0 ? `lacks ${quote(missing)}` : '',
    added.length > 0 ? `has ${quote(added)} besides` : '',
    missing.length + added.length === 0 ? tellOrder(first, other) : '',
  ].filter((difference) => difference !== '');
  throw new RosterError(
    'headers_differ',
    `The files of one roster must have the same columns in the same order: compared with ${firstPath}, ${otherPath} ${differences.join(' and ')}.`,
  );
}

function tellOrder(first: readonly string[], other: readonly string[]): string {
  const at = first.findIndex((header, index) => header !== other[index]);
  if (at < 0 || at >= other.length) return `has ${other.length} columns instead of ${first.length}`;
  return `has ${quote(other.slice(at, at + 1))} as column ${at + 1} instead of ${quote(first.slice(at, at + 1))}`;
}

function quote(headers: readonly string[]): string {
  const shown = headers.slice(0, shownHeaders).map((header) => JSON.stringify(header.slice(0, shownLength)));
  return shown.join(', ') + (headers.length > shown.length ? ' ...' : '');
}
