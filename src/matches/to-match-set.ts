import type { AmlSearchResult } from '../client/aml.js';
import type { MatchSet } from './match.js';

/** Turns a valid answer into the match set that everything downstream works with; the only place that knows the wire's names. */
export function toMatchSet(answer: AmlSearchResult): MatchSet {
  return {
    total: answer.total,
    truncated: answer.total > answer.results.length,
    matches: answer.results.map((result, index) => ({
      rank: index + 1,
      id: result.id,
      name: result.name,
      schema: result.schema,
      isHit: result.match,
      score: result.score,
      topics: result.topics,
      birthDates: result.birth_date,
      countries: result.country,
    })),
  };
}
