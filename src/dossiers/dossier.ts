import { type DossierSummary, dossierSummarySchema } from '../client/dossiers.js';
import type { FactsOf } from '../vocabulary/facts.js';
import type { dossierSchema } from '../vocabulary/source-facts.js';

/** A dossier of the service's list (interface: Dossier summary); absent values are null. */
export type DossierSnapshot = FactsOf<typeof dossierSchema>;

/** Converts a row of the service's list to a snapshot; instants become UTC, so that another spelling of the same moment is no change. */
export function toDossierSnapshot(row: DossierSummary): DossierSnapshot {
  return {
    id: row.id,
    token: row.token ?? null,
    type: row.type,
    status: row.status,
    name: row.name ?? null,
    reference: row.reference ?? null,
    riskScore: row.risk_score ?? null,
    isTest: row.is_test ?? null,
    downloadStatus: row.download_status ?? null,
    documentsCount: row.documents_count ?? null,
    createdAt: toUtc(row.created_at),
    updatedAt: toUtc(row.updated_at),
    completedAt: row.completed_at == null ? null : toUtc(row.completed_at),
  };
}

/**
 * Converts the record of a single dossier to a snapshot. The interface promises only some fields of the list in it; a missing field keeps its
 * known value. Null if required fields stay unknown.
 */
export function toLookedUpSnapshot(detail: unknown, known: DossierSnapshot | null): DossierSnapshot | null {
  const fields = typeof detail === 'object' && detail !== null ? Object.entries(detail) : [];
  const said = fields.filter(([name, value]) => name in dossierSummarySchema.shape && value !== undefined);
  const row = dossierSummarySchema.safeParse({ ...(known && toRow(known)), ...Object.fromEntries(said) });
  return row.success ? toDossierSnapshot(row.data) : null;
}

const toRow = (known: DossierSnapshot): DossierSummary => ({
  id: known.id,
  token: known.token,
  type: known.type,
  status: known.status,
  name: known.name,
  reference: known.reference,
  risk_score: known.riskScore,
  is_test: known.isTest,
  download_status: known.downloadStatus,
  documents_count: known.documentsCount,
  created_at: known.createdAt,
  updated_at: known.updatedAt,
  completed_at: known.completedAt,
});

const toUtc = (instant: string): string => new Date(instant).toISOString();
