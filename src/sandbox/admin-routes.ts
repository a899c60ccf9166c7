import type { Hono } from 'hono';
import { z } from 'zod';
import type { CallEnv } from './call.js';
import { toErrorBody } from './error-answer.js';
import { faultSchema } from './faults.js';
import type { SandboxService } from './service.js';
import { loadWorld, rankingSchema } from './world.js';

const worldRequestSchema = z.strictObject({
  watchlists: z.array(z.string()),
  dossiers: z.string().optional(),
  ranking: rankingSchema.optional(),
});

const readJson = async (request: Request): Promise<unknown> => {
  try {
    return await request.json();
  } catch {
    return undefined;
  }
};

/** Adds the routes that steer a sandbox and read its ledger; they need no key and are no part of the service's interface. */
export const addAdminRoutes = (app: Hono<CallEnv>, service: SandboxService): void => {
  app.get('/_sandbox/ledger', (context) =>
    context.json({ counts: service.ledger.counts(), calls: service.ledger.calls() }),
  );

  app.delete('/_sandbox/ledger', (context) => {
    service.ledger.clear();
    return context.body(null, 204);
  });

  app.put('/_sandbox/faults', async (context) => {
    const faults = z.array(faultSchema).safeParse(await readJson(context.req.raw));
    if (!faults.success) return context.json(toErrorBody(400, z.prettifyError(faults.error)), 400);
    service.faults.replace(faults.data);
    return context.body(null, 204);
  });

  app.put('/_sandbox/world', async (context) => {
    const request = worldRequestSchema.safeParse(await readJson(context.req.raw));
    if (!request.success) return context.json(toErrorBody(400, z.prettifyError(request.error)), 400);
    const { watchlists, dossiers, ranking } = request.data;
    try {
      const world = await loadWorld({ watchlists, ...(dossiers === undefined ? {} : { dossiers }) });
      service.setWorld({ ...world, ...(ranking === undefined ? {} : { ranking }) });
    } catch (error) {
      return context.json(toErrorBody(400, error instanceof Error ? error.message : String(error)), 400);
    }
    return context.body(null, 204);
  });
};
