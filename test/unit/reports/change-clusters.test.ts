import { expect, it } from 'vitest';
import type { Match } from '../../../src/matches/match.js';
import { clusterSize, findClusterOf, findClusters, nameClusters } from '../../../src/reports/change-groups.js';
import type { MatchChangeFacts } from '../../../src/reports/run-facts.js';
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
function splitClusters(
  changes: readonly MatchChangeFacts[],
  severity: MatchChangeFacts['severity'],
  firstNumber: number,
) {
  const reported = changes.map((change) => ({ ...change, severity }));
  const clusters = nameClusters(findClusters(reported, severity), firstNumber);
  const findCluster = findClusterOf(clusters);
  return {
    single: changes.filter((_, index) => findCluster(reported[index] ?? buildChange()) === undefined),
    clusters,
  };
}

it('one listed party that touches many customers is one line', () => {
  const changes = many(clusterSize.from, { kind: 'match_changed', fields: ['topics'] });
  const { single, clusters } = splitClusters(changes, 'low', 3);
  expect(single).toEqual([]);
  expect(clusters).toMatchObject([
    { name: 'G3', by: 'listed_party', customers: clusterSize.from, changes: clusterSize.from },
  ]);
});

it('one kind of change that touches many customers is one line, whoever is listed', () => {
  const rekeyed = many(30, { kind: 'match_rekeyed', fields: [] }, ownId);
  const scored = many(25, { kind: 'match_changed', fields: ['score'] }, ownId);
  const alone = build(99, { kind: 'match_changed', fields: ['country'] });
  const { single, clusters } = splitClusters([...scored, alone, ...rekeyed], 'low', 1);
  expect(single).toEqual([alone]);
  expect(clusters.map(({ name, by, customers }) => [name, by, customers])).toEqual([
    ['G1', 'kind_of_change', 30],
    ['G2', 'kind_of_change', 25],
  ]);
});

it('hits for sanctions stand one by one, however many', () => {
  const changes = many(100, { kind: 'match_added', before: null, isSanctionHit: true }, () => ({ isHit: true }));
  expect(splitClusters(changes, 'critical', 1)).toEqual({ single: changes, clusters: [] });
});

it('new hits of different people stand one by one, those of one listed party do not', () => {
  const different = many(50, { kind: 'match_added', before: null }, (number) => ({ ...ownId(number), isHit: true }));
  expect(splitClusters(different, 'medium', 1).clusters).toEqual([]);
  const same = many(50, { kind: 'match_added', before: null }, () => ({ isHit: true }));
  expect(splitClusters(same, 'medium', 1).clusters).toHaveLength(1);
});

it('one change less than many stands one by one, and so do many changes of few customers', () => {
  expect(splitClusters(many(clusterSize.from - 1, { kind: 'match_rekeyed', fields: [] }), 'info', 1).clusters).toEqual(
    [],
  );
  const fewCustomers = many(100, { kind: 'match_rekeyed', fields: [] }).map((change, index) => ({
    ...change,
    party: { ...change.party, reference: `C-${index % (clusterSize.from - 1)}` },
  }));
  expect(splitClusters(fewCustomers, 'info', 1).clusters).toEqual([]);
});
