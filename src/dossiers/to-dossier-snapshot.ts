import type { DossierSummary } from '../client/resources/dossiers.js';
import type { DossierSnapshot } from './dossier.js';

/** Turns a row of the service's list into a snapshot; instants become UTC so that two spellings of one moment are no change. */
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

const toUtc = (instant: string): string => new Date(instant).toISOString();
