import type { Hono } from 'hono';
import { answerError } from '../answer-error.js';
import type { CallEnv } from '../call.js';
import { makeToken } from '../make-token.js';
import type { SandboxService } from '../service.js';
import { isOver, toPreflight } from '../sessions/session.js';

const CREDENTIALS_LIFETIME_MS = 15 * 60_000;
const INVALID_SESSION = 'Invalid session.';

/** Adds what an applicant's device does in a session: next step, consent and liveness capture (interface: Sessions). */
export const addSessionFlowRoutes = (routes: Hono<CallEnv>, service: SandboxService): void => {
  routes.get('/sessions/:id/preflight', (context) => {
    const session = service.sessions.find(context.req.param('id'));
    if (!session) return answerError(context, 404, INVALID_SESSION);
    if (isOver(session)) return answerError(context, 410, 'The session is canceled or consent was not given.');
    if (session.hasConsent === null) return answerError(context, 451, 'Ask the user for consent first.');
    context.var.entry.worked = true;
    return context.json(toPreflight(session));
  });

  routes.patch('/sessions/:id/consent', (context) => {
    const session = service.sessions.find(context.req.param('id'));
    if (!session || session.isCanceled) return answerError(context, 404, INVALID_SESSION);
    const decision = context.req.query('gives_consent');
    if (decision !== 'true' && decision !== 'false') {
      return answerError(context, 400, 'gives_consent: must be true or false');
    }
    session.hasConsent = decision === 'true';
    context.var.entry.worked = true;
    return context.json({ status: session.hasConsent ? 'consent_given' : 'consent_refused' });
  });

  routes.post('/sessions/:id/liveness/start', (context) => {
    const session = service.sessions.find(context.req.param('id'));
    if (!session) return answerError(context, 404, INVALID_SESSION);
    if (isOver(session) || session.hasConsent === null) {
      return answerError(context, 400, 'The liveness capture could not start.');
    }
    session.liveness = 'started';
    context.var.entry.worked = true;
    return context.json(
      {
        liveness_session_id: makeToken(),
        credentials: {
          access_key_id: makeToken(),
          secret_access_key: makeToken(),
          session_token: makeToken(),
          expiration: new Date(service.clock.nowMs() + CREDENTIALS_LIFETIME_MS).toISOString(),
        },
      },
      201,
    );
  });

  routes.post('/sessions/:id/liveness/complete', (context) => {
    const session = service.sessions.find(context.req.param('id'));
    if (!session) return answerError(context, 404, INVALID_SESSION);
    // A capture that was never started has nothing to judge: it is to be run again.
    const hasCapture = session.liveness !== 'not_started' && !isOver(session);
    if (hasCapture) session.liveness = 'succeeded';
    context.var.entry.worked = true;
    return context.json({ status: hasCapture ? 'succeeded' : 'retry' }, 201);
  });
};
