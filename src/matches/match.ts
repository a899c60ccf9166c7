import type { AmlSearchResult } from '../client/aml.js';
import type { CustomerState } from '../vocabulary.js';

/** One entry of `results` as the service sent it (interface: AML search result); `rank` is its place, from 1. */
export interface Match {
  rank: number;
  id: string;
  name: string;
  schema: string;
  /** The service flagged it `match: true`. */
  isHit: boolean;
  /** The service's own score, untouched. */
  score: number;
  topics: readonly string[];
  birthDates: readonly string[];
  /** Lower-case country codes. */
  countries: readonly string[];
}

/** The matches of one answer in rank order; `truncated` when the service counted more than it returned. */
export interface MatchSet {
  total: number;
  truncated: boolean;
  matches: readonly Match[];
}

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

/** The match set as it has to be judged where lists are known to be cut at `cap` without a word: one of just that length may be cut. */
export function treatAsTruncated(matchSet: MatchSet, cap: number | null): MatchSet {
  return matchSet.total === cap && !matchSet.truncated ? { ...matchSet, truncated: true } : matchSet;
}

/** Matches of two answers that are the same listed party, and what is left on either side. */
interface MatchPairs {
  pairs: readonly { before: Match; after: Match }[];
  onlyBefore: readonly Match[];
  onlyAfter: readonly Match[];
}

/** Without order and repetitions, which mean nothing. */
const toSet = (values: readonly string[]): readonly string[] => [...new Set(values)].sort();

/** What a listed party is recognised by when its id has changed. */
export function toContentKey(match: Match): string {
  return JSON.stringify([match.schema, foldName(match.name), toSet(match.birthDates), toSet(match.countries)]);
}

/**
 * Pairs matches that are the same listed party: by id and content, by id, then what is left by content, because the interface does
 * not promise that `results[].id` is stable between searches, or used once. Each match is in exactly one pair or one remainder.
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

/** Spells a name so that case, accents, white space and compatibility forms make no difference. */
export function foldName(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/gu, ' ').trim();
}

/** The states that an answer alone can give. */
export type PartyState = Extract<CustomerState, 'clear' | 'below_threshold' | 'incompletely_seen' | 'open_hit'>;

/**
 * The state of a party after an answer: a hit outranks a cut list, also one that only the cut keeps out of sight, and a cut list is
 * never clear.
 */
export function toPartyState(matchSet: MatchSet, unreturned: readonly Match[]): PartyState {
  if ([...matchSet.matches, ...unreturned].some((match) => match.isHit)) return 'open_hit';
  if (matchSet.truncated) return 'incompletely_seen';
  return matchSet.total === 0 ? 'clear' : 'below_threshold';
}
