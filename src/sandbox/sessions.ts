import type { Hono } from 'hono';
import { z } from 'zod';
import { answerError, type Call, type CallEnv, describeProblem, emailSchema, phoneSchema } from './calls.js';
import { makeToken } from './keys.js';
import type { SandboxClock } from './sandbox-clock.js';

/** A small PNG in base64 in place of a QR code. */
export const QR_IMAGE_BASE64 =
  'iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQAAAADsdIMmAAAADklEQVR42mMIZVjFgIQBHpwD/XAVyZAAAAAASUVORK5CYII=';

interface Session {
  id: string;
  level: string;
  applicant: Record<string, unknown>;
  createdAtMs: number;
  isCanceled: boolean;
  hasConsent: boolean | null;
  smsSent: number;
  liveness: 'not_started' | 'started' | 'succeeded';
}

/** Whether the session has ended: canceled, or consent refused (interface: States, Session). */
const isOver = (session: Session): boolean => session.isCanceled || session.hasConsent === false;

const toState = (session: Session): string => {
  if (session.hasConsent === null) return 'consent_pending';
  return session.liveness === 'succeeded' ? 'completed' : 'in_progress';
};

/** The public form of a session (interface: GET /sessions/{session_id}). */
const toSessionRecord = (session: Session) => ({
  session_id: session.id,
  kyc_level: session.level,
  status: toState(session),
  gives_consent: session.hasConsent,
  created_at: new Date(session.createdAtMs).toISOString(),
  ...session.applicant,
});

const findStep = (session: Session): { type: string; show: string; order: number } => {
  if (session.liveness === 'succeeded') return { type: 'none', show: 'finished', order: 3 };
  if (session.liveness === 'started') return { type: 'liveness', show: 'liveness_capture', order: 2 };
  return { type: 'liveness', show: 'liveness_intro', order: 1 };
};

/** The next step (service facts: preflight). */
const toPreflight = (session: Session) => {
  const step = findStep(session);
  return {
    session: toSessionRecord(session),
    session_id: session.id,
    entity_id_state: toState(session),
    entity_id_document_type: null,
    requirement: {
      requirement_type: step.type,
      status: step.type === 'none' ? 'completed' : 'pending',
      flow_order: step.order,
    },
    screen: { show: step.show, parameters: {} },
    extra_data: {},
  };
};

/** The facts of an applicant (service facts: POST /sessions); other fields are ignored. */
const applicantSchema = z.object({
  unique_id: z.string().optional(),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  email_address: emailSchema.optional(),
  phone_number: phoneSchema.optional(),
  i18n: z.string().optional(),
});

const newSessionSchema = applicantSchema.extend({
  kyc_level: z.string().optional(),
  generate_qr: z.boolean().default(false),
});

/** The input of `POST /sessions/{session_id}`; the level cannot change. */
const sessionUpdateSchema = applicantSchema.extend({ country_code: z.string().optional() });

const toWebSocketUrl = (requestUrl: string, sessionId: string): string =>
  `${new URL(requestUrl).origin.replace(/^http/, 'ws')}/session_events/${sessionId}`;

const MAX_SMS = 3;
const smsSchema = z.object({ phone_number: phoneSchema });
const CREDENTIALS_LIFETIME_MS = 15 * 60_000;
const INVALID_SESSION = 'Invalid session.';
const GONE_SESSION = 'The session is canceled or consent was not given.';

/** Adds an operation on a session, which is answered with 404 for an unknown one. */
type OnSession = (method: string, path: string, act: (context: Call, session: Session) => Response) => void;

