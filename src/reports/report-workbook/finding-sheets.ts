import { type ChangeLine, changeColumns } from '../changes-csv.js';
import { notScreenedColumns } from '../not-screened-csv.js';
import type { Report } from '../report.js';
import type { Sheet, SheetRow } from '../spreadsheet/sheet.js';
import { toTableSheet } from './table-sheet.js';

type Layout = readonly (readonly [header: string, width: number])[];

const changeLayout: Layout = [
  ['severity', 10],
  ['reference', 14],
  ['name', 26],
  ['what', 26],
  ['about', 15],
  ['birth_date', 12],
  ['countries', 11],
  ['after_name', 26],
  ['after_topics', 20],
  ['after_birth_dates', 16],
  ['after_countries', 14],
  ['after_hit', 7],
  ['after_score', 8],
  ['before_name', 26],
  ['before_topics', 20],
  ['before_birth_dates', 16],
  ['before_countries', 14],
  ['before_hit', 7],
  ['before_score', 8],
  ['fields', 18],
  ['birth_date_agreement', 14],
  ['country_agreement', 14],
  ['cause', 16],
  ['rule', 22],
  ['adjustments', 18],
  ['group', 8],
  ['item_state', 11],
  ['item_due', 21],
  ['item_assigned_to', 16],
  ['item_last_said', 32],
  ['role', 12],
  ['type', 9],
  ['risk_tier', 10],
  ['match_id', 24],
  ['change_id', 11],
];

const dossierFacts = ['status', 'name', 'reference', 'risk_score', 'documents', 'completed_at', 'updated_at'] as const;
const dossierWidths = {
  ...{ status: 14, name: 26, reference: 14, risk_score: 9 },
  documents: 11,
  completed_at: 21,
  updated_at: 21,
};
const toDossierLayout = (when: string): Layout =>
  dossierFacts.map((fact) => [`${when}_dossier_${fact}`, dossierWidths[fact]]);
const dossierLayout: Layout = [
  ['what', 26],
  ['dossier_id', 26],
  ['dossier_customer_known', 12],
  ['fields', 20],
  ...toDossierLayout('before'),
  ...toDossierLayout('after'),
  ['change_id', 11],
];

const notScreenedLayout: Layout = [
  ['reference', 14],
  ['name', 30],
  ['birth_date', 12],
  ['countries', 11],
  ['outcome', 11],
  ['why', 44],
  ['last_screened_at', 21],
  ['risk_tier', 10],
  ['role', 14],
  ['type', 9],
  ['reason', 24],
];

/** Every change of a match, most severe first, then every match of a first screening; null for a run that compares none. */
export function toChangesSheet({ changes, baseline, cut }: Report, above: readonly SheetRow[]): Sheet | null {
  if (changes === null) return null;
  // Where changes are cut, what of first screenings is held does not follow on what is shown of them.
  const first = cut.changes === null ? baseline : [];
  const lines = [
    ...changes.flatMap((group) =>
      group.changes.map((change): ChangeLine => ({ about: 'match', change, dossier: null })),
    ),
    ...first.flatMap((group) =>
      group.changes.map((change): ChangeLine => ({ about: 'first_screening', change, dossier: null })),
    ),
  ];
  const file = 'changes.csv';
  return toTableSheet(lines, {
    count: [...changes, ...baseline].reduce((sum, { count }) => sum + count, 0),
    name: 'All changes',
    columns: changeColumns,
    layout: changeLayout,
    firstColumns: 3,
    file,
    above,
  });
}

/** Every change of a dossier; null where no sweep is covered. */
export function toDossiersSheet({ dossiers }: Report, above: readonly SheetRow[]): Sheet | null {
  if (dossiers === null) return null;
  const lines = dossiers.changes.map((dossier): ChangeLine => ({ about: 'dossier', change: null, dossier }));
  const file = 'changes.csv';
  return toTableSheet(lines, {
    name: 'Dossiers',
    columns: changeColumns,
    layout: dossierLayout,
    firstColumns: 2,
    file,
    above,
  });
}

/** Every customer in scope without a valid screening; null for a run that screens nobody. */
export function toNotScreenedSheet({ notScreened, cut }: Report, above: readonly SheetRow[]): Sheet | null {
  if (notScreened === null) return null;
  const file = 'not-screened.csv';
  return toTableSheet(notScreened, {
    ...{ name: 'Not screened', columns: notScreenedColumns, count: cut.notScreened?.lines ?? notScreened.length },
    ...{ layout: notScreenedLayout, firstColumns: 2, file, above },
  });
}
