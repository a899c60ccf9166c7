import type { Severity } from '../../changes/change-event.js';
import { parseItemMark } from '../../matches/review/item-code.js';
import { readOrganisation } from '../../store/organisations.js';
import { holdWaitingItems, saveAssignments } from '../../store/review/waiting.js';
import type { Workplace } from '../workplace.js';
import type { Reviewer } from './decide-items.js';
import { requireCustomer, requireRoster } from './require-known.js';

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
export async function assignItems(workplace: Workplace, request: AssignmentRequest): Promise<Assigned> {
  const { database, settings, clock } = workplace;
  const { marks, customer, severity, roster, to, by } = request;
  const { organisationId, name, digestKey } = await readOrganisation(database, settings.organisation);
  await requireRoster(database, organisationId, roster);
  await requireCustomer(database, organisationId, { reference: customer, where: 'flag --customer' });
  const named = marks.map((mark) => ({ mark, itemId: parseItemMark(mark, digestKey)?.itemId ?? null }));
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
