import { describe, expect, it } from 'vitest';
import {
  assessControl,
  type ControlSearch,
  controlKinds,
  findControlCoverage,
  findScript,
} from '../../../src/matches/control.js';
import { type MatchSet, treatAsTruncated } from '../../../src/matches/match.js';
import { countControlSearches } from '../../../src/runs/screening/plan.js';
import { buildMatch } from '../../helpers/run-facts.js';
import { readDemoControls } from '../../helpers/small-world.js';

const answer = (...topics: string[][]): MatchSet => ({
  total: topics.length,
  truncated: false,
  matches: topics.map((topics, index) => buildMatch({ rank: index + 1, topics })),
});
const listed: ControlSearch = { type: 'person', name: 'Ivan Testov', expect: 'match' };

describe('a control', () => {
  it('passes by any hit, or by one that carries one of its topics', () => {
    expect(assessControl(listed, answer(['poi']))).toBeNull();
    expect(assessControl({ ...listed, topics: ['sanction', ' Debarment'] }, answer(['poi'], ['debarment']))).toBeNull();
  });

  it('fails in words when the hit is missing, of another list, or not wanted', () => {
    expect(assessControl(listed, answer())).toBe('no hit among 0 results for a listed party');
    expect(assessControl({ ...listed, topics: ['sanction'] }, answer(['role.pep']))).toBe(
      '1 hits for a listed party, none of them with sanction',
    );
    expect(assessControl({ ...listed, expect: 'none' }, answer(['poi']))).toBe('1 hits for a name that is on no list');
  });

  it('is of the script of its letters', () => {
    expect(['Jörg O\u2019Neill-Łoś 3', 'Ágota Kőszeghalmi', '123'].map(findScript)).toEqual([
      'latin',
      'latin',
      'latin',
    ]);
    expect(['Иван Тестов', 'ООО Test', '山田 太郎', 'محمد'].map(findScript)).toEqual(Array(4).fill('other'));
  });

  it('stands for a list only when each of its topics is of that list', () => {
    const coverage = findControlCoverage([
      listed,
      { ...listed, topics: ['sanction', 'role.pep'] },
      { ...listed, topics: ['sanction.linked', 'sanction'] },
      { type: 'entity', name: 'Тест', expect: 'match', topics: ['role.rca'] },
    ]);
    expect(coverage.covered).toEqual([
      'person on a sanctions list, Latin script',
      'company politically exposed, other script',
    ]);
    expect(coverage.missing).toHaveLength(controlKinds.length - 2);
  });

  it('of every kind is in the demo', async () => {
    expect(findControlCoverage(await readDemoControls()).missing).toEqual([]);
  });
});

it('the control searches of a run are foretold: first, after every so many, and last', () => {
  expect([0, 1, 10_000, 10_001, 30_000].map((searches) => countControlSearches(searches, 9, 10_000))).toEqual([
    9, 18, 18, 27, 36,
  ]);
});

it('a list of just the length at which lists are cut is taken for cut, and no other', () => {
  const matchSet = answer(['poi'], ['poi']);
  expect(treatAsTruncated(matchSet, 2)).toEqual({ ...matchSet, truncated: true });
  expect(treatAsTruncated(matchSet, 3)).toBe(matchSet);
  expect(treatAsTruncated(matchSet, null)).toBe(matchSet);
});
