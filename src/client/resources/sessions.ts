import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';
import type { ApiKeys } from './api-keys.js';
import { createCallWithPublicKey } from './call-with-public-key.js';
import { type CreatedSession, createdSessionSchema } from './created-session.js';
import { parseInput } from './parse-input.js';
import { recordSchema, type ServiceRecord, type ServiceStatus, statusSchema } from './record-schema.js';
import {
  consentSchema,
  type SessionInput,
  type SessionSms,
  type SessionUpdate,
  sessionInputSchema,
  sessionSmsSchema,
  sessionUpdateSchema,
} from './session-inputs.js';
import { toPathSegment } from './to-path-segment.js';
import { toQuery } from './to-query.js';

export type { CreatedSession, SessionInput, SessionSms, SessionUpdate };

/** The session operations of the interface (interface: Sessions); a session's token opens it, so messages and observers get the route instead. */
export interface Sessions {
  /** Creates a session with the organisation's public key, POST /sessions; never repeated once it may have arrived. */
  create(input: SessionInput, options?: CallOptions): Promise<Answer<CreatedSession>>;
  /** Ends an active session, DELETE /sessions/{session_id}. */
  cancel(sessionId: string, options?: CallOptions): Promise<Answer<ServiceStatus>>;
  /** Changes personal and contact information, POST /sessions/{session_id}. */
  update(sessionId: string, update: SessionUpdate, options?: CallOptions): Promise<Answer<ServiceStatus>>;
  /** The session, GET /sessions/{session_id}; GoneError when it was cancelled or consent was not given. */
  retrieve(sessionId: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** Writes to the applicant's phone, POST /sessions/{session_id}/send_sms; never repeated, whatever happens. */
  sendSms(sessionId: string, sms: SessionSms, options?: CallOptions): Promise<Answer<ServiceStatus>>;
  /** The next step of the flow, GET /sessions/{session_id}/preflight; usually with `screen` and `requirement`; ConsentRequiredError before consent. */
  preflight(sessionId: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** Records the applicant's decision, PATCH /sessions/{session_id}/consent. */
  consent(sessionId: string, givesConsent: boolean, options?: CallOptions): Promise<Answer<ServiceStatus>>;
  /** Credentials for the liveness capture, POST /sessions/{session_id}/liveness/start. */
  startLiveness(sessionId: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** Whether the capture succeeded or must be run again, POST /sessions/{session_id}/liveness/complete. */
  completeLiveness(sessionId: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
}

const toCreation = (body: Readonly<Record<string, unknown>>, publicKey: string): Operation<CreatedSession> => ({
  name: 'sessions.create',
  method: 'POST',
  path: '/sessions',
  body,
  successStatus: 201,
  authentication: { publicKey },
  retry: 'after_refusal',
  isBillable: true,
  schema: createdSessionSchema,
});

/** What all operations on one session have in common; the interface declares no credential for them. */
const toPlace = (name: string, sessionId: string, step = '') =>
  ({
    name,
    path: `/sessions/${toPathSegment(name, sessionId)}${step}`,
    route: `/sessions/{session_id}${step}`,
    authentication: 'none',
    isBillable: false,
  }) as const;

const toCancellation = (sessionId: string): Operation<ServiceStatus> => ({
  ...toPlace('sessions.cancel', sessionId),
  method: 'DELETE',
  successStatus: 200,
  retry: 'after_refusal',
  schema: statusSchema,
  mayBeEmpty: true,
});

const toUpdate = (sessionId: string, update: SessionUpdate): Operation<ServiceStatus> => ({
  ...toPlace('sessions.update', sessionId),
  method: 'POST',
  body: parseInput('sessions.update', sessionUpdateSchema, update),
  successStatus: 201,
  // The same fields once more leave the same session.
  retry: 'repeatable',
  schema: statusSchema,
  mayBeEmpty: true,
});

const toRetrieval = (sessionId: string): Operation<ServiceRecord> => ({
  ...toPlace('sessions.retrieve', sessionId),
  method: 'GET',
  successStatus: 200,
  retry: 'repeatable',
  schema: recordSchema,
});

const toSms = (sessionId: string, sms: SessionSms): Operation<ServiceStatus> => ({
  ...toPlace('sessions.send_sms', sessionId, '/send_sms'),
  method: 'POST',
  body: parseInput('sessions.send_sms', sessionSmsSchema, sms),
  successStatus: 201,
  retry: 'never',
  isBillable: true,
  schema: statusSchema,
  mayBeEmpty: true,
});

const toPreflight = (sessionId: string): Operation<ServiceRecord> => ({
  ...toPlace('sessions.preflight', sessionId, '/preflight'),
  method: 'GET',
  successStatus: 200,
  retry: 'repeatable',
  schema: recordSchema,
});

const toConsent = (sessionId: string, givesConsent: boolean): Operation<ServiceStatus> => {
  const decision = parseInput('sessions.consent', consentSchema, givesConsent);
  return {
    ...toPlace('sessions.consent', sessionId, '/consent'),
    method: 'PATCH',
    // The interface speaks of a body, the service's references of a query; each is understood where the other is not.
    query: toQuery({ gives_consent: String(decision) }),
    body: { gives_consent: decision },
    successStatus: 200,
    // The same decision once more leaves the same session.
    retry: 'repeatable',
    schema: statusSchema,
    mayBeEmpty: true,
  };
};

const toLiveness = (sessionId: string, step: 'start' | 'complete'): Operation<ServiceRecord> => ({
  ...toPlace(`sessions.liveness_${step}`, sessionId, `/liveness/${step}`),
  method: 'POST',
  successStatus: 201,
  retry: 'after_refusal',
  schema: recordSchema,
});

/**
 * The session operations over `callOperation`; `apiKeys` gives the public key that a creation presents, `levelField` is the name under which
 * its level is sent (interface: POST /sessions, not shown).
 */
export const createSessions = (callOperation: CallOperation, apiKeys: ApiKeys, levelField = 'kyc_level'): Sessions => {
  const callWithPublicKey = createCallWithPublicKey(apiKeys);
  return {
    create: async (input, options) => {
      const { level, ...fields } = parseInput('sessions.create', sessionInputSchema, input);
      const body = { ...fields, [levelField]: level };
      return callWithPublicKey((publicKey) => callOperation(toCreation(body, publicKey), options), options);
    },
    cancel: async (sessionId, options) => callOperation(toCancellation(sessionId), options),
    update: async (sessionId, update, options) => callOperation(toUpdate(sessionId, update), options),
    retrieve: async (sessionId, options) => callOperation(toRetrieval(sessionId), options),
    sendSms: async (sessionId, sms, options) => callOperation(toSms(sessionId, sms), options),
    preflight: async (sessionId, options) => callOperation(toPreflight(sessionId), options),
    consent: async (sessionId, givesConsent, options) => callOperation(toConsent(sessionId, givesConsent), options),
    startLiveness: async (sessionId, options) => callOperation(toLiveness(sessionId, 'start'), options),
    completeLiveness: async (sessionId, options) => callOperation(toLiveness(sessionId, 'complete'), options),
  };
};
