import type { DetailCounts, DetailKind, DetailStop } from './detail-facts.js';
import { countNoun, formatCount } from './format-count.js';

/** What a detail is, in words. */
export const detailWords: Readonly<Record<DetailKind, string>> = {
  activity: 'match in detail',
  entity: 'screened record',
};

/** Why fewer were asked for than there were, in words. */
export const stopWords: Readonly<Record<DetailStop, string>> = {
  limit: 'evidence.details.maxPerRun allows no more',
  out_of_reach: 'the service was out of reach',
  refused: 'the service refused the account',
  time: 'it took too long',
  signal: 'stopped on request',
};

/** What became of a run's details, in one line. */
export function describeDetails(counts: DetailCounts): string {
  const { hits, withoutRecord, asked, kept, notAvailable, leftOver, backlogAsked, backlogLeft, stoppedBecause } =
    counts;
  const left = leftOver + backlogLeft;
  return [
    `${countNoun(hits, 'new hit')}: ${countNoun(asked, 'record')} asked for, ${formatCount(kept)} kept`,
    ...(notAvailable > 0 ? [`${formatCount(notAvailable)} not available`] : []),
    ...(backlogAsked > 0
      ? [`${formatCount(backlogAsked)} of the records asked for were left over by earlier runs`]
      : []),
    ...(left > 0
      ? [`${formatCount(left)} still missing${stoppedBecause === null ? '' : ` (${stopWords[stoppedBecause]})`}`]
      : []),
    ...(backlogLeft > 0 ? [`${formatCount(backlogLeft)} of them since earlier runs`] : []),
    ...(withoutRecord > 0 ? [`${countNoun(withoutRecord, 'match id')} that cannot be looked up`] : []),
  ].join(', ');
}
