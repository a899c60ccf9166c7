import type { Severity } from '../changes/change-event.js';
import type { Corroboration } from '../changes/corroboration.js';
import type { Match } from '../matches/match.js';
import type { DispositionVerdict } from '../matches/review/disposition.js';
import type { Absence } from '../matches/review/project-items.js';
import { agreementWords } from './change-words.js';
import type { ItemOwner, ReplacedFacts } from './item-facts.js';
import { absenceWords, describeOwner, describeReplaced } from './item-words.js';
import type { PartyFacts } from './list-facts.js';
import { partyColumns } from './party-columns.js';
import { type Column, renderCsv } from './render-csv.js';

/** The columns that a reviewer fills in, and the one that says which item is meant; all others are for reading only. */
export const workingListColumns = {
  item: 'item',
  sheet: 'sheet',
  decision: 'decision',
  reason: 'reason',
  comment: 'comment',
} as const;

/** An item that waits, as a working list shows it. */
export interface WaitingItem {
  /** The cell by which it is known again. */
  mark: string;
  /** The working list that it is on. */
  sheetId: number;
  /** Of the account on which it was found. */
  mode: 'test' | 'live';
  party: PartyFacts;
  listed: Match;
  severity: Severity;
  rule: string;
  priority: number;
  corroboration: Corroboration;
  openedAt: Date;
  dueAt: Date | null;
  /** `proposed` waits for a second person. */
  state: 'open' | 'proposed';
  /** Why its match is absent, so that it waits to be confirmed as no longer matched; null while it is listed as a hit. */
  absence: Absence | null;
  absentSince: Date | null;
  /** Of a row that confirms many absent alerts of one listed party at once: how many, and customers to look at as a sample. */
  bulk?: { alerts: number; sample: readonly string[] };
  owner: ItemOwner | null;
  /** What somebody has proposed that nobody has confirmed yet. */
  proposal: { verdict: DispositionVerdict; reviewer: string; reason: string; decidedAt: Date } | null;
  /** Why it is open again; none for one that was never decided. */
  reopenedBecause: readonly string[];
  /** The last decision about it before that, whether it stands or not. */
  lastDecision: { verdict: string; reviewer: string; reason: string; decidedAt: Date } | null;
  replaced: ReplacedFacts | null;
  /** What an older system had decided, as it says so; `isSample` where that was not taken over so that somebody looks again. */
  legacy: { verdict: string; reviewer: string; reason: string; decidedAt: string; isSample: boolean } | null;
}

/** What waited for reviewers when a run closed. */
export interface ToReviewFacts {
  sheetId: number;
  /** How many, also beyond those that are listed. */
  waiting: number;
  /** The most urgent. */
  items: readonly WaitingItem[];
}

/** Everything that a working list says of an item. */
export const workingListTable: readonly Column<WaitingItem>[] = [
  { header: workingListColumns.item, cell: ({ mark }) => mark },
  { header: workingListColumns.sheet, cell: ({ sheetId }) => `S-${sheetId}` },
  { header: 'severity', cell: ({ severity }) => severity },
  { header: 'priority', cell: ({ priority }) => priority },
  { header: 'due', cell: ({ dueAt }) => dueAt?.toISOString() ?? null },
  ...partyColumns<WaitingItem>(({ party }) => party),
  { header: 'listed_name', cell: ({ listed }) => listed.name },
  { header: 'listed_for', cell: ({ listed }) => listed.topics.join('; ') },
  { header: 'listed_birth_dates', cell: ({ listed }) => listed.birthDates.join('; ') },
  { header: 'birth_date_compared', cell: ({ corroboration }) => agreementWords[corroboration.birthDate] },
  { header: 'listed_countries', cell: ({ listed }) => listed.countries.join('; ') },
  { header: 'country_compared', cell: ({ corroboration }) => agreementWords[corroboration.country] },
  { header: 'listed_kind', cell: ({ listed }) => listed.schema },
  { header: 'hit', cell: ({ listed }) => (listed.isHit ? 'yes' : 'no') },
  { header: 'score', cell: ({ listed }) => listed.score },
  { header: 'rank', cell: ({ listed }) => listed.rank },
  { header: 'match_id', cell: ({ listed }) => listed.id },
  { header: 'mode', cell: ({ mode }) => mode },
  { header: 'because', cell: ({ rule }) => rule },
  { header: 'open_since', cell: ({ openedAt }) => openedAt.toISOString() },
  { header: 'reopened_because', cell: ({ reopenedBecause }) => reopenedBecause.join('; ') },
  { header: 'assigned_to', cell: ({ owner }) => owner && describeOwner(owner) },
  { header: 'proposed', cell: ({ proposal }) => proposal?.verdict ?? null },
  { header: 'proposed_by', cell: ({ proposal }) => proposal?.reviewer ?? null },
  { header: 'proposed_at', cell: ({ proposal }) => proposal?.decidedAt.toISOString() ?? null },
  { header: 'proposed_reason', cell: ({ proposal }) => proposal?.reason ?? null },
  { header: 'last_decision', cell: ({ lastDecision }) => lastDecision?.verdict ?? null },
  { header: 'last_decided_by', cell: ({ lastDecision }) => lastDecision?.reviewer ?? null },
  { header: 'last_decided_at', cell: ({ lastDecision }) => lastDecision?.decidedAt.toISOString() ?? null },
  { header: 'last_reason', cell: ({ lastDecision }) => lastDecision?.reason ?? null },
  { header: 'legacy_decision', cell: ({ legacy }) => legacy?.verdict ?? null },
  { header: 'legacy_decided_by', cell: ({ legacy }) => legacy?.reviewer ?? null },
  { header: 'legacy_decided_at', cell: ({ legacy }) => legacy?.decidedAt ?? null },
  { header: 'legacy_reason', cell: ({ legacy }) => legacy?.reason ?? null },
  { header: 'legacy_sample', cell: ({ legacy }) => (legacy?.isSample === true ? 'yes' : null) },
  { header: workingListColumns.decision, cell: () => null },
  { header: workingListColumns.reason, cell: () => null },
  { header: workingListColumns.comment, cell: () => null },
  { header: 'absence', cell: ({ absence }) => absence && absenceWords[absence] },
  { header: 'absent_since', cell: ({ absentSince }) => absentSince?.toISOString() ?? null },
  { header: 'alerts', cell: ({ bulk }) => bulk?.alerts ?? null },
  { header: 'sample', cell: ({ bulk }) => bulk?.sample.join('; ') ?? null },
  { header: 'replaced_decision', cell: ({ replaced }) => replaced && describeReplaced(replaced) },
];

/** A working list as CSV: one row per item that waits, with empty columns for the decision, its reason and a comment. */
export const renderWorkingList = (items: readonly WaitingItem[]): Generator<string> =>
  renderCsv(workingListTable, items);
