import type { AmlSearchResult } from '../client/resources/aml-search.js';
import type { MatchSet } from './match.js';

/** Turns a valid answer into the match set that everything downstream works with; the only place that knows the wire's names. */
export function toMatchSet(answer: AmlSearchResult): MatchSet {
  return {
    total: answer.total,
    truncated: answer.total > answer.results.length,
    matches: answer.results.map((result, index) => ({
      rank: index + 1,
      id: toText(result.id),
      name: toText(result.name),
      schema: toText(result.schema),
      isHit: result.match,
      score: result.score,
      topics: result.topics.map(toText),
      birthDates: result.birth_date.map(toText),
      countries: result.country.map(toText),
    })),
  };
}

/** Text that any database stores: NUL and halves of surrogate pairs become U+FFFD; the answer itself is kept as it came. */
const toText = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');
