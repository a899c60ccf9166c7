import { z } from 'zod';
import type { Match } from '../matches/match.js';

/** A match as stored in JSON, with an answer or with a change event. */
export const storedMatchSchema = z.object({
  rank: z.number(),
  id: z.string(),
  name: z.string(),
  schema: z.string(),
  isHit: z.boolean(),
  score: z.number(),
  topics: z.array(z.string()),
  birthDates: z.array(z.string()),
  countries: z.array(z.string()),
}) satisfies z.ZodType<Match>;
