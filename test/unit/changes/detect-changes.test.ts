import { expect, it } from 'vitest';
import { detectChanges } from '../../../src/changes/detect-changes.js';
import { changeSettingsSchema } from '../../../src/changes/settings.js';
import type { MatchSet } from '../../../src/matches/match.js';
import { makeMatch } from '../../helpers/make-match.js';

const match = makeMatch({ topics: ['sanction'] });
const found: MatchSet = { total: 1, truncated: false, matches: [match] };
const origin = { requestId: 1, customerVersion: 1, settingsDigest: 'a' };
const settings = changeSettingsSchema.parse({});
const party = { birthDate: null, countries: [], riskTier: null };
const detect = (now: typeof origin) =>
  detectChanges(
    { matches: [], unreturned: [], removed: [], reportedScores: {}, origin, confirmedIds: new Set() },
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
