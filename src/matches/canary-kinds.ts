import type { Canary } from './canary.js';

/** The script of a name, as far as a matcher may treat it differently. */
export type NameScript = 'latin' | 'other';

/** `latin` when every letter of the name is. */
export function findScript(name: string): NameScript {
  const letters = name.normalize('NFKC').match(/\p{L}/gu) ?? [];
  return letters.every((letter) => /\p{Script=Latin}/u.test(letter)) ? 'latin' : 'other';
}

const types = ['person', 'entity'] as const;
const lists = ['sanction', 'pep'] as const;
const scripts = ['latin', 'other'] as const;

/** What a full set of canaries holds: known positives for each type, list and script, and a known negative. */
export const canaryKinds: readonly string[] = [
  ...types.flatMap((type) => lists.flatMap((list) => scripts.map((script) => toKind(type, list, script)))),
  'a name on no list',
];

function toKind(type: Canary['type'], list: (typeof lists)[number], script: NameScript): string {
  const names = { sanction: 'on a sanctions list', pep: 'politically exposed' };
  return `${type === 'person' ? 'person' : 'company'} ${names[list]}, ${script === 'latin' ? 'Latin' : 'other'} script`;
}

const isOn: Readonly<Record<(typeof lists)[number], RegExp>> = {
  sanction: /^sanction(\.|$)/,
  pep: /^role\.(pep|rca)$/,
};

/** The kinds that one canary stands for; a listed party without topics stands for no list in particular. */
function toCanaryKinds({ type, name, expect, topics = [] }: Canary): readonly string[] {
  if (expect === 'none') return ['a name on no list'];
  // Each topic would do: only when all of them are of one list does a hit show that this list is searched.
  return lists
    .filter((list) => topics.length > 0 && topics.every((topic) => isOn[list].test(topic)))
    .map((list) => toKind(type, list, findScript(name)));
}

/** Which kinds these canaries cover, and which are missing, both in the order of `canaryKinds`. */
export function findCanaryCoverage(canaries: readonly Canary[]): { covered: string[]; missing: string[] } {
  const known = new Set(canaries.flatMap(toCanaryKinds));
  return {
    covered: canaryKinds.filter((kind) => known.has(kind)),
    missing: canaryKinds.filter((kind) => !known.has(kind)),
  };
}
