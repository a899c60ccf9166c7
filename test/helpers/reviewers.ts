import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAlertCode } from '../../src/matches/alert-code.js';
import type { AppContext } from '../../src/runs/app-context.js';
import { decideAlerts } from '../../src/runs/review/decide.js';
import { importDecisions } from '../../src/runs/review/import-list.js';
import type { DecisionImport } from '../../src/runs/review/list-table.js';
import { findReviewer } from '../../src/runs/review/people.js';
import type { Database } from '../../src/store/database/database.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { readReviewOrganisation } from '../../src/store/organisations.js';
import type { DispositionVerdict } from '../../src/vocabulary.js';
import { createLogin } from './database-servers.js';
import { makeAcceptance } from './small-site.js';

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

/** Imports a working list with this content as a reviewer does. */
export async function importList(
  app: AppContext,
  content: string | Uint8Array,
  { name = 'list.csv', ...how }: Partial<DecisionImport> & { name?: string } = {},
) {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-list-')), name);
  await writeFile(path, content);
  const { by: reviewer } = await makeAcceptance(app);
  return importDecisions(app, { path, reviewer, apply: true, partial: false, ...how });
}

/** Decides about the alerts of these marks as one imported list does; `name` is typed where the database knows no logins. */
export async function decideByMarks(
  { database, settings, clock }: AppContext,
  marks: readonly string[],
  verdict: DispositionVerdict = 'false_positive',
  name = 'ada',
) {
  const { organisationId, reviewKey } = await readReviewOrganisation(database, settings.organisation);
  const reviewer = await findReviewer(database, database.dialect === 'embedded' ? name : undefined);
  const said = { verdict, reason: 'another', comment: null, origin: 'review', sheetId: null, expiresAt: null } as const;
  const decisions = marks.map((mark) => ({
    ...(parseAlertCode(mark, reviewKey) ?? { alertId: 0, seenVersion: '' }),
    ...said,
  }));
  const context = { organisationId, reviewKey, reviewer, now: clock.now(), review: settings.review };
  return database.transaction((transaction) => decideAlerts(transaction, context, decisions));
}
