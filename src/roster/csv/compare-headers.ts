import { RosterError } from '../../errors.js';

const mostShown = 20;
const shownLength = 60;

/**
 * Throws RosterError `headers_differ`, naming both files and what differs, unless both have the same columns in the same order. The first
 * line of a file without a header is a customer's: what it says is shown only of a first file in which `isMapped` knows a column, and of the
 * other file only where the first says the same.
 */
export function compareHeaders(
  firstPath: string,
  first: readonly string[],
  otherPath: string,
  other: readonly string[],
  isMapped: (header: string) => boolean,
): void {
  if (first.length === other.length && first.every((header, index) => header === other[index])) return;
  const name = first.some(isMapped) ? quote : tellPlace;
  const missing = first.flatMap((header, index) => (other.includes(header) ? [] : [name(header, index)]));
  const added = other.flatMap((header, index) => (first.includes(header) ? [] : [tellPlace(header, index)]));
  const differences = [
    missing.length > 0 ? `lacks ${list(missing)}` : '',
    added.length > 0 ? `says something else in ${list(added)}` : '',
    missing.length + added.length === 0 ? tellOrder(first, other, name) : '',
  ].filter((difference) => difference !== '');
  const doubt = missing.length === first.length ? '; nothing is the same in both, so perhaps one has no header' : '';
  throw new RosterError(
    'headers_differ',
    `The files of one roster must have the same columns in the same order: compared with ${firstPath}, ${otherPath} ${differences.join(' and ')}${doubt}. ` +
      '`nightscreen roster inspect FILE` shows what each says.',
  );
}

type Naming = (header: string, index: number) => string;

function tellOrder(first: readonly string[], other: readonly string[], name: Naming): string {
  const at = first.findIndex((header, index) => header !== other[index]);
  const found = other[at];
  if (found === undefined) return `has ${other.length} columns instead of ${first.length}`;
  return `has ${name(found, first.indexOf(found))} as column ${at + 1} instead of ${name(first[at] ?? '', at)}`;
}

const quote: Naming = (header) => JSON.stringify(header.slice(0, shownLength));

const tellPlace: Naming = (_, index) => `column ${index + 1}`;

const list = (named: readonly string[]): string =>
  named.slice(0, mostShown).join(', ') + (named.length > mostShown ? ' ...' : '');
