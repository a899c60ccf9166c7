import { ConfigError } from '../../errors.js';
import type { Queryable } from '../../store/database/database.js';
import { isKnownCustomer, readRostersOf, wasEverNamed } from '../../store/organisations.js';
import { isKnownReviewer } from '../../store/review/waiting.js';

/** Throws ConfigError for a roster that was never imported, naming those that were; null is any. */
export async function requireRoster(database: Queryable, organisationId: number, roster: string | null): Promise<void> {
  if (roster === null) return;
  const names = await readRostersOf(database, organisationId);
  if (names.includes(roster)) return;
  throw refuse('flag --roster', `no roster ${roster} was ever imported; there are: ${names.join(', ')}`);
}

/** Throws ConfigError for a customer who is in no roster; null is any. */
export async function requireCustomer(
  database: Queryable,
  organisationId: number,
  { reference, where }: { reference: string | null; where: string },
): Promise<void> {
  if (reference === null || (await isKnownCustomer(database, organisationId, reference))) return;
  throw refuse(where, `is ${reference}, and no roster has such a customer`);
}

/** Throws ConfigError for a name that nothing was ever assigned to, that stands in for nobody and is no reviewer; null is anybody. */
export async function requirePerson(
  database: Queryable,
  organisationId: number,
  { name, flag }: { name: string | null; flag: string },
): Promise<void> {
  if (name === null || (await wasEverNamed(database, organisationId, name))) return;
  if ((await isKnownReviewer(database, name)) === true) return;
  throw refuse(`flag ${flag}`, `is ${name}, to whom nothing was ever assigned, and no reviewer of this name is known`);
}

const refuse = (where: string, message: string): ConfigError => new ConfigError([{ where, message, path: '' }]);
