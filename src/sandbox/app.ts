import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { answerError } from './answer-error.js';
import type { CallEnv } from './call.js';
import { recordCall } from './record-call.js';
import { requireKey } from './require-key.js';
import { addAdminRoutes } from './routes/admin-routes.js';
import { addAmlRoutes } from './routes/aml-routes.js';
import { addApiKeyRoutes } from './routes/api-key-routes.js';
import { addDossierRoutes } from './routes/dossier-routes.js';
import { addInvitationRoutes } from './routes/invitation-routes.js';
import { addMediaRoutes } from './routes/media-routes.js';
import { addRecordRoutes } from './routes/record-routes.js';
import { addSessionFlowRoutes } from './routes/session-flow-routes.js';
import { addSessionRoutes } from './routes/session-routes.js';
import type { SandboxService } from './service.js';
import { applyTrouble } from './trouble/apply-trouble.js';

/** Where the service's interface begins. */
export const VERSION_PREFIX = '/v1';

const serviceRoutes = (service: SandboxService): Hono<CallEnv> => {
  const routes = new Hono<CallEnv>();
  routes.use(cors({ origin: '*', exposeHeaders: ['X-Request-Id', 'Retry-After'] }));
  routes.use(recordCall(service, VERSION_PREFIX), applyTrouble(service), requireKey);
  addAmlRoutes(routes, service);
  addRecordRoutes(routes, service);
  addDossierRoutes(routes, service);
  addApiKeyRoutes(routes);
  addInvitationRoutes(routes, service);
  addSessionRoutes(routes, service);
  addSessionFlowRoutes(routes, service);
  routes.all('*', (context) => answerError(context, 404, 'No such operation.'));
  return routes;
};

/** The sandbox's HTTP application: the service's interface below the version prefix, and `/_sandbox` to steer it. */
export const createApp = (service: SandboxService): Hono<CallEnv> => {
  const app = new Hono<CallEnv>();
  app.route(VERSION_PREFIX, serviceRoutes(service));
  addAdminRoutes(app, service);
  addMediaRoutes(app, service);
  app.notFound((context) => answerError(context, 404, 'No such path.'));
  app.onError((error, context) => answerError(context, 500, error.message));
  return app;
};
