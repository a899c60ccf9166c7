/** Gives the query of all rows of `table` or `schema.table`, its names quoted as they are spelt. */
export function toTableStatement(table: string): string {
  const names = table.split('.').map((name) => `"${name.replaceAll('"', '""')}"`);
  return `select * from ${names.join('.')}`;
}
