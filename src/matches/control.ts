import { z } from 'zod';
import { partyTypes } from '../vocabulary.js';
import { foldTopic, type MatchSet } from './match.js';

/** A control search, whose answer is known: a listed party that must be a hit, or a name that must give no hit. */
export const controlSchema = z.strictObject({
  type: z.enum(partyTypes).describe('person, or entity for a company'),
  name: z.string().min(1).describe("a listed name, or one that is on no list; not a customer's"),
  expect: z.enum(['match', 'none']).describe('match wants at least one hit, none wants no hit'),
  topics: z
    .array(z.string().min(1))
    .optional()
    .describe('a hit must carry at least one of these, as in [sanction]; without them any hit passes'),
  label: z.string().min(1).optional().describe('its label in reports, beside its name'),
});
export type ControlSearch = z.infer<typeof controlSchema>;

/** Compares the answer of a control search with the expectation; null when it matches, else what was found. */
export function assessControl(control: ControlSearch, answer: MatchSet): string | null {
  const hits = answer.matches.filter((match) => match.isHit);
  if (control.expect === 'none') return hits.length === 0 ? null : `${hits.length} hits for a name that is on no list`;
  if (hits.length === 0) return `no hit among ${answer.total} results for a listed party`;
  const topics = (control.topics ?? []).map(foldTopic);
  const isListed = topics.length === 0 || hits.some((hit) => hit.topics.some((topic) => topics.includes(topic)));
  return isListed ? null : `${hits.length} hits for a listed party, none of them with ${topics.join(' or ')}`;
}

/** The script of a name: `latin` when all its letters are Latin. */
export function findScript(name: string): (typeof scripts)[number] {
  const letters = name.normalize('NFKC').match(/\p{L}/gu) ?? [];
  return letters.every((letter) => /\p{Script=Latin}/u.test(letter)) ? 'latin' : 'other';
}

const types = ['person', 'entity'] as const;
const lists = ['sanction', 'pep'] as const;
const scripts = ['latin', 'other'] as const;

/** The kinds of a complete set of control searches: listed parties by type, list and script, and an unlisted name. */
export const controlKinds: readonly string[] = [
  ...types.flatMap((type) => lists.flatMap((list) => scripts.map((script) => toKind(type, list, script)))),
  'a name on no list',
];

function toKind(type: ControlSearch['type'], list: (typeof lists)[number], script: (typeof scripts)[number]): string {
  const names = { sanction: 'on a sanctions list', pep: 'politically exposed' };
  return `${type === 'person' ? 'person' : 'company'} ${names[list]}, ${script === 'latin' ? 'Latin' : 'other'} script`;
}

const isOn: Readonly<Record<(typeof lists)[number], RegExp>> = {
  sanction: /^sanction(\.|$)/,
  pep: /^role\.(pep|rca)$/,
};

/** The kinds that one control search covers; a listed party without topics covers none. */
function toControlKinds({ type, name, expect, topics = [] }: ControlSearch): readonly string[] {
  if (expect === 'none') return ['a name on no list'];
  // A hit may have any of the topics, so all must be of one list to prove that this list is searched.
  return lists
    .filter((list) => topics.length > 0 && topics.every((topic) => isOn[list].test(foldTopic(topic))))
    .map((list) => toKind(type, list, findScript(name)));
}

/** The kinds that these control searches cover, and the missing ones, in the order of `controlKinds`. */
export function findControlCoverage(controls: readonly ControlSearch[]): { covered: string[]; missing: string[] } {
  const known = new Set(controls.flatMap(toControlKinds));
  return {
    covered: controlKinds.filter((kind) => known.has(kind)),
    missing: controlKinds.filter((kind) => !known.has(kind)),
  };
}
