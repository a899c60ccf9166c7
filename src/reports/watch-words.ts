import { countNoun, formatCount } from './format-count.js';
import type { CanaryFacts } from './list-facts.js';

import type { RateFacts, WatchFacts } from './watch-facts.js';

/** What was found unusually seldom, each with both figures: such a service may be broken. */
export function describeDrops(watch: WatchFacts | null): readonly string[] {
  return describeRates(watch, 'low').map((words) => `${words}, less than half: the service may be broken`);
}

/** What else watching the service has shown: findings more than twice as usual, drift of its data, lists that look cut. */
export function describeNotices(watch: WatchFacts | null): readonly string[] {
  const rises = describeRates(watch, 'high').map((words) => `${words}, more than twice as many`);
  const drift = describeDrift(watch);
  return [...rises, ...(drift === null ? [] : [drift]), ...(watch?.listCap ? [describeListCap(watch.listCap)] : [])];
}

/** That far more or fewer of the service's data changed than usual; null where it is as usual or cannot be told. */
export function describeDrift(watch: WatchFacts | null): string | null {
  const volume = watch?.volume ?? null;
  if (volume === null || (volume.verdict !== 'high' && volume.verdict !== 'low')) return null;
  const means =
    volume.verdict === 'high'
      ? 'its lists, ids or scores may have drifted'
      : 'its lists may not be brought up to date any more';
  return `${describeVolume(volume)}: ${means}`;
}

function describeVolume({ perThousand, usual, formerRuns, verdict }: RateFacts): string {
  const found = `${toFigure(perThousand)} changes of the service's data per 1,000 searches`;
  if (usual === null) return `${found}; there is no former run to compare with`;
  return `${found} against ${toFigure(usual)} usually (median of ${countNoun(formerRuns, 'run')}), ${verdictWords[verdict]}`;
}

/** Everything that watching the service has shown, one line each: both rates beside what is usual, and lists that look cut. */
export function describeWatch(watch: WatchFacts): readonly string[] {
  const { rates, listCap, volume } = watch;
  const found = rates === null ? [] : [describeRate('matches', rates.matches), describeRate('hits', rates.hits)];
  const lines = volume === null ? found : [...found, describeVolume(volume)];
  return listCap === null ? lines : [...lines, describeListCap(listCap)];
}

const verdictWords = {
  low: 'less than half',
  high: 'more than twice as many',
  usual: 'as usual',
  unknown: 'not judged',
};

function describeRate(name: string, { perThousand, usual, formerRuns, verdict }: RateFacts): string {
  const found = `${toFigure(perThousand)} ${name} per 1,000 customers screened`;
  if (usual === null) return `${found}; there is no former run to compare with`;
  const runs = countNoun(formerRuns, 'run');
  return `${found} against ${toFigure(usual)} usually (median of ${runs}): ${verdictWords[verdict]}`;
}

function describeRates(watch: WatchFacts | null, verdict: 'low' | 'high'): readonly string[] {
  if (watch?.rates == null) return [];
  const { matches, hits } = watch.rates;
  return [
    { name: 'matches', ...matches },
    { name: 'hits', ...hits },
  ]
    .filter((rate) => rate.verdict === verdict)
    .map(
      ({ name, perThousand, usual, formerRuns }) =>
        `${toFigure(perThousand)} ${name} per 1,000 customers screened against ${toFigure(usual ?? 0)} usually (median of ${formerRuns} runs)`,
    );
}

function describeListCap({ length, standing, customers }: NonNullable<WatchFacts['listCap']>): string {
  const lists = `lists of ${formatCount(length)} results`;
  const concerned = countNoun(customers, 'customer');
  const has = customers === 1 ? 'has' : 'have';
  if (standing === 'gone') {
    return `${lists} are taken for whole again, because longer ones were seen or shorter ones look cut: ${concerned} ${has} one`;
  }
  const look = standing === 'found' ? 'look cut without a word' : 'are known to be cut without a word';
  return `${lists} ${look}: ${concerned} ${has} one and, without a hit, ${customers === 1 ? 'counts' : 'count'} as incompletely seen`;
}

/** A canary's rounds in words, failed ones with their number: `3 passed` or `round 2 of 3 failed (after 10,000 searches)`. */
export function describeRounds({ rounds }: Pick<CanaryFacts, 'rounds'>): string {
  const failed = rounds.filter((round) => round.verdict === 'failed');
  if (failed.length === 0) return `${formatCount(rounds.length)} passed`;
  return failed
    .map(({ round, searches }) => `round ${round} failed (after ${countNoun(searches, 'search', 'searches')})`)
    .join(', ');
}

/** A rate with one decimal, or three digits when it is small. */
const toFigure = (rate: number): string => (rate >= 10 ? rate.toFixed(1) : String(Number(rate.toPrecision(3))));
