import { rm } from 'node:fs/promises';
import { EvidenceError, usageError } from '../errors.js';
import { findMentions } from '../reports/find-mentions.js';
import { countNoun } from '../reports/text.js';
import { type Queryable, tryOut } from '../store/database/database.js';
import { toLeaseKey } from '../store/database/leases.js';
import { readKeyCopies } from '../store/evidence/keys.js';
import type { FoundCustomer } from '../store/evidence/show.js';
import { ownsTables } from '../store/night/held-runs.js';
import {
  countQueuedMessages,
  digestReference,
  type ErasedPeople,
  findErasedPeople,
  lockCustomers,
  noteErasure,
  readBlockers,
  readEmptiedAnswers,
  refreshStatistics,
  removePeople,
} from '../store/operations/erasure.js';
import { type Organisation, readRosterNames } from '../store/organisations.js';
import { findOpenRun, toRunId } from '../store/runs.js';
import type { AppContext } from './app-context.js';
import type { KeyCopy } from './evidence-keys.js';
import { writePacks } from './packs.js';
import type { Reviewer } from './review/people.js';
import { digestAnswer } from './screening/commit.js';
import { openKeyedOrganisation, withLease } from './session.js';

/** What an erasure removes, or would remove. */
export interface ErasureResult {
  isApplied: boolean;
  references: readonly string[];
  /** Rows by what was removed from the database. */
  removed: Readonly<Record<string, number>>;
  /** Folders of reports, archives and mails that were removed. */
  files: readonly string[];
  /** Requests whose answers stay, because a namesake or a check has used them too. */
  sharedRequests: number;
  /** Copies of the keys that must be destroyed by hand. */
  keyCopies: readonly KeyCopy[];
}

/** Why a customer cannot be erased now, in words; empty when nothing forbids it. */
export async function listBlockers(database: Queryable, customerId: number): Promise<readonly string[]> {
  const { isInRoster, hold, alerts, isErased, heldRuns } = await readBlockers(database, customerId);
  if (isErased) return ['is erased already'];
  return [
    isInRoster && 'is still in the roster: the next run would store the record again. Remove the customer there first',
    hold !== null && `is under legal hold by ${hold.heldBy}: ${hold.reason}`,
    alerts > 0 && `has ${countNoun(alerts, 'alert')} that wait or are true matches; they are decided first`,
    heldRuns.length > 0 && `is in held runs that may still be accepted: ${heldRuns.join(', ')}`,
  ].filter((blocker) => blocker !== false);
}

/**
 * Removes what is personal of these customers of one roster: their keys of evidence, their rows in all tables, and the reports and mails that name
 * them. The files go first, because the names by which they are found go with the rows; repeated, it does the rest. Throws ConfigError while
 * anything forbids it, RunLockedError while a run uses the roster, and EvidenceError while packs wait.
 */
export async function eraseCustomers(
  app: AppContext,
  customers: readonly FoundCustomer[],
  { reason, reviewer, isPreview = false }: { reason: string; reviewer: Reviewer; isPreview?: boolean },
  signal: AbortSignal,
): Promise<ErasureResult> {
  const { database } = app;
  if (!(await ownsTables(database))) {
    throw usageError('customer', 'this login does not own the tables, and only their owner removes from them');
  }
  const organisation = await openKeyedOrganisation(app);
  const [{ rosterId, roster } = { rosterId: 0, roster: '' }] = customers;
  // Imports of other rosters may begin to share a request.
  const rosters = [...(await readRosterNames(database, organisation.name)).values()].toSorted();
  const keys = [
    ...rosters.map((name) => toLeaseKey('screening', organisation.name, name)),
    toLeaseKey('sweep', organisation.name),
  ];
  return withLeases(app, keys, signal, async () => {
    await requireNoBlocker(app, customers, toLeaseKey('screening', organisation.name, roster));
    const customerIds = customers.map(({ customerId }) => customerId);
    const people = await findErasedPeople(database, { ...organisation, rosterId, customerIds });
    await requireNoMessage(database, people);
    const files = await findFiles(app, people);
    if (!isPreview) await removeFiles(files);
    const remove = (transaction: Queryable) =>
      removeRows(app, transaction, organisation, people, { customers, reason, reviewer });
    const { result, isApplied } = await tryOut(database, remove, () => !isPreview);
    if (isApplied) await refreshStatistics(database);
    return {
      isApplied,
      references: people.references,
      removed: result,
      files,
      sharedRequests: people.sharedRequests,
      keyCopies: await readKeyCopies(database, organisation.organisationId, customerIds),
    };
  });
}

async function withLeases<T>(
  app: AppContext,
  keys: readonly string[],
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const [key, ...others] = keys;
  return key === undefined ? work() : withLease(app, key, signal, () => withLeases(app, others, signal, work));
}

async function requireNoBlocker(app: AppContext, customers: readonly FoundCustomer[], leaseKey: string) {
  const { database } = app;
  const open = await findOpenRun(database, leaseKey);
  if (open !== null) {
    throw usageError('customer', `run ${toRunId(open)} has not ended, and may store answers; resume it first`);
  }
  await requireFree(database, customers);
  // A pack that is written later would lack what is removed now.
  if (await writePacks(app)) return;
  throw new EvidenceError(
    'evidence_not_written',
    'packs of evidence wait to be written; nothing was erased. Run `nightscreen evidence write` first',
  );
}

async function requireFree(database: Queryable, customers: readonly FoundCustomer[]): Promise<void> {
  for (const { customerId, reference } of customers) {
    const blockers = await listBlockers(database, customerId);
    if (blockers.length > 0) throw usageError('argument customer', `${reference} ${blockers.join('; ')}`);
  }
}

async function requireNoMessage(database: Queryable, people: ErasedPeople): Promise<void> {
  const { count } = await countQueuedMessages(database, people);
  if (count === 0) return;
  const message = `${countNoun(count, 'message')} that may name the customer wait to be sent; send or drop them first: nightscreen outbox`;
  throw usageError('argument customer', message);
}

async function findFiles({ settings: { reports } }: AppContext, people: ErasedPeople): Promise<readonly string[]> {
  const folders = reports.publishTo === undefined ? [reports.dir] : [reports.dir, reports.publishTo];
  const found = await Promise.all(folders.map((folder) => findMentions(folder, people)));
  return found.flat();
}

async function removeFiles(files: readonly string[]): Promise<void> {
  for (const file of files) await rm(file, { recursive: true, force: true, maxRetries: 3 });
}

async function removeRows(
  { clock }: AppContext,
  transaction: Queryable,
  { digestKey }: Organisation,
  people: ErasedPeople,
  { customers, reason, reviewer }: { customers: readonly FoundCustomer[]; reason: string; reviewer: Reviewer },
): Promise<Record<string, number>> {
  await lockCustomers(transaction, people.customerIds);
  // Files took their time.
  await requireFree(transaction, customers);
  const answers = await readEmptiedAnswers(transaction, people);
  const keyed = answers.map((answer) => ({ ...answer, digest: digestAnswer(digestKey, answer.body) }));
  const removed = await removePeople(transaction, people, keyed);
  for (const { customerId, reference } of customers) {
    await noteErasure(transaction, {
      customerId,
      referenceDigest: digestReference(digestKey, reference),
      erasedAt: clock.now(),
      erasedBy: reviewer.name,
      isAttested: reviewer.isAttested,
      reason,
      removed,
    });
  }
  return removed;
}
