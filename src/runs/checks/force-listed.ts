import { ConfigError } from '../../errors.js';
import type { PublishedList } from '../../lists/listed-party.js';
import { finishComparison, noteList, readListComparison } from '../../store/checks.js';
import { forceScreenings } from '../../store/plan.js';
import { carryForcedScreenings } from '../../store/roster-imports.js';
import type { RunRow } from '../../store/runs.js';
import type { RunSession } from '../session/run-session.js';
import type { Workplace } from '../workplace.js';
import { compareRoster, toStoredList } from './compare-roster.js';

/**
 * Stage: notes for this run whom a published list may mean, with the listed name, and whom earlier runs were to ask about for such a reason
 * and did not. Throws ConfigError when the run was begun with a list that it had not been compared with, and none is given.
 */
export async function forceListed(
  session: RunSession,
  list: PublishedList | undefined,
  scope: { rosterId: number; accountId: number | null },
): Promise<void> {
  const { run, workplace } = session;
  await session.write(async (transaction) => {
    if (list) await noteList(transaction, run.runId, toStoredList(list));
    await carryForcedScreenings(transaction, run.runId);
  });
  const known = await readListComparison(workplace.database, run.runId);
  if (known === null || known.comparedAt !== null) return;
  if (list) return compare(session, list, scope);
  const message = `the customers were not compared with ${known.file} yet; start it again with --because-of and that file`;
  throw new ConfigError([{ where: 'run', path: '', message }]);
}

async function compare(
  session: RunSession,
  list: PublishedList,
  scope: { rosterId: number; accountId: number | null },
): Promise<void> {
  const { workplace, run, runId, signal } = session;
  const { clock, database, settings } = workplace;
  workplace.tell({ kind: 'stage_started', runId, stage: 'compare' });
  const { leaveAfterDays } = settings.screening;
  const sums = await compareRoster(database, list, { ...scope, leaveAfterDays }, signal, (forced) =>
    session.write((transaction) => forceScreenings(transaction, run.runId, forced)),
  );
  await session.write((transaction) => finishComparison(transaction, run.runId, sums, clock.now()));
  const counts = { listed: list.parties.length, ...sums };
  workplace.tell({ kind: 'stage_finished', runId, stage: 'compare', counts });
}

/** Why an open run must not be gone on with when this list is wanted; null when it is the same, or none is wanted. */
export async function findOtherList(
  { database }: Workplace,
  open: RunRow,
  wanted: PublishedList | undefined,
): Promise<string | null> {
  if (wanted === undefined) return null;
  const noted = await readListComparison(database, open.runId);
  if (noted?.digest === wanted.digest) return null;
  return noted === null
    ? 'it did not ask because of a list'
    : `it asked because of ${noted.file}, SHA-256 ${noted.digest.slice(0, 12)}`;
}
