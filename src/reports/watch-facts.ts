/** A rate per 1,000 beside the median of former runs; flagged when `low` or `high`, `unknown` with too few to compare. */
export interface RateFacts {
  perThousand: number;
  usual: number | null;
  formerRuns: number;
  verdict: 'usual' | 'low' | 'high' | 'unknown';
}

/** A length at which lists look cut without a word, or did, and how many customers have a list of just that length. */
export interface ListCapFacts {
  length: number;
  standing: 'known' | 'found' | 'gone';
  customers: number;
}

/** What watching the service during a run has shown. */
export interface WatchFacts {
  /** Null where the run was not judged: it stopped early, or canaries failed. */
  rates: { matches: RateFacts; hits: RateFacts } | null;
  listCap: ListCapFacts | null;
  /** Changes of the service's data per 1,000 searches for customers screened before; null where the run was not judged. */
  volume: RateFacts | null;
}