/** The sessions of a sandbox; the token alone gives access (interface: Authentication 3). */
export const createSessionDesk = (clock: SandboxClock, kycLevel: string) => {
  const sessions = new Map<string, Session>();
  /** Opens a session; gives its token, and the applicant's link on the host of `requestUrl`. */
  const open = (requestUrl: string, level: string, applicant: Record<string, unknown>): { id: string; url: string } => {
    const id = makeToken();
    const state = { isCanceled: false, hasConsent: null, smsSent: 0, liveness: 'not_started' } as const;
    sessions.set(id, { id, level, applicant, createdAtMs: clock.nowMs(), ...state });
    return { id, url: `${new URL(requestUrl).origin}/verify/${id}` };
  };

  const addLifeRoutes = (routes: Hono<CallEnv>, onSession: OnSession): void => {
    routes.post('/sessions', (context) => {
      const request = newSessionSchema.safeParse(context.var.body);
      if (!request.success) return answerError(context, 400, describeProblem(request.error));
      const { kyc_level: level, generate_qr: wantsQr, ...applicant } = request.data;
      if (level !== kycLevel) return answerError(context, 404, 'Invalid KYC level.');
      const { id, url } = open(context.req.url, level, applicant);
      return context.json(
        {
          session_id: id,
          url,
          ...(wantsQr ? { qr_base64_png: QR_IMAGE_BASE64 } : {}),
          websocket_url: toWebSocketUrl(context.req.url, id),
          branding: {},
        },
        201,
      );
    });

    onSession('DELETE', '/sessions/:id', (context, session) => {
      session.isCanceled = true;
      return context.json({ status: 'canceled' });
    });

    onSession('POST', '/sessions/:id', (context, session) => {
      if (isOver(session)) return answerError(context, 404, INVALID_SESSION);
      const update = sessionUpdateSchema.safeParse(context.var.body);
      if (!update.success) return answerError(context, 400, describeProblem(update.error));
      Object.assign(session.applicant, update.data);
      return context.json({ status: 'updated' }, 201);
    });

    onSession('GET', '/sessions/:id', (context, session) => {
      if (isOver(session)) return answerError(context, 410, GONE_SESSION);
      return context.json(toSessionRecord(session));
    });

    onSession('POST', '/sessions/:id/send_sms', (context, session) => {
      if (isOver(session)) return answerError(context, 404, INVALID_SESSION);
      const request = smsSchema.safeParse(context.var.body);
      if (!request.success) return answerError(context, 400, describeProblem(request.error));
      if (session.smsSent >= MAX_SMS) return answerError(context, 429, 'Too many attempts.', 'too_many_attempts');
      session.smsSent += 1;
      return context.json({ status: 'sent' }, 201);
    });
  };

  /** The operations of an applicant's device: next step, consent and liveness capture. */
  const addFlowRoutes = (onSession: OnSession): void => {
    onSession('GET', '/sessions/:id/preflight', (context, session) => {
      if (isOver(session)) return answerError(context, 410, GONE_SESSION);
      if (session.hasConsent === null) return answerError(context, 451, 'Ask the user for consent first.');
      return context.json(toPreflight(session));
    });

    onSession('PATCH', '/sessions/:id/consent', (context, session) => {
      if (session.isCanceled) return answerError(context, 404, INVALID_SESSION);
      const decision = context.req.query('gives_consent');
      if (decision !== 'true' && decision !== 'false') {
        return answerError(context, 400, 'gives_consent: must be true or false');
      }
      session.hasConsent = decision === 'true';
      return context.json({ status: session.hasConsent ? 'consent_given' : 'consent_refused' });
    });

    onSession('POST', '/sessions/:id/liveness/start', (context, session) => {
      if (isOver(session) || session.hasConsent === null) {
        return answerError(context, 400, 'The liveness capture could not start.');
      }
      session.liveness = 'started';
      return context.json(
        {
          liveness_session_id: makeToken(),
          credentials: {
            access_key_id: makeToken(),
            secret_access_key: makeToken(),
            session_token: makeToken(),
            expiration: new Date(clock.nowMs() + CREDENTIALS_LIFETIME_MS).toISOString(),
          },
        },
        201,
      );
    });

    onSession('POST', '/sessions/:id/liveness/complete', (context, session) => {
      // A capture that was never started has no result: it must be repeated.
      const hasCapture = session.liveness !== 'not_started' && !isOver(session);
      if (hasCapture) session.liveness = 'succeeded';
      return context.json({ status: hasCapture ? 'succeeded' : 'retry' }, 201);
    });
  };

  return {
    open,
    /** Adds the operations on sessions (interface: Sessions). */
    addRoutes: (routes: Hono<CallEnv>): void => {
      const onSession: OnSession = (method, path, act) => {
        routes.on(method, path, (context) => {
          const session = sessions.get(context.req.param('id') ?? '');
          return session ? act(context, session) : answerError(context, 404, INVALID_SESSION);
        });
      };
      addLifeRoutes(routes, onSession);
      addFlowRoutes(onSession);
    },
  };
};
