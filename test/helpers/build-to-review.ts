import type { ToReviewFacts, WaitingItem } from '../../src/reports/review-list.js';
import { buildMatch, buildParty } from './run-facts.js';

const openedAt = new Date('2026-11-21T02:10:00Z');

/** An item that waits, for tests of what shows it. */
export const buildWaitingItem = (changed: Partial<WaitingItem> = {}): WaitingItem => ({
  ...{
    mark: 'N12345678-ABCDEFGHJK-0',
    sheetId: 7,
    mode: 'live',
    severity: 'high',
    rule: 'pep_hit_gained',
    priority: 500,
  },
  ...{ party: buildParty({}), listed: buildMatch({}), corroboration: { birthDate: 'unknown', country: 'agree' } },
  ...{ openedAt, dueAt: null, state: 'open', owner: null, proposal: null, reopenedBecause: [] },
  ...{ absence: null, absentSince: null, lastDecision: null, replaced: null, legacy: null },
  ...changed,
});

/** What waited when a run closed, of these items. */
export const buildToReview = (items: readonly WaitingItem[], waiting = items.length): ToReviewFacts => ({
  ...{ sheetId: 7, waiting, items },
});
