import { type ChangeLine, changeColumns } from '../changes-csv.js';
import type { SheetLayout } from '../list-sheet.js';
import { notScreenedColumns } from '../not-screened-csv.js';
import type { Report } from '../report.js';
import type { Sheet, SheetRow } from '../spreadsheet/sheet.js';
import { toTableSheet } from './table-sheet.js';

const changeLayout: SheetLayout = [
  ['severity', 10],
  ['reference', 14, 'Customer'],
  ['name', 26],
  ['what', 26, 'What happened'],
  ['about', 15],
  ['birth_date', 12, 'Born'],
  ['countries', 11],
  ['after_name', 26, 'Listed party now'],
  ['after_topics', 20, 'Listed for now'],
  ['after_birth_dates', 16, 'Listed party born now'],
  ['after_countries', 14, 'Listed countries now'],
  ['after_hit', 7, 'Hit now'],
  ['after_score', 8, 'Score now'],
  ['before_name', 26, 'Listed party before'],
  ['before_topics', 20, 'Listed for before'],
  ['before_birth_dates', 16, 'Listed party born before'],
  ['before_countries', 14, 'Listed countries before'],
  ['before_hit', 8, 'Hit before'],
  ['before_score', 8, 'Score before'],
  ['customer_before_name', 26, 'Customer before'],
  ['customer_before_birth_date', 12, 'Customer born before'],
  ['customer_before_countries', 12, 'Customer countries before'],
  ['customer_before_type', 10, 'Customer type before'],
  ['fields', 18, 'Fields that changed'],
  ['birth_date_agreement', 14, 'Birth dates'],
  ['country_agreement', 14, 'Countries compared'],
  ['cause', 16],
  ['rule', 22],
  ['adjustments', 18],
  ['group', 8],
  ['item_state', 11, 'Alert'],
  ['item_due', 21, 'Alert due'],
  ['item_assigned_to', 16, 'Alert assigned to'],
  ['item_last_said', 32, 'Last decision'],
  ['replaced_decision', 32, 'Decision about a like match before'],
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
const toDossierLayout = (when: string): SheetLayout =>
  dossierFacts.map((fact) => [`${when}_dossier_${fact}`, dossierWidths[fact]]);
const dossierLayout: SheetLayout = [
  ['what', 26],
  ['dossier_id', 26],
  ['dossier_customer_known', 12],
  ['fields', 20],
  ...toDossierLayout('before'),
  ...toDossierLayout('after'),
  ['change_id', 11],
];

const notScreenedLayout: SheetLayout = [
  ['reference', 14, 'Customer'],
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
