import type { ListedParty } from '../../../lists/listed-party.js';
import { scriptOf } from '../../../lists/script-of.js';
import type { PartyType } from '../../../roster/customer.js';
import { toScreeningRequest } from '../../../roster/screening-request.js';
import { createSeededRandom } from './seeded-random.js';
import { type NameVariant, varyName } from './vary-name.js';

/** A listed name to be searched for, and as what it is sent. */
export interface SampledName {
  listedId: string | null;
  listedName: string;
  type: PartyType;
  script: string;
  variant: NameVariant;
  sentName: string;
}

/** How a sample is drawn; the same settings and list give the same sample. */
export interface SampleSettings {
  size: number;
  seed: string;
  spelling: 'as_listed' | 'variants';
  /** What the names are of where the list does not say. */
  type: PartyType | undefined;
}

type ListedName = Omit<SampledName, 'variant' | 'sentName'>;

/**
 * Draws names of a list at random, from each type and script one at least and otherwise as many as its share is: the main name of each entry and its
 * names in other scripts. A list with fewer names is taken whole. Vessels and aircraft are left out, and entries without a type unless the
 * settings give one.
 */
export function drawSample(
  parties: readonly ListedParty[],
  { size, seed, spelling, type }: SampleSettings,
): readonly SampledName[] {
  const random = createSeededRandom(seed);
  const strata = [...groupNames(parties, type)]
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([, names]) => names);
  const sizes = allot(
    strata.map((names) => names.length),
    size,
  );
  return strata.flatMap((names, at) =>
    pick(names, sizes[at] ?? 0, random).map((listed): SampledName => {
      const { variant, name } =
        spelling === 'variants'
          ? varyName(listed.listedName, random)
          : { variant: 'as_listed' as const, name: listed.listedName };
      const { name: sentName } = toScreeningRequest({
        role: 'customer',
        type: listed.type,
        name,
        birthDate: null,
        countries: [],
      });
      return { ...listed, variant, sentName };
    }),
  );
}

function groupNames(parties: readonly ListedParty[], fallback: PartyType | undefined): Map<string, ListedName[]> {
  const strata = new Map<string, ListedName[]>();
  const known = new Set<string>();
  for (const { id, name, aliases, isVehicle, ...party } of parties) {
    const type = party.type ?? fallback;
    if (type === undefined || isVehicle) continue;
    for (const spelling of [name, ...aliases.filter((alias) => isInOtherScript(alias, name))]) {
      const key = `${type} ${spelling}`;
      if (known.has(key)) continue;
      known.add(key);
      const script = scriptOf(spelling);
      const stratum = strata.get(`${type} ${script}`) ?? [];
      stratum.push({ listedId: id, listedName: spelling, type, script });
      strata.set(`${type} ${script}`, stratum);
    }
  }
  return strata;
}

const isInOtherScript = (alias: string, name: string): boolean =>
  !['Latin', 'Other', scriptOf(name)].includes(scriptOf(alias));

/** Divides a sample among strata of these sizes: one each, as far as it goes, and the rest in proportion. */
export function allot(strata: readonly number[], size: number): readonly number[] {
  const total = strata.reduce((sum, names) => sum + names, 0);
  if (size >= total) return strata;
  const each = size >= strata.length ? 1 : 0;
  const rest = size - each * strata.length;
  const fair = strata.map((names) => ((names - each) * rest) / (total - each * strata.length));
  const sizes = fair.map((share) => each + Math.floor(share));
  const left = size - sizes.reduce((sum, names) => sum + names, 0);
  const byNeed = fair
    .map((share, at) => ({ at, need: share - Math.floor(share) }))
    .sort((one, other) => other.need - one.need || one.at - other.at);
  for (const { at } of byNeed.slice(0, left)) sizes[at] = (sizes[at] ?? 0) + 1;
  return sizes;
}

/** So many of the items, each at most once, in the order in which they were drawn. */
function pick<T>(items: readonly T[], count: number, random: () => number): readonly T[] {
  const left = [...items];
  for (let at = 0; at < Math.min(count, left.length); at += 1) {
    const other = at + Math.floor(random() * (left.length - at));
    const [one, two] = [left[at], left[other]];
    if (one === undefined || two === undefined) break;
    left[at] = two;
    left[other] = one;
  }
  return left.slice(0, count);
}
