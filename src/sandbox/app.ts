import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { answerError, type CallEnv, recordCall, requireKey } from './calls.js';
import { addControls } from './controls.js';
import { addDossierRoutes } from './dossiers/dossier-routes.js';
import type { SandboxService } from './service.js';
import { applyTrouble } from './trouble/apply-trouble.js';

/** Where the service's interface begins. */
export const VERSION_PREFIX = '/v1';

const serviceRoutes = (service: SandboxService): Hono<CallEnv> => {
  const routes = new Hono<CallEnv>();
  routes.use(cors({ origin: '*', exposeHeaders: ['X-Request-Id', 'Retry-After'] }));
  routes.use(recordCall(service, VERSION_PREFIX), applyTrouble(service), requireKey);
  service.aml.addRoutes(routes);
  addDossierRoutes(routes, service);
  service.invitations.addRoutes(routes);
  service.sessions.addRoutes(routes);
  routes.get('/api_keys/public', (context) => {
    const { owner, entry } = context.var;
    entry.worked = true;
    return context.json({ public_key: owner?.publicKey, is_test: owner?.mode === 'test' });
  });
  routes.all('*', (context) => answerError(context, 404, 'No such operation.'));
  return routes;
};

/** The sandbox's HTTP application: the service's interface below the version prefix, and `/_sandbox` to steer it. */
export const createApp = (service: SandboxService): Hono<CallEnv> => {
  const app = new Hono<CallEnv>();
  app.route(VERSION_PREFIX, serviceRoutes(service));
  addControls(app, service);
  service.media.addRoutes(app);
  app.notFound((context) => answerError(context, 404, 'No such path.'));
  app.onError((error, context) => answerError(context, 500, error.message));
  return app;
};
