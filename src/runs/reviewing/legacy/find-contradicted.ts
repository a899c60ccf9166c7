import { foldName } from '../../../matches/fold-name.js';
import type { LegacyCandidate } from '../../../store/legacy-decisions.js';
import type { NamedMatch, Unmatched } from './find-legacy-item.js';

/** What a row says about a match, also one that cannot be taken for another reason. */
export interface Statement {
  line: number;
  named: NamedMatch;
  /** A verdict, or what cannot be read as one. */
  verdict: string;
  about: { item: LegacyCandidate } | { unmatched: Unmatched };
}

/**
 * The lines of the rows whose match another row judges otherwise: one about the same item, or one of which nobody can tell what it is about
 * that names the same customer and the same match id or listed name.
 */
export function findContradicted(statements: readonly Statement[]): ReadonlySet<number> {
  const verdicts = new Map<number, Set<string>>();
  const unplaced = new Map<string, Unplaced[]>();
  for (const { named, verdict, about } of statements) {
    if ('item' in about) verdicts.set(about.item.itemId, (verdicts.get(about.item.itemId) ?? new Set()).add(verdict));
    else {
      const others = unplaced.get(named.reference) ?? [];
      unplaced.set(named.reference, [...others, { named, verdict, unmatched: about.unmatched }]);
    }
  }
  const contradicted = statements.filter(({ named, verdict, about }) => {
    if (!('item' in about)) return false;
    if ((verdicts.get(about.item.itemId)?.size ?? 0) > 1) return true;
    const others = unplaced.get(named.reference) ?? [];
    return others.some((other) => other.verdict !== verdict && couldMean(other, named, about.item));
  });
  return new Set(contradicted.map(({ line }) => line));
}

interface Unplaced extends Pick<Statement, 'named' | 'verdict'> {
  unmatched: Unmatched;
}

function couldMean({ named: other, unmatched }: Unplaced, named: NamedMatch, { listed }: LegacyCandidate): boolean {
  // A roster that nobody has heard of may be a slip of the pen.
  const isElsewhere = other.roster !== null && named.roster !== null && other.roster !== named.roster;
  if (isElsewhere && unmatched !== 'unknown_customer') return false;
  if (other.matchId !== null && [named.matchId, listed.id].includes(other.matchId)) return true;
  if (other.listedName === null) return false;
  const name = foldName(other.listedName);
  return [named.listedName ?? '', listed.name].some((each) => foldName(each) === name);
}
