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
