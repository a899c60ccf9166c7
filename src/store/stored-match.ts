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

/** SQL that builds such JSON from a row of `match`. */
export const storedMatchSql = `jsonb_build_object(
  'rank', match.rank, 'id', match.match_id, 'name', match.name, 'schema', match.schema, 'isHit', match.is_hit,
  'score', match.score, 'topics', match.topics, 'birthDates', match.birth_dates, 'countries', match.countries
)`;
