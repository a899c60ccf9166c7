import { expect, it } from 'vitest';
import { diffDossier } from '../../../src/changes/dossier-changes.js';
import type { DossierSnapshot } from '../../../src/dossiers/dossier.js';

const dossier: DossierSnapshot = {
  id: 'dossier_one',
  token: 'ABC123DEF',
  type: 'kyc',
  status: 'approved',
  name: 'Ada Ficticia',
  reference: 'C-1',
  riskScore: 10,
  isTest: true,
  downloadStatus: 'not_downloaded',
  documentsCount: 1,
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-02T00:00:00.000Z',
  completedAt: null,
};
const compare = (facts: Partial<DossierSnapshot>, isGone = false) => {
  const change = diffDossier({ snapshot: dossier, isGone }, { ...dossier, ...facts });
  return change && [change.kind, ...change.fields];
};

it('each difference of a dossier has its kind and names its fields', () => {
  expect(diffDossier(null, dossier)).toMatchObject({ kind: 'dossier_appeared', before: null });
  expect(compare({})).toBeNull();
  expect(compare({ updatedAt: '2026-02-02T00:00:00.000Z' })).toEqual(['dossier_touched']);
  expect(compare({ riskScore: 20, documentsCount: 2 })).toEqual(['dossier_changed', 'documents_count', 'risk_score']);
  expect(compare({ status: 'needs_attention', riskScore: 20 })).toEqual([
    'dossier_status_changed',
    'risk_score',
    'status',
  ]);
  expect(compare({}, true)).toEqual(['dossier_returned']);
});
