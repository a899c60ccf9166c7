import type { Migration } from '../migration-files.js';

const statement =
  /^\s*(?:create\s+table\s+(?:if\s+not\s+exists\s+)?(?<made>\w+)|drop\s+table\s+(?:if\s+exists\s+)?(?<dropped>[\w\s,]+);)/gim;

/**
 * The tables that these migrations have made, in the order in which they were made. Tables that are not logged are left out: what is in
 * them is on its way only, and is gone after a crash as well.
 */
export function listTables(migrations: readonly Pick<Migration, 'sql'>[]): readonly string[] {
  const tables = new Set<string>();
  for (const { sql } of migrations) {
    for (const { groups } of sql.matchAll(statement)) {
      if (groups?.['made'] !== undefined) tables.add(groups['made']);
      for (const name of (groups?.['dropped'] ?? '').split(',')) tables.delete(name.trim());
    }
  }
  return [...tables];
}
