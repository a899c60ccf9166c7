import type { DossierSnapshot } from '../dossiers/dossier.js';

/** The compared fields under the service's names; `updated_at` alone is a touch, not a change. */
const comparedFields: Readonly<Record<string, (dossier: DossierSnapshot) => unknown>> = {
  completed_at: (dossier) => dossier.completedAt,
  created_at: (dossier) => dossier.createdAt,
  documents_count: (dossier) => dossier.documentsCount,
  download_status: (dossier) => dossier.downloadStatus,
  is_test: (dossier) => dossier.isTest,
  name: (dossier) => dossier.name,
  reference: (dossier) => dossier.reference,
  risk_score: (dossier) => dossier.riskScore,
  status: (dossier) => dossier.status,
  token: (dossier) => dossier.token,
  type: (dossier) => dossier.type,
};

/**
 * The change of a dossier since the last sweep (`isGone` when a proven sweep did not find it), or null; a status change outranks other
 * fields.
 */
export function diffDossier(
  known: { snapshot: DossierSnapshot; isGone: boolean } | null,
  after: DossierSnapshot,
): DossierChange | null {
  if (!known) return { kind: 'dossier_appeared', before: null, after, fields: [] };
  const before = known.snapshot;
  const fields = Object.entries(comparedFields)
    .filter(([, read]) => read(before) !== read(after))
    .map(([field]) => field);
  if (known.isGone) return { kind: 'dossier_returned', before, after, fields };
  if (fields.includes('status')) return { kind: 'dossier_status_changed', before, after, fields };
  if (fields.length > 0) return { kind: 'dossier_changed', before, after, fields };
  return before.updatedAt === after.updatedAt ? null : { kind: 'dossier_touched', before, after, fields };
}

/** A change of a dossier; `fields` has the service's names of the changed fields, without `updated_at`, sorted. */
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
