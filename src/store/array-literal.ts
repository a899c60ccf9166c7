import { StoreError } from '../errors.js';

/** The text form of a one-dimensional Postgres array; `null` becomes NULL. */
export function toArrayLiteral(elements: readonly (string | null)[]): string {
  const quoted = elements.map((element) =>
    element === null ? 'NULL' : `"${element.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`,
  );
  return `{${quoted.join(',')}}`;
}

const elementPattern = /"((?:[^"\\]|\\.)*)"|([^",{}]+)/gsy;

/** The elements of a one-dimensional Postgres array in text form; throws StoreError for anything else. */
export function parseArrayLiteral(literal: string): (string | null)[] {
  if (literal === '{}') return [];
  if (!literal.startsWith('{') || !literal.endsWith('}')) throw notOneDimensional();
  const elements: (string | null)[] = [];
  const pattern = new RegExp(elementPattern);
  pattern.lastIndex = 1;
  while (pattern.lastIndex < literal.length) {
    const match = pattern.exec(literal);
    if (!match) throw notOneDimensional();
    const [, quoted, bare] = match;
    if (quoted !== undefined) elements.push(quoted.replace(/\\(.)/gs, '$1'));
    else elements.push(bare === undefined || bare === 'NULL' ? null : bare);
    const end = pattern.lastIndex === literal.length - 1;
    if (!end && literal[pattern.lastIndex] !== ',') throw notOneDimensional();
    pattern.lastIndex += 1;
  }
  return elements;
}

function notOneDimensional(): StoreError {
  return new StoreError('database_value', 'the database sent an array that is not one-dimensional');
}
