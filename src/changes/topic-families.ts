import { z } from 'zod';

const topicPattern = z
  .string()
  .regex(/^[^\s*]+$/, 'is a topic without white space or asterisks, such as sanction or role.pep');

/**
 * Which topics belong together (service facts: AML vocabulary); a topic stands for those below it as well: `crime` for `crime.fraud`.
 */
export const topicFamiliesSchema = z.strictObject({
  sanction: z.array(topicPattern).min(1).default(['sanction']).describe('topics that mean a sanction'),
  crime: z.array(topicPattern).default(['crime', 'wanted']).describe('topics that mean a crime'),
  pep: z.array(topicPattern).default(['role.pep']).describe('topics that mean political exposure'),
  associate: z.array(topicPattern).default(['role.rca']).describe('topics that mean closeness to somebody exposed'),
  other: z
    .array(topicPattern)
    .default(['debarment', 'role', 'poi', 'reg', 'export', 'corp', 'fin', 'gov', 'asset', 'mil', 'invest'])
    .describe('topics known to mean less than any of these; a topic of no family is unknown, which is serious'),
});
export type TopicFamilies = z.infer<typeof topicFamiliesSchema>;
export type TopicFamily = keyof TopicFamilies;

/** Whether a topic belongs to a family. */
export const isOfFamily = (families: TopicFamilies, family: TopicFamily, topic: string): boolean =>
  families[family].some((root) => topic === root || topic.startsWith(`${root}.`));

const familyNames = ['sanction', 'crime', 'pep', 'associate', 'other'] as const satisfies readonly TopicFamily[];

/** Whether no family knows a topic. */
export const isUnknownTopic = (families: TopicFamilies, topic: string): boolean =>
  !familyNames.some((family) => isOfFamily(families, family, topic));

/** The most serious of what a listed party may be listed for; a topic of no family comes before political exposure. */
export const worstTopics = ['sanction', 'crime', 'unknown', 'pep', 'associate', 'other', 'none'] as const;
export type WorstTopic = (typeof worstTopics)[number];

/** The most serious family among topics, `none` without any. */
export function toWorstTopic(families: TopicFamilies, topics: readonly string[]): WorstTopic {
  const found = new Set<WorstTopic>(
    topics.map((topic) => familyNames.find((family) => isOfFamily(families, family, topic)) ?? 'unknown'),
  );
  return worstTopics.find((family) => found.has(family)) ?? 'none';
}
