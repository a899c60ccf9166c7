import {
  type DiscrepancyFacts,
  discrepancyFacts,
  type ListedDiscrepancy,
  mostAcceptedDays,
} from '../reconciliation/discrepancy.js';
import { type Column, renderCsv } from './csv.js';
import { discrepancySheetName, maxListRows, type SheetLayout, toFillInSheet, toWarning } from './review-list.js';
import type { Sheet, SheetRow } from './spreadsheet.js';
import { countNoun } from './text.js';

/** The columns by which the list is read back: which discrepancy, until when it is accepted, and why. */
export const discrepancyListColumns = {
  discrepancy: 'discrepancy',
  acceptUntil: 'accept_until',
  reason: 'reason',
} as const;

/** The discrepancies that stand, most urgent first; `count` of them, also beyond those that are listed. */
export interface DiscrepancyList {
  count: number;
  listed: readonly ListedDiscrepancy[];
}

const factWords: Readonly<Record<string, string>> = {
  status: 'status',
  updatedAt: 'last changed',
  roster: 'roster says',
  rosterName: 'roster says',
  dossierName: 'dossier says',
  name: 'name',
  rosterDate: 'roster says',
  dossierDate: 'dossier says',
  rosterCountries: 'roster says',
  dossierCountry: 'dossier says',
  former: 'former name',
  changedAt: 'changed',
  alerts: 'alerts that wait',
  others: 'other dossiers',
  stated: 'rows by its source',
  read: 'rows read',
  held: 'held',
};

/** What disagrees, each fact in words with its value. */
export const listFacts = (facts: DiscrepancyFacts['facts']): readonly (readonly [words: string, value: string])[] =>
  Object.entries(facts).flatMap(([name, value]) => {
    const words = factWords[name];
    if (words === undefined || value === null) return [];
    const text = Array.isArray(value) ? value.slice(0, 5).join(', ') : String(value);
    return [[words, text.replaceAll('_', ' ')] as const];
  });

const isText = (value: unknown): value is string => typeof value === 'string';

/** Whom a discrepancy is about: up to `most` references of `count`. */
export function listReferences({ reference, references, customers }: DiscrepancyFacts['facts'], most: number) {
  if (!Array.isArray(references)) return { shown: isText(reference) ? [reference] : [], count: 1 };
  return { shown: references.filter(isText).slice(0, most), count: Number(customers) };
}

function describeReferences(facts: DiscrepancyFacts['facts']): string | null {
  const { shown, count } = listReferences(facts, 5);
  if (shown.length === 0) return null;
  return `${shown.join('; ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}`;
}

const columns: readonly Column<ListedDiscrepancy>[] = [
  { header: discrepancyListColumns.discrepancy, cell: ({ mark }) => mark },
  { header: 'severity', cell: ({ severity }) => severity },
  { header: 'what', cell: ({ kind }) => discrepancyFacts[kind].title },
  { header: 'kind', cell: ({ kind }) => kind },
  { header: 'roster', cell: ({ roster }) => roster },
  { header: 'reference', cell: ({ facts }) => describeReferences(facts) },
  { header: 'dossier', cell: ({ facts: { dossier } }) => (isText(dossier) ? dossier : null) },
  {
    header: 'facts',
    cell: ({ facts }) =>
      listFacts(facts)
        .map((fact) => fact.join(': '))
        .join('; '),
  },
  { header: 'open_since', cell: ({ openedAt }) => openedAt.toISOString() },
  { header: 'seen', cell: ({ seen }) => seen },
  { header: 'next', cell: ({ kind }) => discrepancyFacts[kind].next },
  {
    header: 'state',
    cell: ({ acceptance }) => (acceptance === null ? 'open' : acceptance.isFinal ? 'accepted' : 'proposed'),
  },
  { header: 'accepted_until', cell: ({ acceptance }) => acceptance?.until ?? null },
  { header: 'accepted_by', cell: ({ acceptance }) => acceptance?.reviewer ?? null },
  { header: 'accepted_because', cell: ({ acceptance }) => acceptance?.reason ?? null },
  { header: discrepancyListColumns.acceptUntil, cell: () => null },
  { header: discrepancyListColumns.reason, cell: () => null },
];

/** What stands as CSV, with empty columns for the day until which it is accepted and the reason. */
export const renderDiscrepancyList = (listed: readonly ListedDiscrepancy[]): Generator<string> =>
  renderCsv(columns, listed);

const layout: SheetLayout = [
  ['severity', 10],
  ['what', 34, 'Discrepancy'],
  ['reference', 18, 'Customer'],
  ['dossier', 24],
  ['facts', 40],
  [discrepancyListColumns.acceptUntil, 15],
  [discrepancyListColumns.reason, 36],
  ['next', 44, 'What to do'],
  ['open_since', 21],
  ['seen', 8, 'Seen in comparisons'],
  ['state', 10],
  ['accepted_until', 13, 'Accepted or proposed until'],
  ['accepted_by', 17, 'Accepted or proposed by'],
  ['accepted_because', 32, 'Because'],
  ['roster', 14],
  ['kind', 26, 'Code'],
  [discrepancyListColumns.discrepancy, 26],
];

const dayMs = 86_400_000;
const toDay = (at: Date, days: number): string => new Date(at.getTime() + days * dayMs).toISOString().slice(0, 10);

/** What stands as a sheet to be filled in as of `at`; null where nothing stands. */
export function toDiscrepancySheet(
  { count, listed }: DiscrepancyList,
  { at, above = [] }: { at: Date; above?: readonly SheetRow[] },
): Sheet | null {
  if (listed.length === 0) return null;
  const shown = listed.slice(0, maxListRows);
  const cut =
    count > shown.length
      ? [
          toWarning(
            `The first ${shown.length} of ${countNoun(count, 'discrepancy', 'discrepancies')}. For all of them: nightscreen review export --discrepancies --out discrepancies.csv`,
          ),
        ]
      : [];
  return toFillInSheet(shown, {
    ...{ name: discrepancySheetName, columns, layout, firstColumns: 3, above: [...above, ...cut] },
    dropdowns: [
      {
        ...{ header: discrepancyListColumns.acceptUntil, title: 'Accept until', isStrict: false },
        // One day less than the most: where reviewers are it may still be the day before.
        values: [30, 90, mostAcceptedDays - 1].map((days) => toDay(at, days)),
        hint: `The last day (yyyy-mm-dd), at most ${mostAcceptedDays} days ahead. Nothing critical can be accepted.`,
      },
    ],
  });
}
