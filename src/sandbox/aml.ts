import type { Hono } from 'hono';
import { z } from 'zod';
import { answerError, type CallEnv } from './calls.js';
import { createSearch, type SearchWatchlist } from './search-watchlist.js';
import type { SandboxWorld, WatchlistEntry } from './world.js';

const searchSchema = z.object({
  type: z.enum(['person', 'entity']),
  name: z.string().regex(/\S/, 'must not be blank'),
});

/** The AML search of a sandbox. */
export interface AmlDesk {
  /** The results of a name that an answer carries. */
  screen: SearchWatchlist;
  /** Replaces the lists. */
  setWorld(world: SandboxWorld): void;
  /** Adds the search and the look-up of an AML activity (interface: AML search, single-record lookups). */
  addRoutes(routes: Hono<CallEnv>): void;
}

/** Creates a desk without lists. An answer carries `maxResults` at most; its `total` counts all. */
export const createAmlDesk = (maxResults: number): AmlDesk => {
  let watchlist: readonly WatchlistEntry[] = [];
  let search = createSearch(watchlist);
  let byId: Map<string, WatchlistEntry> | undefined;
  return {
    screen: (type, name) => search(type, name).slice(0, maxResults),
    setWorld: (world) => {
      watchlist = world.watchlist;
      search = createSearch(watchlist, world.ranking);
      byId = undefined;
    },
    addRoutes: (routes) => {
      routes.post('/aml/search', (context) => {
        const request = searchSchema.safeParse(context.var.body);
        if (!request.success) return answerError(context, 400, z.prettifyError(request.error));
        const { type, name } = request.data;
        const found = search(type, name);
        context.var.entry.worked = true;
        return context.json({ query: name, type, total: found.length, results: found.slice(0, maxResults) }, 201);
      });

      // Lists are the same for everybody, and so are the ids that a search gives: a match can be looked up by each organisation.
      routes.get('/aml/activity/:id', (context) => {
        const id = context.req.param('id');
        byId ??= new Map(watchlist.map((entry) => [entry.id, entry]));
        const listed = id.startsWith('amla_') ? byId.get(id) : undefined;
        if (!listed) return answerError(context, 404, 'No such record in this organisation.');
        context.var.entry.worked = true;
        return context.json(listed);
      });
    },
  };
};
