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
