import { flagError, usageError } from '../../errors.js';
import { parseAlertCode } from '../../matches/alert-code.js';
import type { Database, Queryable } from '../../store/database/database.js';
import { findLogin } from '../../store/database/postgres.js';
import { isKnownCustomer, readReviewOrganisation, readRostersOf, wasEverAssignee } from '../../store/organisations.js';
import { assignWaitingAlerts, isKnownReviewer } from '../../store/review/people.js';
import type { Severity } from '../../vocabulary.js';
import type { AppContext } from '../app-context.js';
import type { ReviewSettings } from './settings.js';

/** The person who decides; `isAttested` means that the name is only declared, not authenticated. */
export interface Reviewer {
  name: string;
  isAttested: boolean;
}

/** The organisation, the reviewer, the time and the settings of a decision. */
export interface DecisionContext {
  organisationId: number;
  reviewKey: Buffer;
  reviewer: Reviewer;
  now: Date;
  review: Pick<ReviewSettings, 'fourEyes' | 'expiresAfterDays'>;
}

/** The context of decisions that a person makes now, with the name of the organisation and its timezone. */
export async function openDecisionContext({ database, settings, clock }: AppContext, reviewer: Reviewer) {
  const { name: organisation, ...known } = await readReviewOrganisation(database, settings.organisation);
  const { review, timezone } = settings;
  return { ...known, organisation, reviewer, now: clock.now(), review, timezone };
}

/**
 * Finds the person who decides. On Postgres it is the login; on the embedded database it is `name`, attested and not authenticated. A preview,
 * which stores nothing, needs no name. Throws ConfigError when the name is missing or is not the login.
 */
export async function findReviewer(database: Database, name: string | undefined, isPreview = false): Promise<Reviewer> {
  const login = await findLogin(database);
  if (login === null) {
    if (isPreview && name === undefined) return { name: 'preview', isAttested: true };
    if (name?.trim() === 'NAME') throw flagError('--by', 'is the word NAME: give the name of the person who decides');
    if (name !== undefined && name.trim() !== '') return { name: name.trim(), isAttested: true };
    throw flagError(
      '--by',
      'is missing; the embedded database has no logins, so the name is required and is stored as attested',
    );
  }
  if (name === undefined || name === login) return { name: login, isAttested: false };
  throw flagError(
    '--by',
    `is ${name}, but the database login is ${login}; on Postgres each reviewer decides under their own login. Omit --by, or use that login`,
  );
}

/** Gives the trimmed name of an assignee; throws ConfigError when it is empty, or is no reviewer that the database knows. */
export async function requireAssignee(database: Database, name: string, flag: string): Promise<string> {
  const trimmed = name.trim();
  if (trimmed === '') throw flagError(flag, 'is empty');
  if (database.dialect === 'embedded' || (await isKnownReviewer(database, trimmed)) !== false) return trimmed;
  throw flagError(flag, `is ${trimmed}, but no login of this name is a member of the role nightscreen_reviewer`);
}

/**
 * Throws ConfigError for a roster that was never imported, a customer who is in no roster, and a person who never had an assignment and is no
 * reviewer; null means any.
 */
export async function requireKnown(
  database: Queryable,
  organisationId: number,
  named: {
    roster?: string | null;
    customer?: { reference: string | null; where: string };
    person?: { name: string | null; flag: string };
  },
): Promise<void> {
  const { roster = null, customer, person } = named;
  const rosters = roster === null ? [] : await readRostersOf(database, organisationId);
  if (roster !== null && !rosters.includes(roster)) {
    throw usageError('flag --roster', `roster ${roster} was never imported; these were: ${rosters.join(', ')}`);
  }
  const reference = customer?.reference ?? null;
  if (customer && reference !== null && !(await isKnownCustomer(database, organisationId, reference))) {
    throw usageError(customer.where, `is ${reference}, but no roster has this customer`);
  }
  const name = person?.name ?? null;
  if (!person || name === null || (await wasEverAssignee(database, organisationId, name))) return;
  if ((await isKnownReviewer(database, name)) === true) return;
  throw usageError(
    `flag ${person.flag}`,
    `is ${name}, but no alert was ever assigned to this name and no reviewer has it`,
  );
}

/** An assignment: alerts by their codes, or all waiting alerts that fit. */
export interface AssignmentRequest {
  /** Item codes as lists show them; empty to choose by the other fields. */
  marks: readonly string[];
  customer: string | null;
  severity: Severity | null;
  roster: string | null;
  /** Null ends the assignment. */
  to: string | null;
  by: Reviewer;
}

/**
 * Assigns waiting alerts to a person or ends their assignment: all that are named or none. A re-opened alert keeps its assignee. Gives how many
 * were assigned; `refused` are codes that name no waiting alert, and with any of them nothing is assigned.
 */
export async function assignAlerts(app: AppContext, request: AssignmentRequest) {
  const { database, settings, clock } = app;
  const { marks, customer, severity, roster, to, by } = request;
  const { organisationId, name, reviewKey } = await readReviewOrganisation(database, settings.organisation);
  await requireKnown(database, organisationId, { roster, customer: { reference: customer, where: 'flag --customer' } });
  const named = marks.map((mark) => ({ mark, alertId: parseAlertCode(mark, reviewKey)?.alertId ?? null }));
  const alertIds = marks.length === 0 ? null : named.map(({ alertId }) => alertId);
  const choice = { organisation: name, alertIds, customer, severity, roster };
  const { waiting, assigned } = await database.transaction((transaction) =>
    assignWaitingAlerts(transaction, choice, { to, actor: by, now: clock.now() }),
  );
  const refused = named
    .filter(({ alertId }) => !waiting.has(alertId))
    .map(({ mark, alertId }) => ({ mark, reason: alertId === null ? 'no_alert' : 'not_waiting' }) as const);
  return { assigned, sameAlready: refused.length > 0 ? 0 : waiting.size - assigned, refused };
}
