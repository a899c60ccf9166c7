import { expect, it } from 'vitest';
import { changeSettingsSchema } from '../../../../src/changes/severity.js';
import { toSeenFacts } from '../../../../src/matches/alert.js';
import { toAlertChanges } from '../../../../src/runs/review/alerts.js';
import { reviewSettingsSchema } from '../../../../src/runs/review/settings.js';
import type { StoredAlert } from '../../../../src/store/review/projection.js';
import type { Severity } from '../../../../src/vocabulary.js';
import { makeMatch } from '../../../helpers/run-facts.js';

const now = new Date('2026-11-18T10:00:00Z');
const longAgo = new Date('2026-11-18T08:00:00Z');
const soon = new Date('2026-11-18T12:00:00Z');
const customer = { role: 'customer', type: 'person', name: 'Ada Ficticia', birthDate: null, countries: [] } as const;
const before = makeMatch({ topics: ['sanction'], countries: ['fr'] });
const after = { ...before, countries: ['de', 'fr'] };

const settings = {
  calendar: { ...reviewSettingsSchema.parse({}), timezone: 'UTC' },
  changeSettings: changeSettingsSchema.parse({}),
  now,
};

/** What becomes of a critical alert when the list adds a country, which is a change of this severity. */
function change(state: StoredAlert['state'], severity: Severity) {
  const seen = toSeenFacts(customer, before);
  const isFinal = state !== 'pending_approval';
  const disposition = { verdict: 'true_match', isFinal, seen, expiresAt: null } as const;
  const alert: StoredAlert = {
    alertId: 1,
    partyId: 1,
    listed: before,
    state,
    disposition,
    severity: 'critical',
    rule: 'sanction_hit',
    priority: 900,
    openedAt: longAgo,
    dueAt: soon,
    isTrueMatch: state === 'true_match',
    isProvisional: false,
    absence: null,
    customer,
  };
  const unknown = { birthDate: 'unknown', country: 'unknown' } as const;
  const reported = {
    matchId: before.id,
    kind: 'match_changed' as const,
    severity,
    rule: 'other_change',
    corroboration: unknown,
    isBaseline: false,
  };
  const party = {
    partyId: 1,
    customerVersion: 1,
    customer,
    isCurrent: true,
    riskTier: null,
    matches: [after],
    changes: new Map([[before.id, reported]]),
    causes: new Map(),
  };
  return toAlertChanges(party, [alert], settings);
}

it('what is open again because of a small change is worth no less than it was, so that it takes as many people again', () => {
  expect(change('true_match', 'low')).toMatchObject([{ state: 'open', severity: 'critical', rule: 'sanction_hit' }]);
  expect(change('false_positive', 'info')).toMatchObject([{ state: 'open', severity: 'critical' }]);
});

it('what was only proposed and is open again keeps its age, and is due no later than it was', () => {
  expect(change('pending_approval', 'low')).toMatchObject([
    { state: 'open', severity: 'critical', openedAt: longAgo, dueAt: soon },
  ]);
  expect(change('false_positive', 'low')).toMatchObject([{ openedAt: now }]);
});

it('what a birth date lowered is rated as new once the date is unknown, and nothing is lowered by a date that comes', () => {
  const listed = makeMatch({ topics: ['sanction'], birthDates: ['1961-04-09'] });
  const rate = (from: string | null, to: string | null, severity: Severity, state: StoredAlert['state'] = 'open') => {
    const [was, is] = [from, to].map((birthDate) => ({ ...customer, birthDate }));
    if (was === undefined || is === undefined) throw new Error('expected two records');
    const seen = toSeenFacts(was, listed);
    const disposition = {
      verdict: 'false_positive',
      isFinal: true,
      seen,
      expiresAt: null,
    } as const;
    const alert: StoredAlert = {
      alertId: 1,
      partyId: 1,
      listed,
      state,
      disposition: state === 'open' ? null : disposition,
      severity,
      rule: 'sanction_hit_gained',
      priority: 700,
      openedAt: longAgo,
      dueAt: soon,
      isTrueMatch: false,
      isProvisional: false,
      absence: null,
      customer: was,
    };
    const party = {
      partyId: 1,
      customerVersion: 2,
      customer: is,
      isCurrent: true,
      riskTier: null,
      matches: [listed],
      changes: new Map(),
      causes: new Map(),
    };
    return toAlertChanges(party, [alert], settings);
  };
  const reasons = ['customer_birth_date'];
  for (const to of [null, '1975-06-15?', '1961-04-09']) {
    expect(rate('1975-06-15', to, 'high')).toMatchObject([
      { severity: 'critical', rule: 'sanction_hit_gained', event: { kind: 'escalated', reasons } },
    ]);
  }
  expect(rate('1975-06-15', null, 'high', 'false_positive')).toMatchObject([
    { state: 'open', severity: 'critical', event: { kind: 'reopened', reasons } },
  ]);
  expect(rate('1975-06-15', '1978-05-20', 'high')).toMatchObject([{ severity: 'high', event: null }]);
  expect(rate(null, '1978-05-20', 'critical')).toMatchObject([{ severity: 'critical', event: null }]);
});
