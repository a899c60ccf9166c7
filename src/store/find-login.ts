import { z } from 'zod';
import type { Database } from './database.js';
import { firstRow } from './first-row.js';

/** Who the database says is at work; null on the embedded one, which knows one login only. */
export async function findLogin(database: Database): Promise<string | null> {
  if (database.dialect === 'embedded') return null;
  const rows = await database.query(z.object({ login: z.string() }), 'select session_user::text as login');
  return firstRow(rows, 'session_user').login;
}
