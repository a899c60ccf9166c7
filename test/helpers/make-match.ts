import type { Match } from '../../src/matches/match.js';

/** A hit of which nothing is known but the name, with these facts in place of its own. */
export const makeMatch = (facts: Partial<Match> = {}): Match => ({
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
