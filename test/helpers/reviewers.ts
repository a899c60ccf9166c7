import type { Database } from '../../src/store/database/database.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { createLogin } from './database-servers.js';

/** What a reviewer has seen, as JSON in the form that the database demands. */
export const seenByHand = JSON.stringify({
  listed: { schema: 'Person', name: 'somebody', topics: ['sanction'], birthDates: ['1970'], countries: ['us'] },
  customer: { role: 'customer', type: 'person', name: 'somebody', birthDate: null, countries: [] },
});

/** Connections of ordinary logins of their own; `toGrants` gives SQL that grants a login its rights. */
export async function withLogins<T>(
  owner: Database,
  names: readonly string[],
  toGrants: (login: string) => string,
  work: (...logins: Database[]) => Promise<T>,
): Promise<T> {
  const opened: Database[] = [];
  try {
    for (const name of names) {
      const { login, url } = await createLogin(owner, name, toGrants);
      opened.push(await openDatabase({ url }, login));
    }
    return await work(...opened);
  } finally {
    for (const database of opened) await database.close();
  }
}
