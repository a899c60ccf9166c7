import type { OpenItemsFacts } from '../../reports/item-facts.js';
import { maxListRows } from '../../reports/list-sheet.js';
import { saveChangeItems } from '../../store/change-items.js';
import type { Queryable } from '../../store/database.js';
import { saveFourEyes } from '../../store/four-eyes-rules.js';
import { saveOpenItems } from '../../store/open-items.js';
import { saveReportSheet } from '../../store/report-sheets.js';
import { holdItemsOfParties, readReviewItems, saveItemChanges } from '../../store/review-items.js';
import { saveSettledItems } from '../../store/settled-items.js';
import {
  findUnprojectedParties,
  markProjected,
  type ProjectionScope,
  readHeldParties,
  readUnprojectedParties,
} from '../../store/unprojected-changes.js';
import type { RunSession } from '../session/run-session.js';
import { toItemChanges } from './to-item-changes.js';

const partiesAtOnce = 500;

/**
 * Stage: makes of all that a roster's runs have found on an account what reviewers have to decide about, and lets decisions hold or fall; inside
 * the transaction that closes a run, when control searches have confirmed its answers. Of a held run, whose answers are taken back by then,
 * only what is new or worse. Gives what waits then.
 */
export async function makeItems(
  transaction: Queryable,
  { workplace, run }: RunSession,
  accountId: number,
  isHeld: boolean,
): Promise<OpenItemsFacts | null> {
  const { runId, rosterId } = run;
  if (rosterId === null) return null;
  const { clock, settings } = workplace;
  const now = clock.now();
  const scope = { rosterId, accountId };
  const judged = { calendar: settings.review, families: settings.changes.topics, now };
  await saveFourEyes(transaction, run.organisationId, settings.review.fourEyes, now);
  const partyIds = await findUnprojectedParties(transaction, scope, now);
  await holdItemsOfParties(transaction, accountId, partyIds);
  for (let start = 0; start < partyIds.length; start += partiesAtOnce) {
    const chunk = partyIds.slice(start, start + partiesAtOnce);
    const parties = await readUnprojectedParties(transaction, scope, chunk);
    const items = await readReviewItems(transaction, accountId, chunk);
    const changes = parties.flatMap((party) => toItemChanges(party, items.get(party.partyId) ?? [], judged));
    await saveItemChanges(transaction, { accountId, runId, now }, changes);
    const changed = parties.filter(({ changes }) => [...changes.values()].some(({ isBaseline }) => !isBaseline));
    await saveChangeItems(
      transaction,
      scope,
      changed.map(({ partyId }) => partyId),
      now,
    );
  }
  await markProjected(transaction, scope);
  if (isHeld) await openHeldItems(transaction, { ...scope, runId }, judged);
  await saveReportSheet(transaction, runId, scope, { now, maxItems: maxListRows });
  await saveSettledItems(transaction, runId, scope);
  return saveOpenItems(transaction, runId, scope, now);
}

const worse: ReadonlySet<string> = new Set(['opened', 'reopened', 'escalated', 'returned']);

/** Opens what a held run found that is new or worse: nothing is closed by it, and no decision becomes one about other facts. */
async function openHeldItems(
  transaction: Queryable,
  scope: ProjectionScope & { runId: number },
  judged: Parameters<typeof toItemChanges>[2],
): Promise<void> {
  const { accountId, runId } = scope;
  for (let last = 0; ; ) {
    const parties = await readHeldParties(transaction, scope, { last, limit: partiesAtOnce });
    const ids = parties.map(({ partyId }) => partyId);
    await holdItemsOfParties(transaction, accountId, ids);
    const items = await readReviewItems(transaction, accountId, ids);
    const changes = parties
      .flatMap((party) => toItemChanges(party, items.get(party.partyId) ?? [], judged))
      .filter(
        ({ event, state }) => event !== null && worse.has(event.kind) && (state === 'open' || state === 'proposed'),
      );
    await saveItemChanges(transaction, { accountId, runId, now: judged.now }, changes);
    if (parties.length < partiesAtOnce) return;
    last = ids.at(-1) ?? last;
  }
}
