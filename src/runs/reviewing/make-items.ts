import { toSeenFacts } from '../../matches/review/seen-facts.js';
import type { OpenItemsFacts } from '../../reports/item-facts.js';
import { maxListRows } from '../../reports/list-sheet.js';
import { findAutoClosable } from '../../store/absent-alerts.js';
import { saveChangeItems } from '../../store/change-items.js';
import type { Queryable } from '../../store/database.js';
import { readDecidableItems, saveDisposition } from '../../store/decidable-items.js';
import { saveFourEyes } from '../../store/four-eyes-rules.js';
import { saveOpenItems } from '../../store/open-items.js';
import { saveReportSheet } from '../../store/report-sheets.js';
import { holdItemsOfParties, readReviewItems, saveItemChanges } from '../../store/review-items.js';
import { readRunSettings } from '../../store/settings-records.js';
import { saveSettledItems } from '../../store/settled-items.js';
import {
  findUnprojectedParties,
  markProjected,
  type ProjectionScope,
  readHeldParties,
  readUnprojectedParties,
} from '../../store/unprojected-changes.js';
import { isAutoClosing } from '../accepting/accept-settings.js';
import type { RunSession } from '../session/run-session.js';
import { toSeenDigest } from './item-stamp.js';
import { addProvisional, toItemChanges } from './to-item-changes.js';

const partiesAtOnce = 500;

/**
 * Stage: makes of all that a roster's runs have found on an account what reviewers have to decide about, and lets decisions hold or fall; inside
 * the transaction that closes a run, when control searches have confirmed its answers. Of a held run, whose answers are taken back by then,
 * only what is new or worse. Gives what waits then.
 */
export async function makeItems(
  transaction: Queryable,
  { workplace, run, organisation }: RunSession,
  accountId: number,
  how: 'counts' | 'held' | 'accepted',
): Promise<OpenItemsFacts | null> {
  const { runId, rosterId } = run;
  if (rosterId === null) return null;
  const { clock, settings } = workplace;
  const now = clock.now();
  const scope = { rosterId, accountId };
  const judged = { calendar: settings.review, families: settings.changes.topics, now };
  // Accepting a run of before changes no rule of now.
  if (how !== 'accepted') await saveFourEyes(transaction, run.organisationId, settings.review.fourEyes, now);
  const partyIds = await findUnprojectedParties(transaction, scope, now);
  await holdItemsOfParties(transaction, accountId, partyIds);
  for (let start = 0; start < partyIds.length; start += partiesAtOnce) {
    const chunk = partyIds.slice(start, start + partiesAtOnce);
    const parties = await readUnprojectedParties(transaction, scope, chunk);
    const items = await readReviewItems(transaction, accountId, chunk);
    const changes = parties.flatMap((party) => {
      const own = items.get(party.partyId) ?? [];
      return toItemChanges(addProvisional(party, own), own, judged);
    });
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
  if (how === 'held') await openHeldItems(transaction, { ...scope, runId }, judged);
  // No policy goes by answers that could not be relied on at first.
  if (how === 'counts')
    await closeByPolicy(transaction, { runId, ...scope }, { now, digestKey: organisation.digestKey });
  await saveReportSheet(transaction, runId, scope, { now, maxItems: maxListRows });
  await saveSettledItems(transaction, runId, scope);
  return saveOpenItems(transaction, runId, scope, now);
}

/**
 * Closes by the policy `review.autoClose`, where the accepted settings in force have it, what has been absent for long enough. The actor of
 * these dispositions is the policy, and a return re-opens the alert.
 */
async function closeByPolicy(
  transaction: Queryable,
  { runId, ...scope }: ProjectionScope & { runId: number },
  { now, digestKey }: { now: Date; digestKey: Buffer },
): Promise<void> {
  const accepted = await readRunSettings(transaction, runId);
  if (accepted === null || !isAutoClosing(accepted)) return;
  const closable = await findAutoClosable(transaction, runId, scope, now);
  const items = await readDecidableItems(
    transaction,
    closable.map(({ itemId }) => itemId),
  );
  for (const { itemId, absentSince } of closable) {
    const item = items.get(itemId);
    if (item === undefined) continue;
    await saveDisposition(
      transaction,
      {
        ...{ itemId, kind: 'decided', verdict: 'no_longer_matched', origin: 'policy', reviewer: 'review.autoClose' },
        ...{ isAttested: false, comment: null, expiresAt: null, refersTo: null, sheetId: null, dueAt: null },
        reason: `absent since ${absentSince.toISOString()}; policy accepted by ${accepted.acceptedBy}`,
        seen: toSeenFacts(item.customer, item.listed),
        seenDigest: toSeenDigest(item, digestKey),
      },
      now,
    );
  }
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
