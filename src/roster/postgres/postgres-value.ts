import pg from 'pg';

/** One row of the query, every value as text. */
export type PostgresRow = (string | null)[];

const { TIMESTAMP, TIMESTAMPTZ } = pg.types.builtins;
/** `text[]` and `varchar[]`; the driver names no array types. */
const textArrays = [1009, 1015];

/** Tells whether a type is a list of texts. */
export const isTextArray = (typeId: number): boolean => textArrays.includes(typeId);

/** Gives the reader of a column's type: texts as Postgres writes them, a time stamp as its day, a list of texts joined by `;`. */
export function parsePostgresValue(typeId: number): (text: string) => string {
  if (typeId === TIMESTAMP || typeId === TIMESTAMPTZ) return (text) => text.slice(0, 10);
  if (isTextArray(typeId)) return (text) => joinArray(pg.types.getTypeParser(typeId)(text));
  return (text) => text;
}

function joinArray(value: unknown): string {
  return Array.isArray(value) ? value.filter((item) => item !== null).join(';') : '';
}
