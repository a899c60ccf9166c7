import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import { z } from 'zod';
import { addAdminRoutes } from './admin-routes.js';
import { applyFaults } from './apply-faults.js';
import type { CallEnv } from './call.js';
import { toErrorBody } from './error-answer.js';
import { recordCall } from './record-call.js';
import type { SandboxService } from './service.js';

/** Where the service's interface begins. */
export const VERSION_PREFIX = '/v1';

const searchSchema = z.object({
  type: z.enum(['person', 'entity']),
  name: z.string().regex(/\S/, 'must not be blank'),
});

const requireKey = createMiddleware<CallEnv>(async (context, next) => {
  if (!context.var.owner)
    return context.json(toErrorBody(401, 'The private key is missing, malformed or revoked.'), 401);
  return next();
});

const serviceRoutes = (service: SandboxService): Hono<CallEnv> => {
  const routes = new Hono<CallEnv>();
  routes.use(cors({ origin: '*', exposeHeaders: ['X-Request-Id', 'Retry-After'] }));
  routes.use(recordCall(service, VERSION_PREFIX), applyFaults(service), requireKey);

  routes.post('/aml/search', (context) => {
    const request = searchSchema.safeParse(context.var.body);
    if (!request.success) return context.json(toErrorBody(400, z.prettifyError(request.error)), 400);
    const { type, name } = request.data;
    const found = service.search(type, name);
    context.var.entry.worked = true;
    return context.json({ query: name, type, total: found.length, results: found.slice(0, service.maxResults) }, 201);
  });

  routes.get('/dossiers', (context) => {
    const page = service.listDossiers(context.var.owner?.account ?? 'other', context.req.query());
    if ('problem' in page) return context.json(toErrorBody(400, page.problem), 400);
    context.var.entry.worked = true;
    return context.json(page);
  });

  routes.get('/api_keys/public', (context) => {
    const { owner, entry } = context.var;
    entry.worked = true;
    return context.json({ public_key: owner?.publicKey, is_test: owner?.mode === 'test' });
  });

  routes.all('*', (context) => context.json(toErrorBody(404, 'No such operation.'), 404));
  return routes;
};

/** The sandbox's HTTP application: the service's interface below the version prefix, and `/_sandbox` to steer it. */
export const createApp = (service: SandboxService): Hono<CallEnv> => {
  const app = new Hono<CallEnv>();
  app.route(VERSION_PREFIX, serviceRoutes(service));
  addAdminRoutes(app, service);
  app.notFound((context) => context.json(toErrorBody(404, 'No such path.'), 404));
  app.onError((error, context) => context.json(toErrorBody(500, error.message), 500));
  return app;
};
