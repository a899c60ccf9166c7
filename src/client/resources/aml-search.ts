import { z } from 'zod';
import { filledTextSchema } from './input-schemas.js';

/** What the lists do not know of a party is left out, null or empty, as the list's editors have it. */
const listedTextsSchema = z
  .array(z.string())
  .nullish()
  .transform((texts) => texts ?? []);
const matchSchema = z.object({
  id: z.string(),
  name: z.string(),
  schema: z.string(),
  match: z.boolean(),
  score: z.number(),
  topics: listedTextsSchema,
  birth_date: listedTextsSchema,
  country: listedTextsSchema,
});

/** The answer to a search (interface: AML search result); every field but the lists of a result is required, unknown ones are left out. */
export const amlSearchResultSchema = z
  .object({
    query: z.string(),
    type: z.enum(['person', 'entity']),
    total: z.number().int().nonnegative(),
    results: z.array(matchSchema),
  })
  .refine((result) => result.total >= result.results.length, {
    path: ['total'],
    message: 'is smaller than the number of results',
  });
/** The answer to a search, with the wire's names (interface: AML search result). */
export type AmlSearchResult = z.output<typeof amlSearchResultSchema>;

/** Whom to search for (interface: AML search); unknown fields are left out. */
export const amlSearchInputSchema = z.object({ type: z.enum(['person', 'entity']), name: filledTextSchema });
/** Whom to search for (interface: AML search). */
export type AmlSearchInput = z.input<typeof amlSearchInputSchema>;
