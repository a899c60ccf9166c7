/** What a detail is about: one match, or the screened record that matches belong to (interface: Single-record lookups). */
export type DetailKind = 'activity' | 'entity';

/** Why a run asked for fewer details than there were to fetch. */
export type DetailStop = 'limit' | 'out_of_reach' | 'refused' | 'time' | 'signal';

/** One record that a run asked for. */
export interface DetailLookup {
  kind: DetailKind;
  id: string;
  askedAt: Date;
  status: number | null;
  /** Stable code of why nothing could be kept; null where the record is kept. */
  reason: string | null;
  /** SHA-256 (hex) of the body as received; null where nothing is kept. */
  digest: string | null;
  /** Links that were left out of what is kept, because they open something by themselves. */
  withheldLinks: number;
  /** AML entities that the record names. */
  entityIds: readonly string[];
}

/** How many details a run had to fetch, and what became of them. */
export interface DetailCounts {
  /** Different matches that became hits in the run. */
  hits: number;
  /** Of them those whose id has no form that can be looked up. */
  withoutRecord: number;
  asked: number;
  kept: number;
  notAvailable: number;
  /** Of these hits, to be fetched and not asked for; `stoppedBecause` says why. */
  leftOver: number;
  /** Of those asked for, what earlier runs had left over. */
  backlogAsked: number;
  /** What earlier runs had left over and is still missing. */
  backlogLeft: number;
  stoppedBecause: DetailStop | null;
}

/** Whether there is anything to say of a run's details: new hits, or what earlier runs had left over. */
export const hasDetails = ({ hits, backlogAsked, backlogLeft }: DetailCounts): boolean =>
  hits + backlogAsked + backlogLeft > 0;

/** What was fetched about new hits. */
export interface DetailFacts {
  /** Null for a run that fetched none, because it was not to or never came so far. */
  counts: DetailCounts | null;
  /** Of the run and of those whose findings its report carries. */
  lookups: readonly DetailLookup[];
}

/** Those of a match: what was asked by its own id, and the entities that it names. */
export function listDetailsOf(lookups: readonly DetailLookup[], matchId: string): readonly DetailLookup[] {
  const own = lookups.filter(({ id }) => id === matchId);
  const named = new Set(own.flatMap(({ entityIds }) => entityIds));
  return [...own, ...lookups.filter(({ id }) => id !== matchId && named.has(id))];
}
