import { formatTable } from './format-table.js';

function listFacts(value: unknown, name: string): [string, string][] {
  if (value === null || value === undefined) return [];
  if (value instanceof Date) return [[name, value.toISOString()]];
  if (Array.isArray(value)) {
    const isPlain = value.every((item) => typeof item !== 'object');
    return value.length === 0 ? [] : [[name, isPlain ? value.join('; ') : `${value.length} entries`]];
  }
  if (typeof value === 'object') {
    return Object.entries(value).flatMap(([key, inner]) => listFacts(inner, name === '' ? key : `${name}.${key}`));
  }
  return [[name, String(value)]];
}

/** Any record as aligned lines, nested names joined by points; lists of records are only counted. */
export const formatFacts = (record: object): string => formatTable(listFacts(record, ''));
