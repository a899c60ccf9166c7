import { expect, it } from 'vitest';
import type { Match } from '../../../src/matches/match.js';
import { findFloodOf, findFloods, floodFrom, nameFloods } from '../../../src/reports/change-groups.js';
import type { MatchChangeFacts } from '../../../src/reports/list-facts.js';
import { buildChange } from '../../helpers/run-facts.js';

const listed: Match = {
  rank: 1,
  id: 'amla_one',
  name: 'Vasily Invented',
  schema: 'Person',
  isHit: false,
  score: 0.8,
  topics: ['role.pep'],
  birthDates: [],
  countries: [],
};
const build = (number: number, facts: Partial<MatchChangeFacts>, match: Partial<Match> = {}): MatchChangeFacts => {
  const change = buildChange(facts);
  const after = { ...listed, ...match };
  return {
    ...change,
    changeId: number,
    party: { ...change.party, reference: `C-${number}` },
    before: facts.before === undefined ? listed : facts.before,
    after,
    matchId: after.id,
  };
};
const many = (
  count: number,
  facts: Partial<MatchChangeFacts>,
  toMatch: (number: number) => Partial<Match> = () => ({}),
) => Array.from({ length: count }, (_, index) => build(index, facts, toMatch(index)));
const ownId = (number: number) => ({ id: `amla_${number}`, name: `Person ${number}` });

/** What stands alone among changes of one severity, and what does not. */
function splitFloods(
  changes: readonly MatchChangeFacts[],
  severity: MatchChangeFacts['severity'],
  firstNumber: number,
) {
  const told = changes.map((change) => ({ ...change, severity }));
  const floods = nameFloods(findFloods(told, severity), firstNumber);
  const findFlood = findFloodOf(floods);
  return { single: changes.filter((_, index) => findFlood(told[index] ?? buildChange()) === undefined), floods };
}

it('one listed party that touches many customers is one line', () => {
  const changes = many(floodFrom, { kind: 'match_changed', fields: ['topics'] });
  const { single, floods } = splitFloods(changes, 'low', 3);
  expect(single).toEqual([]);
  expect(floods).toMatchObject([{ name: 'G3', by: 'listed_party', customers: floodFrom, changes: floodFrom }]);
});

it('one kind of change that touches many customers is one line, whoever is listed', () => {
  const rekeyed = many(30, { kind: 'match_rekeyed', fields: [] }, ownId);
  const scored = many(25, { kind: 'match_changed', fields: ['score'] }, ownId);
  const alone = build(99, { kind: 'match_changed', fields: ['country'] });
  const { single, floods } = splitFloods([...scored, alone, ...rekeyed], 'low', 1);
  expect(single).toEqual([alone]);
  expect(floods.map(({ name, by, customers }) => [name, by, customers])).toEqual([
    ['G1', 'kind_of_change', 30],
    ['G2', 'kind_of_change', 25],
  ]);
});

it('hits for sanctions stand one by one, however many', () => {
  const changes = many(100, { kind: 'match_added', before: null, isSanctionHit: true }, () => ({ isHit: true }));
  expect(splitFloods(changes, 'critical', 1)).toEqual({ single: changes, floods: [] });
});

it('new hits of different people stand one by one, those of one listed party do not', () => {
  const different = many(50, { kind: 'match_added', before: null }, (number) => ({ ...ownId(number), isHit: true }));
  expect(splitFloods(different, 'medium', 1).floods).toEqual([]);
  const same = many(50, { kind: 'match_added', before: null }, () => ({ isHit: true }));
  expect(splitFloods(same, 'medium', 1).floods).toHaveLength(1);
});

it('one change less than many stands one by one, and so do many changes of few customers', () => {
  expect(splitFloods(many(floodFrom - 1, { kind: 'match_rekeyed', fields: [] }), 'info', 1).floods).toEqual([]);
  const fewCustomers = many(100, { kind: 'match_rekeyed', fields: [] }).map((change, index) => ({
    ...change,
    party: { ...change.party, reference: `C-${index % (floodFrom - 1)}` },
  }));
  expect(splitFloods(fewCustomers, 'info', 1).floods).toEqual([]);
});
