import type { DossierSnapshot } from '../dossiers/dossier.js';

/** What happened to a dossier between two sweeps (DESIGN: Dossier changes). */
export const dossierChangeKinds = [
  'dossier_appeared',
  'dossier_status_changed',
  'dossier_changed',
  'dossier_touched',
  'dossier_returned',
  'dossier_gone',
] as const;
export type DossierChangeKind = (typeof dossierChangeKinds)[number];

/** One change of a dossier; `fields` names what differs under the service's names, without `updated_at`, sorted. */
export type DossierChange =
  | {
      kind: 'dossier_appeared' | 'dossier_returned';
      before: DossierSnapshot | null;
      after: DossierSnapshot;
      fields: readonly string[];
    }
  | { kind: 'dossier_gone'; before: DossierSnapshot; after: null; fields: readonly string[] }
  | {
      kind: 'dossier_status_changed' | 'dossier_changed' | 'dossier_touched';
      before: DossierSnapshot;
      after: DossierSnapshot;
      fields: readonly string[];
    };
