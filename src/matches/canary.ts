import { z } from 'zod';
import { partyTypes } from '../roster/customer.js';
import type { MatchSet } from './match.js';

/** A control search whose answer is known beforehand: a listed party that must be flagged, or a name that must give nothing. */
export const canarySchema = z.strictObject({
  type: z.enum(partyTypes),
  name: z.string().min(1),
  expect: z.enum(['match', 'none']),
});
export type Canary = z.infer<typeof canarySchema>;

/** What a canary's answer says about the service: null when it is as expected, else what came instead, in words. */
export function judgeCanary(canary: Canary, answer: MatchSet): string | null {
  const hits = answer.matches.filter((match) => match.isHit).length;
  if (canary.expect === 'match') return hits > 0 ? null : `no hit among ${answer.total} results for a listed party`;
  return hits === 0 ? null : `${hits} hits for a name that is on no list`;
}
