import { randomBytes } from 'node:crypto';
import type { Database } from '../../src/store/database/database.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';

/** What a reviewer has seen, as JSON in the form that the database demands. */
export const seenByHand = JSON.stringify({
  listed: { schema: 'Person', name: 'somebody', topics: ['sanction'], birthDates: ['1970'], countries: ['us'] },
  customer: { role: 'customer', type: 'person', name: 'somebody', birthDate: null, countries: [] },
});

/** Connections of ordinary logins of their own; `grants` gives SQL that grants a login its rights. */
export async function withLogins<T>(
  owner: Database,
  { url }: DatabaseLocation,
  names: readonly string[],
  grants: (login: string) => string,
  work: (...logins: Database[]) => Promise<T>,
): Promise<T> {
  const logins = names.map((name) => `${name}_${randomBytes(4).toString('hex')}`);
  await owner.runScript(logins.map((login) => `create role ${login} login; ${grants(login)};`).join(''));
  const opened: Database[] = [];
  try {
    for (const login of logins) {
      const own = new URL(String(url));
      own.username = login;
      opened.push(await openDatabase({ url: own.href }, login));
    }
    return await work(...opened);
  } finally {
    for (const database of opened) await database.close();
    await owner.runScript(logins.map((login) => `drop owned by ${login}; drop role ${login};`).join(''));
  }
}
