import { type DossierSummary, dossierSummarySchema } from '../client/dossiers.js';

/** A dossier as one row of the service's list shows it (interface: Dossier summary); absent values are null. */
export interface DossierSnapshot {
  id: string;
  token: string | null;
  type: string;
  /** One of the interface's business states, or a word it does not list. */
  status: string;
  name: string | null;
  /** The customer reference. */
  reference: string | null;
  riskScore: number | null;
  isTest: boolean | null;
  downloadStatus: string | null;
  documentsCount: number | null;
  createdAt: string;
  updatedAt: string;
  completedAt: string | null;
}

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

/**
 * A dossier as its own look-up shows it, in the form of the list. Of the list's fields the interface promises only some there: one that is
 * left out stays as it was known. Null where that does not suffice, so that only the list can say it.
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
