import { ConfigError, flagError } from '../../errors.js';
import { toInstant, toLocalTime, toNextDay } from '../../local-time.js';
import { parseItemCode } from '../../matches/item-code.js';
import type { Database, Queryable } from '../../store/database/database.js';
import { findLogin } from '../../store/database/postgres.js';
import { isKnownCustomer, readOrganisation, readRostersOf, wasEverNamed } from '../../store/organisations.js';
import {
  type Delegation,
  holdWaitingItems,
  insertDelegation,
  isKnownReviewer,
  readDelegations,
  saveAssignments,
} from '../../store/review/people.js';
import type { Severity } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import type { ReviewSettings } from './settings.js';

/** Who decides; `isAttested` where nothing but their word says who they are. */
export interface Reviewer {
  name: string;
  isAttested: boolean;
}

/** By whom, when and under which settings it is decided. */
export interface DecisionContext {
  digestKey: Buffer;
  reviewer: Reviewer;
  now: Date;
  review: Pick<ReviewSettings, 'fourEyes' | 'expiresAfterDays'>;
}

/**
 * Who decides; for a preview, which stores nothing, nobody needs a name. On Postgres the login, and nobody in another name; on the embedded database whoever `name` says, attested and not authenticated.
 * Throws ConfigError, about the flag by which the name is given, when a name is missing, or given where the login says it.
 */
export async function findReviewer(
  database: Database,
  name: string | undefined,
  isPreview = false,
  flag = '--reviewer',
): Promise<Reviewer> {
  const login = await findLogin(database);
  if (login === null) {
    if (isPreview && name === undefined) return { name: 'preview', isAttested: true };
    if (name !== undefined && name.trim() !== '') return { name: name.trim(), isAttested: true };
    throw flagError(
      flag,
      'is missing: on the embedded database nothing else says who it is, and the name is kept as attested',
    );
  }
  if (name === undefined || name === login) return { name: login, isAttested: false };
  throw flagError(
    flag,
    `is ${name}, and the database login is ${login}: on Postgres everybody decides under their own login`,
  );
}

/** A name to whom something is given; throws ConfigError when it is empty, or where the database knows its reviewers and this is none. */
export async function requireAssignee(database: Database, name: string, flag: string): Promise<string> {
  const trimmed = name.trim();
  if (trimmed === '') throw flagError(flag, 'is empty');
  if (database.dialect === 'embedded' || (await isKnownReviewer(database, trimmed)) !== false) return trimmed;
  throw flagError(flag, `is ${trimmed}, and no login of this name is a member of the role nightscreen_reviewer`);
}

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

/** What is assigned to whom: items by their marks, or all that wait and fit. */
export interface AssignmentRequest {
  /** As lists show them; empty for a choice by what follows. */
  marks: readonly string[];
  customer: string | null;
  severity: Severity | null;
  roster: string | null;
  /** Null for nobody. */
  to: string | null;
  by: Reviewer;
}

/** What became of it, in items. */
export interface Assigned {
  assigned: number;
  sameAlready: number;
  /** Marks that name nothing here, or nothing that waits: then nothing is assigned. */
  refused: readonly { mark: string; reason: 'no_item' | 'not_waiting' }[];
}

/** Assigns what waits to somebody, or to nobody; all that is named or nothing. An item keeps its owner also when it is opened again. */
export async function assignItems(app: AppContext, request: AssignmentRequest): Promise<Assigned> {
  const { database, settings, clock } = app;
  const { marks, customer, severity, roster, to, by } = request;
  const { organisationId, name, digestKey } = await readOrganisation(database, settings.organisation);
  await requireRoster(database, organisationId, roster);
  await requireCustomer(database, organisationId, { reference: customer, where: 'flag --customer' });
  const named = marks.map((mark) => ({ mark, itemId: parseItemCode(mark, digestKey)?.itemId ?? null }));
  const itemIds = marks.length === 0 ? null : named.flatMap(({ itemId }) => itemId ?? []);
  return database.transaction(async (transaction) => {
    const items = await holdWaitingItems(transaction, { organisation: name, itemIds, customer, severity, roster });
    const waiting = new Set(items.map(({ itemId }) => itemId));
    const refused = named.flatMap(({ mark, itemId }): Assigned['refused'] => {
      if (itemId === null) return [{ mark, reason: 'no_item' }];
      return waiting.has(itemId) ? [] : [{ mark, reason: 'not_waiting' }];
    });
    if (refused.length > 0) return { assigned: 0, sameAlready: 0, refused };
    const others = items.flatMap(({ itemId, assignedTo }) => (assignedTo === to ? [] : itemId));
    await saveAssignments(transaction, others, { to, actor: by, now: clock.now() });
    return { assigned: others.length, sameAlready: items.length - others.length, refused: [] };
  });
}

/**
 * Has somebody stand in for somebody else until the end of a day (`yyyy-mm-dd`, by the clock of `review.timezone`), or ends that without `to` and
 * `until`. Throws ConfigError when the last day is over, when they would stand in for each
 * other, or when there is nothing to end.
 */
export async function delegateItems(
  { database, settings, clock }: AppContext,
  request: { from: string; to: string | null; until: string | null; reason: string; by: Reviewer },
): Promise<void> {
  const { from, to, until, reason, by } = request;
  const now = clock.now();
  const { timezone } = settings.review;
  const { organisationId } = await readOrganisation(database, settings.organisation);
  if (to !== null) await requirePerson(database, organisationId, { name: from, flag: '--from' });
  const endsAt = until === null ? null : toInstant({ date: toNextDay(until), time: '00:00:00' }, timezone);
  await database.transaction(async (transaction) => {
    const status = await readDelegations(transaction, organisationId, now);
    if (to === null && !status.some((each) => each.from === from)) {
      throw flagError('--end', `has nothing to end: nobody stands in for ${from}`);
    }
    if (endsAt !== null && endsAt <= now) {
      throw flagError('--until', `is over: in ${timezone} it is ${toLocalTime(now, timezone).date}`);
    }
    if (to !== null && leadsTo(status, to, from)) throw flagError('--to', `is ${to}, for whom ${from} stands in`);
    await insertDelegation(transaction, { organisationId, from, to, until, endsAt, reason, actor: by }, now);
  });
}

/** Who stands in for whom now. */
export async function listDelegations({ database, settings, clock }: AppContext): Promise<readonly Delegation[]> {
  const { organisationId } = await readOrganisation(database, settings.organisation);
  return readDelegations(database, organisationId, clock.now());
}

/** Whether what is given to somebody ends with somebody else. */
function leadsTo(delegations: readonly Delegation[], start: string, end: string): boolean {
  const next = new Map(delegations.map(({ from, to }) => [from, to]));
  const passed = new Set<string>();
  for (let person: string | undefined = start; person !== undefined; person = next.get(person)) {
    if (person === end) return true;
    if (passed.has(person)) return false;
    passed.add(person);
  }
  return false;
}
