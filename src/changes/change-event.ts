import type { Match } from '../matches/match.js';

/** What happened to a match between two screenings of a party. */
export const matchChangeKinds = [
  'match_added',
  'match_changed',
  'match_removed',
  'match_not_returned',
  'match_rekeyed',
  'match_returned',
  'hit_gained',
  'hit_lost',
] as const;
export type MatchChangeKind = (typeof matchChangeKinds)[number];

/** The fields of a match that are compared, under the names the service gives them. */
export const matchFields = ['birth_date', 'country', 'match', 'name', 'schema', 'score', 'topics'] as const;
export type MatchField = (typeof matchFields)[number];

/** One difference between the match set last reported and the one just seen, before anybody judged it. */
export type MatchDifference =
  | { kind: 'match_added'; matchId: string; before: null; after: Match; fields: readonly [] }
  | { kind: 'match_removed' | 'match_not_returned'; matchId: string; before: Match; after: null; fields: readonly [] }
  | {
      kind: 'match_changed' | 'match_rekeyed' | 'match_returned' | 'hit_gained' | 'hit_lost';
      /** The id of the match as seen now. */
      matchId: string;
      before: Match;
      after: Match;
      /** Which fields differ, sorted. */
      fields: readonly MatchField[];
    };

/** How much a change matters, most first. */
export const severities = ['critical', 'high', 'medium', 'low', 'info'] as const;
export type Severity = (typeof severities)[number];

/** Whose doing a change is. */
export const changeCauses = ['service_data', 'customer_record', 'settings'] as const;
export type ChangeCause = (typeof changeCauses)[number];
