import { z } from 'zod';

/** One listed party in the fixture format. */
export const watchlistEntrySchema = z.strictObject({
  id: z.string().min(1),
  schema: z.string().min(1),
  name: z.string().min(1),
  aliases: z.array(z.string().min(1)),
  topics: z.array(z.string()),
  birth_date: z.array(z.string()),
  country: z.array(z.string()),
});
/** One listed party: what a search can find and what it answers with (interface: AML search result). */
export type WatchlistEntry = z.infer<typeof watchlistEntrySchema>;
