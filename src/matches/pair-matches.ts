import { foldName } from './fold-name.js';
import type { Match } from './match.js';

/** Matches of two answers that are the same listed party, and what is left on either side. */
export interface MatchPairs {
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
