import type { AmlSearchResult } from '../client/aml.js';
import type { FactsOf, matchSchema } from '../vocabulary/facts.js';
import type { AnswerState } from '../vocabulary.js';

/** One entry of `results` as the service sent it (interface: AML search result); `rank` starts at 1. */
export type Match = FactsOf<typeof matchSchema>;

/** The matches of one answer in rank order; `truncated` when the service counted more than it returned, or says that some are missing. */
export interface MatchSet {
  total: number;
  truncated: boolean;
  matches: readonly Match[];
}

/** Converts a valid answer to a match set; the only place that knows the wire's names. */
export function toMatchSet(answer: AmlSearchResult): MatchSet {
  return {
    total: answer.total,
    truncated: answer.total > answer.results.length || answer.incompleteBy !== undefined,
    matches: answer.results.map((result, index) => ({
      rank: index + 1,
      id: toText(result.id),
      name: toText(result.name),
      schema: toText(result.schema),
      isHit: result.match,
      score: result.score,
      topics: [...new Set(result.topics.map((topic) => foldTopic(toText(topic))))].filter((topic) => topic !== ''),
      birthDates: result.birth_date.map(toText),
      countries: result.country.map(toText),
    })),
  };
}

/** Folds a risk category: neither case nor blanks around it matter. */
export const foldTopic = (topic: string): string => topic.trim().toLowerCase();

/** Text that any database stores: NUL and lone surrogates become U+FFFD. The stored answer is unchanged. */
const toText = (text: string): string => text.toWellFormed().replaceAll('\u0000', '\ufffd');

/** Treats a list of the length `cap`, at which lists are truncated without notice, as truncated. */
export function treatAsTruncated(matchSet: MatchSet, cap: number | null): MatchSet {
  return matchSet.total === cap && !matchSet.truncated ? { ...matchSet, truncated: true } : matchSet;
}

/** Matches of two answers that are the same listed party, and the rest of both. */
interface MatchPairs {
  pairs: readonly { before: Match; after: Match }[];
  onlyBefore: readonly Match[];
  onlyAfter: readonly Match[];
}

/** The distinct values in one order. */
export const toSet = (values: readonly string[]): readonly string[] => [...new Set(values)].sort();

/** The content by which a listed party is paired when its id has changed. */
export function toContentKey(match: Match): string {
  return JSON.stringify([match.schema, foldName(match.name), toSet(match.birthDates), toSet(match.countries)]);
}

/**
 * Pairs matches of the same listed party: by id and content, then by id, then by content, because the interface does not promise that
 * `results[].id` is stable or unique. Each match is in one pair or one rest.
 */
export function pairMatches(before: readonly Match[], after: readonly Match[]): MatchPairs {
  const same = pairBy(before, after, (match) => JSON.stringify([match.id, match.isHit, toContentKey(match)]));
  const byId = pairBy(same.onlyBefore, same.onlyAfter, (match) => match.id);
  const byContent = pairBy(byId.onlyBefore, byId.onlyAfter, toContentKey);
  return { ...byContent, pairs: [...same.pairs, ...byId.pairs, ...byContent.pairs] };
}

function pairBy(before: readonly Match[], after: readonly Match[], toKey: (match: Match) => string): MatchPairs {
  const waiting = new Map<string, Match[]>();
  for (const match of before) {
    const key = toKey(match);
    waiting.set(key, [...(waiting.get(key) ?? []), match]);
  }
  const pairs: { before: Match; after: Match }[] = [];
  const onlyAfter: Match[] = [];
  for (const match of after) {
    const partner = waiting.get(toKey(match))?.shift();
    if (partner) pairs.push({ before: partner, after: match });
    else onlyAfter.push(match);
  }
  const left = new Set([...waiting.values()].flat());
  return { pairs, onlyBefore: before.filter((match) => left.has(match)), onlyAfter };
}

/** Folds a name: case, accents, white space and compatibility forms do not matter. */
export function foldName(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/**
 * The state of a party after an answer. A hit outranks a truncated list, also a hit that the list hides; a truncated list is never clear.
 */
export function toPartyState(matchSet: MatchSet, unreturned: readonly Match[]): AnswerState {
  if ([...matchSet.matches, ...unreturned].some((match) => match.isHit)) return 'open_alert';
  if (matchSet.truncated) return 'truncated';
  return matchSet.total === 0 ? 'clear' : 'below_threshold';
}
