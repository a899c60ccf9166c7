import { expect, it } from 'vitest';
import { diffMatches } from '../../../src/changes/diff-matches.js';
import { toSeverity } from '../../../src/changes/severity.js';
import type { Match } from '../../../src/matches/match.js';

const match = (facts: Partial<Match> = {}): Match => ({
  rank: 1,
  id: 'amla_one',
  name: 'Ada Ficticia',
  schema: 'Person',
  isHit: true,
  score: 0.9,
  topics: [],
  birthDates: [],
  countries: [],
  ...facts,
});

const judge = (before: Match | null, after: Match | null): string => {
  const list = (one: Match | null) => (one ? [one] : []);
  const known = { matches: list(before), unreturned: [], reportedScores: {} };
  const current = { total: list(after).length, truncated: false, matches: list(after) };
  const [difference] = diffMatches(known, current, 0.02).differences;
  if (!difference) throw new Error('no difference');
  const { severity, rule } = toSeverity(difference);
  return `${severity} ${rule}`;
};

const sanctioned = match({ topics: ['sanction'] });
const pep = match({ topics: ['role.pep'] });

it.each([
  ['a sanctioned hit that is new', null, sanctioned, 'critical sanction_hit_gained'],
  ['a hit that becomes sanctioned', pep, match({ topics: ['role.pep', 'sanction'] }), 'critical sanction_hit_gained'],
  [
    'a sanctioned match that becomes a hit',
    match({ topics: ['sanction'], isHit: false }),
    sanctioned,
    'critical sanction_hit_gained',
  ],
  [
    'a sanctioned match below the threshold',
    null,
    match({ topics: ['sanction'], isHit: false }),
    'high sanction_below_threshold',
  ],
  ['a wanted hit', null, match({ topics: ['wanted'] }), 'high crime_hit_gained'],
  ['a topic that nobody knows', null, match({ topics: ['moon'], isHit: false }), 'high unknown_topic'],
  ['a hit without any topic', null, match(), 'high hit_without_topic'],
  ['a PEP hit', null, pep, 'medium pep_hit_gained'],
  ['a relative that is a hit', null, match({ topics: ['role.rca'] }), 'medium hit_gained'],
  ['a delisted hit', sanctioned, null, 'medium delisted'],
  ['a hit that fell below the threshold', sanctioned, match({ topics: ['sanction'], isHit: false }), 'medium hit_lost'],
  ['a sanction topic that went', match({ topics: ['sanction', 'role.pep'] }), pep, 'medium sanction_topic_lost'],
  [
    'a birth date added to a hit',
    pep,
    match({ topics: ['role.pep'], birthDates: ['1960'] }),
    'medium hit_facts_changed',
  ],
  ['a country added', pep, match({ topics: ['role.pep'], countries: ['fr'] }), 'low other_change'],
  ['a weak match that went', match({ isHit: false }), null, 'low other_change'],
  ['a new id for the same party', pep, match({ topics: ['role.pep'], id: 'amla_two' }), 'info rekeyed'],
] as const)('%s is judged by its rule', (_title, before, after, verdict) => {
  expect(judge(before, after)).toBe(verdict);
});
