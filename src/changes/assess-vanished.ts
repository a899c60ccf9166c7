import { foldName, type Match, pairMatches, toContentKey } from '../matches/match.js';
import type { HoldBounds } from '../screening/settings.js';
import { type HitFamily, hitFamilies } from '../vocabulary.js';
import { familyNames, isOfFamily, isUnknownTopic, type TopicFamilies } from './severity.js';

/**
 * The matches of one party before a run and in it, with those that a truncated list hides; `isCompared` when both answers are of the same
 * search.
 */
interface ComparedAnswer {
  before: readonly Match[];
  /** Null without a new answer. */
  after: readonly Match[] | null;
  isCompared: boolean;
}

/** The number of listed parties of a family that were hits, and of those that a run no longer finds. */
export interface VanishedFigures {
  family: HitFamily;
  /** Known hits of the searched customers. */
  known: number;
  vanished: number;
  /** Known hits of all customers of the roster. */
  current: number;
}

/**
 * Counts the known hits of a roster and those that a run no longer finds, each listed party once. A listed party has vanished when at least
 * half of the searched parties that had it as a hit of a family no longer have it. A new id, or a new entry with the same content or name,
 * replaces it; an older entry of another list does not. A hit that lost its flag or its topic has vanished from that family.
 */
export class VanishedTally {
  readonly #families: TopicFamilies;
  readonly #compared = new Map<HitFamily, Map<string, { had: number; lost: number }>>();
  readonly #current = new Map<HitFamily, Set<string>>();

  constructor(families: TopicFamilies) {
    this.#families = families;
    for (const family of hitFamilies) {
      this.#compared.set(family, new Map());
      this.#current.set(family, new Set());
    }
  }

  add({ before, after, isCompared }: ComparedAnswer): void {
    const hits = before.filter(({ isHit }) => isHit);
    const remains = isCompared && after !== null ? this.#findRemaining(before, after) : null;
    // Entries of one content, for example on two lists, are numbered: which of them is lost does not matter.
    const entries = new Map<string, { family: HitFamily; kept: number; lost: number }>();
    for (const hit of hits) {
      const key = toContentKey(hit);
      for (const family of this.#familiesOf(hit)) {
        const place = `${family} ${key}`;
        const entry = entries.get(place) ?? { family, kept: 0, lost: 0 };
        if (remains !== null && !remains(hit, family)) entry.lost += 1;
        else entry.kept += 1;
        entries.set(place, entry);
      }
    }
    for (const [place, { family, kept, lost }] of entries) {
      for (let number = 0; number < kept + lost; number += 1) {
        const key = `${place} ${number}`;
        this.#current.get(family)?.add(key);
        if (isCompared) this.#note(family, key, number >= kept);
      }
    }
  }

  /** The figures of the families with known hits. */
  figures(): readonly VanishedFigures[] {
    return hitFamilies.flatMap((family) => {
      const listed = [...(this.#compared.get(family)?.values() ?? [])];
      const current = this.#current.get(family)?.size ?? 0;
      const vanished = listed.filter(isVanished).length;
      return current === 0 ? [] : [{ family, known: listed.length, vanished, current }];
    });
  }

  #note(family: HitFamily, key: string, isLost: boolean): void {
    const listed = this.#compared.get(family);
    const known = listed?.get(key) ?? { had: 0, lost: 0 };
    known.had += 1;
    if (isLost) known.lost += 1;
    listed?.set(key, known);
  }

  #familiesOf({ topics }: Match): readonly HitFamily[] {
    const known = familyNames.filter((family) => topics.some((topic) => isOfFamily(this.#families, family, topic)));
    const isUnknown = topics.length === 0 || topics.some((topic) => isUnknownTopic(this.#families, topic));
    return ['any', ...known, ...(isUnknown ? (['unknown'] as const) : [])];
  }

  #findRemaining(before: readonly Match[], after: readonly Match[]): (hit: Match, family: HitFamily) => boolean {
    const { pairs, onlyAfter } = pairMatches(before, after);
    const partners = new Map(pairs.map(({ before, after }) => [before, after]));
    const isOf = (match: Match, family: HitFamily): boolean => match.isHit && this.#familiesOf(match).includes(family);
    return (hit, family) => {
      const partner = partners.get(hit);
      if (partner && isOf(partner, family)) return true;
      return onlyAfter.some((match) => isOf(match, family) && foldName(match.name) === foldName(hit.name));
    };
  }
}

const isVanished = ({ had, lost }: { had: number; lost: number }): boolean => lost > 0 && 2 * lost >= had;

/** Why a run is held, by family; `bound` is the share that was reached, null when all known hits vanished. */
export interface HoldFinding extends VanishedFigures {
  span: 'run' | 'week';
  /** Vanished and known hits, in the run or in seven days. */
  vanishedOfSpan: number;
  knownOfSpan: number;
  bound: number | null;
}

/**
 * Assesses the vanished hits of a run. It is held when the known hits of a family, or all together, vanish by `vanishedShare` (`manyShare`
 * from `manyKnown` on) and at least `vanishedLeast`, when all of at least `allOf` vanish, or by `weekShare` within seven days. Without
 * known hits it is not held. `before` has the vanished hits of the earlier runs of seven days.
 */
export function assessVanished(
  figures: readonly VanishedFigures[],
  before: Readonly<Partial<Record<HitFamily, number>>>,
  bounds: HoldBounds,
): readonly HoldFinding[] {
  return figures.flatMap((one): HoldFinding[] => {
    const { family, known, vanished, current } = one;
    if (vanished === 0) return [];
    const inRun = { ...one, span: 'run', vanishedOfSpan: vanished, knownOfSpan: known } as const;
    if (vanished === known && known >= bounds.allOf) return [{ ...inRun, bound: null }];
    const bound = known >= bounds.manyKnown ? Math.min(bounds.manyShare, bounds.vanishedShare) : bounds.vanishedShare;
    if (vanished >= bounds.vanishedLeast && vanished >= known * bound) return [{ ...inRun, bound }];
    const earlier = before[family] ?? 0;
    const inWeek = { vanishedOfSpan: earlier + vanished, knownOfSpan: current + earlier };
    const isOverWeek =
      inWeek.vanishedOfSpan >= bounds.vanishedLeast && inWeek.vanishedOfSpan >= inWeek.knownOfSpan * bounds.weekShare;
    return isOverWeek ? [{ ...one, ...inWeek, span: 'week', bound: bounds.weekShare }] : [];
  });
}
