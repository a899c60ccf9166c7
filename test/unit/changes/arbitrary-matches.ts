import fc from 'fast-check';
import type { Match, MatchSet } from '../../../src/matches/match.js';

const word = fc.constantFrom('Ada', 'Boris', 'Chen', 'Dara', 'Élan');

/** Matches from a small world, so that ids, names and facts often meet. */
const arbitraryMatch: fc.Arbitrary<Omit<Match, 'rank'>> = fc.record({
  id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
  name: word,
  schema: fc.constantFrom('Person', 'Company'),
  isHit: fc.boolean(),
  score: fc.integer({ min: 70, max: 100 }).map((hundredths) => hundredths / 100),
  topics: fc.uniqueArray(fc.constantFrom('sanction', 'role.pep', 'crime'), { maxLength: 3 }),
  birthDates: fc.uniqueArray(fc.constantFrom('1960', '1971-02-03'), { maxLength: 2 }),
  countries: fc.uniqueArray(fc.constantFrom('fr', 'ru'), { maxLength: 2 }),
});

/** A match set with an id on each match at most once, in any order, cut or whole. */
export const arbitraryMatchSet: fc.Arbitrary<MatchSet> = fc
  .tuple(fc.uniqueArray(arbitraryMatch, { selector: (match) => match.id, maxLength: 6 }), fc.boolean())
  .map(([matches, truncated]) => ({
    total: matches.length + (truncated ? 1 : 0),
    truncated,
    matches: matches.map((match, index) => ({ ...match, rank: index + 1 })),
  }));
