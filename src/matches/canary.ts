import { z } from 'zod';
import { partyTypes } from '../roster/customer.js';
import type { MatchSet } from './match.js';

/** A control search whose answer is known beforehand: a listed party that must be flagged, or a name that must give nothing. */
export const canarySchema = z.strictObject({
  type: z.enum(partyTypes).describe('person, or entity for a company'),
  name: z.string().min(1).describe("a listed name, or one that is on no list; not a customer's"),
  expect: z.enum(['match', 'none']).describe('match wants at least one hit, none wants no hit'),
  topics: z
    .array(z.string().min(1))
    .optional()
    .describe('a hit must carry at least one of these, as in [sanction]; without them any hit will do'),
  label: z.string().min(1).optional().describe('what reports call it, beside its name'),
});
export type Canary = z.infer<typeof canarySchema>;

/** What a canary's answer says about the service: null when it is as expected, else what came instead, in words. */
export function judgeCanary(canary: Canary, answer: MatchSet): string | null {
  const hits = answer.matches.filter((match) => match.isHit);
  if (canary.expect === 'none') return hits.length === 0 ? null : `${hits.length} hits for a name that is on no list`;
  if (hits.length === 0) return `no hit among ${answer.total} results for a listed party`;
  const { topics = [] } = canary;
  const isListed = topics.length === 0 || hits.some((hit) => hit.topics.some((topic) => topics.includes(topic)));
  return isListed ? null : `${hits.length} hits for a listed party, none of them with ${topics.join(' or ')}`;
}
