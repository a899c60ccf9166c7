import type { SandboxDossier, WatchlistEntry } from '../../../src/sandbox/world.js';

/** A listed person or organisation with only what a test cares about. */
export const listed = (id: string, name: string, more: Partial<WatchlistEntry> = {}): WatchlistEntry => ({
  id,
  schema: 'Person',
  name,
  aliases: [],
  topics: ['sanction'],
  birth_date: [],
  country: [],
  ...more,
});

/** A dossier with only what a test cares about. */
export const dossier = (key: string, more: Partial<SandboxDossier> = {}): SandboxDossier => ({
  id: `dossier_${key}`,
  token: `TOKEN${key}`,
  type: 'kyc',
  status: 'approved',
  name: `Name ${key}`,
  reference: `C-${key}`,
  risk_score: 1,
  is_test: true,
  download_status: 'not_downloaded',
  documents_count: 1,
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  completed_at: null,
  ...more,
});
