import { expect, it } from 'vitest';
import { diffMatches } from '../../../src/changes/match-changes.js';
import { changeSettingsSchema, toSeverity } from '../../../src/changes/severity.js';
import type { Match } from '../../../src/matches/match.js';
import { makeMatch as match } from '../../helpers/run-facts.js';

const settings = changeSettingsSchema.parse({});

/** How a difference is judged where nothing but the answers is known. */
const assess = (
  before: Match | null,
  after: Match | null,
  facts: Partial<Parameters<typeof toSeverity>[0]> = {},
  changed = settings,
) => {
  const list = (one: Match | null) => (one ? [one] : []);
  const known = { matches: list(before), unreturned: [], removed: [], reportedScores: {} };
  const current = { total: list(after).length, truncated: false, matches: list(after) };
  const [difference] = diffMatches(known, current, 0.02).differences;
  if (!difference) throw new Error('no difference');
  const subject: Parameters<typeof toSeverity>[0] = {
    difference,
    corroboration: { birthDate: 'unknown', country: 'unknown' },
    cause: 'service_data',
    isTrueMatch: false,
    riskTier: null,
    ...facts,
  };
  const { severity, rule, adjustments } = toSeverity(subject, changed);
  return [severity, rule, ...adjustments].join(' ');
};

const sanctioned = match({ topics: ['sanction'] });
const pep = match({ topics: ['role.pep'] });

it.each([
  ['a hit that becomes sanctioned', pep, match({ topics: ['role.pep', 'sanction'] }), 'critical sanction_hit_gained'],
  [
    'a sanctioned match that becomes a hit',
    match({ topics: ['sanction'], isHit: false }),
    sanctioned,
    'critical sanction_hit_gained',
  ],
  ['a wanted hit', null, match({ topics: ['wanted'] }), 'high crime_hit_gained'],
  ['a weak match that went', match({ isHit: false }), null, 'low other_change'],
] as const)('%s is judged by its rule', (_title, before, after, verdict) => {
  expect(assess(before, after)).toBe(verdict);
});

const born = (birthDate: 'agree' | 'contradict' | 'unknown') => ({
  corroboration: { birthDate, country: 'contradict' as const },
});
const below = match({ topics: ['sanction'], isHit: false });

it('a birth date that agrees makes a sanction below the threshold urgent', () => {
  expect(assess(null, below, born('agree'))).toBe('high sanction_birth_date_agrees');
  expect(assess(null, below, born('unknown'))).toBe('medium sanction_below_threshold');
  expect(assess(null, below, born('contradict'))).toBe('medium sanction_below_threshold');
});

it('the risk tier only raises, and never to critical', () => {
  expect(assess(null, pep, { riskTier: 'high' })).toBe('high pep_hit_gained risk_tier');
  expect(assess(null, match({ topics: ['crime'] }), { riskTier: 'high' })).toBe('high crime_hit_gained');
  expect(assess(null, pep, { riskTier: 'low' })).toBe('medium pep_hit_gained');
  expect(assess(pep, match({ topics: ['role.pep'], id: 'amla_two' }), { riskTier: 'high' })).toBe('info rekeyed');
});

it('facts of the customer that change about a confirmed match are urgent', () => {
  const moved = match({ topics: ['role.pep'], score: 0.95 });
  expect(assess(pep, moved, { isTrueMatch: true, cause: 'customer_record' })).toBe('high true_match_customer_changed');
  expect(assess(pep, moved, { isTrueMatch: true })).toBe('low other_change');
  expect(assess(pep, moved, { cause: 'customer_record' })).toBe('low other_change');
});

it('a match that is back is judged like a new one', () => {
  const known = { matches: [], unreturned: [], removed: [sanctioned], reportedScores: {} };
  const [difference] = diffMatches(known, { total: 1, truncated: false, matches: [sanctioned] }, 0.02).differences;
  expect(difference).toMatchObject({ kind: 'match_returned', fields: [] });
  if (!difference) return;
  const corroboration = { birthDate: 'unknown', country: 'unknown' } as const;
  const subject = { difference, corroboration, cause: 'service_data', isTrueMatch: false, riskTier: null } as const;
  expect(toSeverity(subject, settings)).toMatchObject({ severity: 'critical', rule: 'sanction_hit_gained' });
});

it('the configuration changes single severities and what a topic means', () => {
  const changed = changeSettingsSchema.parse({
    severities: { pep_hit_gained: 'high' },
    topics: { sanction: ['sanction', 'moon'] },
  });
  expect(assess(null, pep, {}, changed)).toBe('high pep_hit_gained');
  expect(assess(null, match({ topics: ['moon.far'] }), {}, changed)).toBe('critical sanction_hit_gained');
  expect(changeSettingsSchema.safeParse({ severities: { no_such_rule: 'high' } }).success).toBe(false);
});
