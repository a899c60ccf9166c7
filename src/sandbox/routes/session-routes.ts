import type { Hono } from 'hono';
import { z } from 'zod';
import { answerError } from '../answer-error.js';
import type { CallEnv } from '../call.js';
import { phoneSchema } from '../contact-data.js';
import { describeProblem } from '../describe-problem.js';
import { QR_IMAGE_BASE64 } from '../qr-image.js';
import type { SandboxService } from '../service.js';
import { newSessionSchema, sessionUpdateSchema } from '../sessions/applicant.js';
import { isOver, toSessionRecord } from '../sessions/session.js';
import { toVerificationUrl } from '../sessions/verification-url.js';

const MAX_SMS = 3;
const smsSchema = z.object({ phone_number: phoneSchema });
const INVALID_SESSION = 'Invalid session.';

const toWebSocketUrl = (requestUrl: string, sessionId: string): string =>
  `${new URL(requestUrl).origin.replace(/^http/, 'ws')}/session_events/${sessionId}`;

/** Adds opening, updating, showing and canceling a session and its device switch (interface: Sessions). */
export const addSessionRoutes = (routes: Hono<CallEnv>, service: SandboxService): void => {
  routes.post('/sessions', (context) => {
    const request = newSessionSchema.safeParse(context.var.body);
    if (!request.success) return answerError(context, 400, describeProblem(request.error));
    const { kyc_level: level, generate_qr: wantsQr, ...applicant } = request.data;
    if (level !== service.keyRing.keys.kycLevel) return answerError(context, 404, 'Invalid KYC level.');
    const session = service.sessions.open(level, applicant);
    context.var.entry.worked = true;
    return context.json(
      {
        session_id: session.id,
        url: toVerificationUrl(context.req.url, session.id),
        ...(wantsQr ? { qr_base64_png: QR_IMAGE_BASE64 } : {}),
        websocket_url: toWebSocketUrl(context.req.url, session.id),
        branding: {},
      },
      201,
    );
  });

  routes.delete('/sessions/:id', (context) => {
    const session = service.sessions.find(context.req.param('id'));
    if (!session) return answerError(context, 404, INVALID_SESSION);
    session.isCanceled = true;
    context.var.entry.worked = true;
    return context.json({ status: 'canceled' });
  });

  routes.post('/sessions/:id', (context) => {
    const session = service.sessions.find(context.req.param('id'));
    if (!session || isOver(session)) return answerError(context, 404, INVALID_SESSION);
    const update = sessionUpdateSchema.safeParse(context.var.body);
    if (!update.success) return answerError(context, 400, describeProblem(update.error));
    Object.assign(session.applicant, update.data);
    context.var.entry.worked = true;
    return context.json({ status: 'updated' }, 201);
  });

  routes.get('/sessions/:id', (context) => {
    const session = service.sessions.find(context.req.param('id'));
    if (!session) return answerError(context, 404, INVALID_SESSION);
    if (isOver(session)) return answerError(context, 410, 'The session is canceled or consent was not given.');
    context.var.entry.worked = true;
    return context.json(toSessionRecord(session));
  });

  routes.post('/sessions/:id/send_sms', (context) => {
    const session = service.sessions.find(context.req.param('id'));
    if (!session || isOver(session)) return answerError(context, 404, INVALID_SESSION);
    const request = smsSchema.safeParse(context.var.body);
    if (!request.success) return answerError(context, 400, describeProblem(request.error));
    if (session.smsSent >= MAX_SMS) return answerError(context, 429, 'Too many attempts.', 'too_many_attempts');
    session.smsSent += 1;
    context.var.entry.worked = true;
    return context.json({ status: 'sent' }, 201);
  });
};
