import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { MatchDifference } from '../../../src/changes/change-event.js';
import { diffMatches as diffKnown, type KnownMatches } from '../../../src/changes/match-changes.js';
import type { Match, MatchSet } from '../../../src/matches/match.js';
import { isFullSize } from '../../helpers/figures.js';
import { makeMatch } from '../../helpers/run-facts.js';
import { arbitraryMatchSet } from './arbitrary-matches.js';

const step = 0.02;
const diffMatches = (
  before: Pick<KnownMatches, 'matches'> & Partial<KnownMatches>,
  after: MatchSet,
  reportedScores: KnownMatches['reportedScores'],
  scoreStep: number,
) => diffKnown({ unreturned: [], removed: [], ...before, reportedScores }, after, scoreStep);

const match = (facts: Partial<Match> = {}): Match =>
  makeMatch({ isHit: false, topics: ['role.pep'], birthDates: ['1960-01-01'], countries: ['fr'], ...facts });
const set = (matches: readonly Match[], total = matches.length): MatchSet => ({
  total,
  truncated: total > matches.length,
  matches: matches.map((one, index) => ({ ...one, rank: index + 1 })),
});
const kinds = (before: MatchSet, after: MatchSet) =>
  diffMatches(before, after, {}, step).differences.map(({ kind, fields }) => [kind, ...fields]);

/** What a reviewer who knew `before` knows after reading the differences. */
function applyDifferences(before: MatchSet, differences: readonly MatchDifference[]): Match[] {
  const known = new Map(before.matches.map((one) => [one.id, one]));
  // Everything that is no longer there under its id goes before anything comes: an id may have passed to another party.
  // What is back again was not there.
  for (const { kind, before: gone } of differences) if (gone && kind !== 'match_returned') known.delete(gone.id);
  for (const { after: come } of differences) if (come) known.set(come.id, come);
  return [...known.values()];
}

const withoutNoise = (matches: readonly Match[]) =>
  matches
    .map(({ rank: _rank, score: _score, ...facts }) => ({
      ...facts,
      topics: facts.topics.toSorted(),
      birthDates: facts.birthDates.toSorted(),
      countries: facts.countries.toSorted(),
    }))
    .toSorted((left, right) => (left.id < right.id ? -1 : 1));

describe('diffMatches', () => {
  it('applying the differences to the first match set gives the second', () => {
    fc.assert(
      fc.property(arbitraryMatchSet, arbitraryMatchSet, (before, after) => {
        const { differences } = diffMatches(before, after, {}, step);
        const result = applyDifferences(before, differences);
        expect(withoutNoise(result)).toEqual(withoutNoise(after.matches));
        for (const one of result) {
          const score = after.matches.find(({ id }) => id === one.id)?.score ?? Number.NaN;
          expect(Math.abs(one.score - score)).toBeLessThan(step);
        }
      }),
      { numRuns: isFullSize ? 2_000 : 200 },
    );
  });

  it('what was removed earlier and is back is returned, whatever else happened, and never new', () => {
    fc.assert(
      fc.property(arbitraryMatchSet, arbitraryMatchSet, arbitraryMatchSet, (before, after, gone) => {
        const known = { ...before, removed: gone.matches };
        const { differences } = diffMatches(known, after, {}, step);
        expect(withoutNoise(applyDifferences(before, differences))).toEqual(withoutNoise(after.matches));
        const ids = new Set(gone.matches.map(({ id }) => id));
        for (const { kind, matchId } of differences) if (kind === 'match_added') expect(ids).not.toContain(matchId);
      }),
      { numRuns: isFullSize ? 1_000 : 100 },
    );
  });

  it('a return tells what it was when it went', () => {
    const gone = match({ topics: ['sanction'] });
    const diff = diffMatches({ ...set([]), removed: [gone] }, set([match({ id: 'amla_new', topics: [] })]), {}, step);
    expect(diff.differences).toMatchObject([{ kind: 'match_returned', before: gone, fields: ['topics'] }]);
  });

  it('the order of arrays, ranks and score noise below the step are no change', () => {
    fc.assert(
      fc.property(
        arbitraryMatchSet,
        fc.infiniteStream(fc.double({ min: -0.009, max: 0.009, noNaN: true })),
        (before, noise) => {
          const shuffled = before.matches.toReversed().map((one) => ({
            ...one,
            score: one.score + (noise.next().value ?? 0),
            topics: one.topics.toReversed(),
            birthDates: one.birthDates.toReversed(),
          }));
          expect(diffMatches(before, { ...before, matches: shuffled }, {}, step).differences).toEqual([]);
        },
      ),
    );
  });

  it('another order is no change either where one id occurs twice', () => {
    const [one, two] = [match({ id: 'x', score: 0.9 }), match({ id: 'x', name: 'Other', score: 0.5 })];
    expect(kinds(set([one, two]), set([two, one]))).toEqual([]);
  });

  it('slow drift is reported once it has moved by the step from the score last reported', () => {
    let known = { matchSet: set([match({ score: 0.9 })]), reported: {} };
    const reportedAt: number[] = [];
    for (const score of [0.905, 0.91, 0.915, 0.92, 0.925, 0.93]) {
      const current = set([match({ score })]);
      const { differences, reportedScores } = diffMatches(known.matchSet, current, known.reported, step);
      if (differences.length > 0) reportedAt.push(score);
      known = { matchSet: current, reported: reportedScores };
    }
    expect(reportedAt).toEqual([0.92]);
  });

  it('an id that changes on every search produces only re-keying', () => {
    fc.assert(
      fc.property(arbitraryMatchSet, (before) => {
        const after = { ...before, matches: before.matches.map((one) => ({ ...one, id: `new-${one.id}` })) };
        const { differences } = diffMatches(before, after, {}, step);
        expect(differences).toHaveLength(before.matches.length);
        expect(new Set(differences.map(({ kind }) => kind)).size).toBeLessThanOrEqual(2);
        expect(
          differences.every(
            ({ kind, before: old, after: now }) => old !== null && now !== null && kind !== 'match_changed',
          ),
        ).toBe(true);
      }),
    );
  });

  it('a match that is missing from a cut list is not returned, never removed', () => {
    expect(kinds(set([match()]), set([], 3))).toEqual([['match_not_returned']]);
    expect(kinds(set([match()]), set([]))).toEqual([['match_removed']]);
  });

  it('crossing the threshold is a hit gained or lost, whatever else changed', () => {
    expect(kinds(set([match()]), set([match({ isHit: true, score: 0.95 })]))).toEqual([
      ['hit_gained', 'match', 'score'],
    ]);
    expect(kinds(set([match({ isHit: true })]), set([match()]))).toEqual([['hit_lost', 'match']]);
  });

  it('each fact that changes is named as the service names it', () => {
    expect(kinds(set([match()]), set([match({ topics: ['sanction', 'role.pep'], birthDates: [] })]))).toEqual([
      ['match_changed', 'birth_date', 'topics'],
    ]);
  });
});
