import { expect, it } from 'vitest';
import { detectChanges, type PartySaid } from '../../../src/changes/match-changes.js';
import { changeSettingsSchema } from '../../../src/changes/severity.js';
import type { MatchSet } from '../../../src/matches/match.js';
import { makeMatch } from '../../helpers/run-facts.js';

const match = makeMatch({ topics: ['sanction'] });
const found: MatchSet = { total: 1, truncated: false, matches: [match] };
const origin = { requestId: 1, customerVersion: 1, settingsDigest: 'a' };
const settings = changeSettingsSchema.parse({});
const party = { birthDate: null, countries: [], riskTier: null };
const detect = (now: typeof origin) =>
  detectChanges(
    { matches: [], unreturned: [], removed: [], reportedScores: {}, origin, trueMatchIds: new Set() },
    { matchSet: found, origin: now, party },
    settings,
  ).changes;

it('a first screening gives the baseline, not news', () => {
  const { changes } = detectChanges(null, { matchSet: found, origin, party }, settings);
  expect(changes).toMatchObject([{ isBaseline: true, severity: 'critical', difference: { kind: 'match_added' } }]);
});

it('the cause is read off the fingerprints: settings before the customer\u2019s record before the service\u2019s data', () => {
  expect(detect(origin)).toMatchObject([{ cause: 'service_data', isBaseline: false }]);
  expect(detect({ ...origin, requestId: 2 })).toMatchObject([{ cause: 'customer_record' }]);
  expect(detect({ ...origin, customerVersion: 2 })).toMatchObject([{ cause: 'customer_record' }]);
  expect(detect({ requestId: 2, customerVersion: 2, settingsDigest: 'b' })).toMatchObject([{ cause: 'settings' }]);
});

it.each<[string, Partial<PartySaid>, Partial<PartySaid>, string]>([
  [
    'a doubt that is read now',
    { doubts: { countries: 'Deutschland' } },
    { countries: ['de'], said: { countries: 'Deutschland' } },
    'settings',
  ],
  [
    'a date that another format reads',
    { birthDate: '1980-03-04', said: { birthDate: '03/04/1980' } },
    { birthDate: '1980-04-03', said: { birthDate: '03/04/1980' } },
    'settings',
  ],
  [
    'a year that was read without doubt',
    { birthDate: '1405-03-02' },
    { doubts: { birthDate: '02.03.1405' }, said: { birthDate: '1405-03-02' } },
    'settings',
  ],
  ['another text', { doubts: { birthDate: '31.02.1980' } }, { birthDate: '1980-02-28' }, 'customer_record'],
  [
    'another text beside one that is read now',
    { doubts: { countries: 'Deutschland' } },
    { birthDate: '1980-02-28', countries: ['de'], said: { countries: 'Deutschland' } },
    'customer_record',
  ],
  [
    'a record that differs in nothing of the kind',
    { birthDate: '1980-02-28' },
    { birthDate: '1980-02-28' },
    'customer_record',
  ],
])('of %s the cause follows from what the source says', (_title, before, after, cause) => {
  const nothing: PartySaid = { birthDate: null, countries: [], riskTier: null, doubts: {}, said: {} };
  const known = { ...origin, said: { ...nothing, ...before } };
  const { changes } = detectChanges(
    { matches: [], unreturned: [], removed: [], reportedScores: {}, origin: known, trueMatchIds: new Set() },
    { matchSet: found, origin: { ...origin, customerVersion: 2, said: { ...nothing, ...after } }, party },
    settings,
  );
  expect(changes).toMatchObject([{ cause }]);
});
