import { z } from 'zod';
import { AuthenticationError } from '../errors.js';
import type { ApiKeys, PublicKey } from './credentials.js';
import { type Answer, type CallOperation, type CallOptions, checkCallOptions } from './operation.js';
import { createShareOne } from './signals.js';
import { filledTextSchema, parseInput, recordSchema, type ServiceRecord, toPathSegment, toQuery } from './wire.js';

/** An answer of any fields, or of none. */
const statusSchema = z.looseObject({});
/** A short answer whose fields the interface does not show (interface: Sessions); they are as they came. */
export type ServiceStatus = z.infer<typeof statusSchema>;

/**
 * Makes calls that present the organisation's public key. It is fetched once for all of them. After an AuthenticationError it is fetched again,
 * and the call is repeated once with a new key. A caller stops waiting with the reason of its own signals; no caller's signal aborts the fetch.
 */
const createCallWithPublicKey = (apiKeys: ApiKeys) => {
  const shareOne = createShareOne<PublicKey>();
  let kept: PublicKey | undefined;

  const fetchKey = async ({ observer, timeoutMs }: CallOptions): Promise<PublicKey> => {
    const options = { ...(observer ? { observer } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const { data } = await apiKeys.public(options);
    kept = data;
    return data;
  };
  const findKey = async (options: CallOptions): Promise<PublicKey> =>
    kept ?? shareOne(() => fetchKey(options), options);

  return async <T>(call: (publicKey: string) => Promise<Answer<T>>, given: CallOptions = {}): Promise<Answer<T>> => {
    // A wrong option of one caller must not fail the others.
    const options = checkCallOptions(given);
    const key = await findKey(options);
    try {
      return await call(key.public_key);
    } catch (error) {
      if (!(error instanceof AuthenticationError)) throw error;
      if (kept === key) kept = undefined;
      const next = await findKey(options);
      if (next.public_key === key.public_key) throw error;
      return call(next.public_key);
    }
  };
};

/** What is known of an applicant, by the usual names. */
const applicantFields = {
  /** Your own id of the applicant. */
  unique_id: z.string().optional(),
  /** The first name of the applicant. */
  first_name: z.string().optional(),
  /** The last name of the applicant. */
  last_name: z.string().optional(),
  /** The e-mail address of the applicant. */
  email_address: z.string().optional(),
  /** The phone of the applicant. */
  phone_number: z.string().optional(),
  /** The language of the applicant. */
  i18n: z.string().optional(),
};

/** A new session, as given. */
const sessionInputSchema = z.looseObject({
  ...applicantFields,
  /** The KYC level; the setting `sessions.levelField` names its field. */
  level: filledTextSchema,
  /** Whether the answer also has the link as a QR code. */
  generate_qr: z.boolean().optional(),
});
/** A new session, by the usual names (interface: POST /sessions, not shown); unknown fields are sent as given. */
export type SessionInput = z.input<typeof sessionInputSchema>;

/** Changes of a session, as given. */
const sessionUpdateSchema = z.looseObject({
  ...applicantFields,
  /** The country of the applicant. */
  country_code: z.string().optional(),
});
/** Changes of a session, by the usual names (interface: POST /sessions/{session_id}, not shown); unknown fields are sent as given. */
export type SessionUpdate = z.input<typeof sessionUpdateSchema>;

/** The phone that gets the link, as given. */
const sessionSmsSchema = z.looseObject({
  /** The number of the phone. */
  phone_number: filledTextSchema,
});
/** The phone that gets the link (interface: POST /sessions/{session_id}/send_sms, not shown); unknown fields are sent as given. */
export type SessionSms = z.input<typeof sessionSmsSchema>;

/** Only true and false may be recorded (interface: PATCH /sessions/{session_id}/consent). */
const consentSchema = z.boolean();

const textSchema = z.string().min(1).nullish();

const createdSessionSchema = z
  .looseObject({
    session_id: textSchema,
    session_token: textSchema,
    token: textSchema,
    id: textSchema,
    url: textSchema,
    verification_url: textSchema,
    qr_base64_png: z.string().nullish(),
  })
  .transform((created, context) => {
    const sessionId = created.session_id ?? created.session_token ?? created.token ?? created.id;
    const url = created.url ?? created.verification_url;
    if (sessionId && url) return { ...created, session_id: sessionId, url };
    context.addIssue({ code: 'custom', message: `has no ${sessionId ? 'url' : 'session_id'} under any known name` });
    return z.NEVER;
  });
/** A created session (interface: Session); unknown fields are kept. */
export interface CreatedSession {
  /** The token of the session, under whichever of its known names the service sent it; it opens the session. */
  session_id: string;
  /** The link for the applicant. */
  url: string;
  /** The link as a QR code: a PNG image in base64. */
  qr_base64_png?: string | null | undefined;
  /** The other fields, as they came. */
  [field: string]: unknown;
}

/** The session operations (interface: Sessions). The token opens its session, so messages and observers get the route instead. */
export interface Sessions {
  /** Creates a session with the organisation's public key, POST /sessions; never repeated once it may have arrived. */
  create(input: SessionInput, options?: CallOptions): Promise<Answer<CreatedSession>>;
  /** Ends an active session, DELETE /sessions/{session_id}. */
  cancel(sessionId: string, options?: CallOptions): Promise<Answer<ServiceStatus>>;
  /** Changes personal and contact information, POST /sessions/{session_id}. */
  update(sessionId: string, update: SessionUpdate, options?: CallOptions): Promise<Answer<ServiceStatus>>;
  /** The session, GET /sessions/{session_id}; throws GoneError when it was cancelled or consent was refused. */
  retrieve(sessionId: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** Sends the link to the applicant's phone, POST /sessions/{session_id}/send_sms; never repeated. */
  sendSms(sessionId: string, sms: SessionSms, options?: CallOptions): Promise<Answer<ServiceStatus>>;
  /** The next step, GET /sessions/{session_id}/preflight, usually with `screen` and `requirement`; throws ConsentRequiredError before consent. */
  preflight(sessionId: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** Records the applicant's decision, PATCH /sessions/{session_id}/consent. */
  consent(sessionId: string, givesConsent: boolean, options?: CallOptions): Promise<Answer<ServiceStatus>>;
  /** Credentials for the liveness capture, POST /sessions/{session_id}/liveness/start. */
  startLiveness(sessionId: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
  /** Whether the capture succeeded or must be repeated, POST /sessions/{session_id}/liveness/complete. */
  completeLiveness(sessionId: string, options?: CallOptions): Promise<Answer<ServiceRecord>>;
}

/** The interface declares no credential for the operations on one session. */
const toPlace = (name: string, sessionId: string, step = '') =>
  ({
    name,
    path: `/sessions/${toPathSegment(name, sessionId)}${step}`,
    route: `/sessions/{session_id}${step}`,
    authentication: 'none',
    isBillable: false,
  }) as const;

const reads = { method: 'GET', successStatus: 200, retry: 'repeatable', schema: recordSchema } as const;
const changes = { schema: statusSchema, mayBeEmpty: true } as const;

/**
 * The session operations over `callOperation`. `apiKeys` gives the public key for creations; `levelField` names the field of the level (interface:
 * POST /sessions, not shown).
 */
export const createSessions = (callOperation: CallOperation, apiKeys: ApiKeys, levelField = 'kyc_level'): Sessions => {
  const callWithPublicKey = createCallWithPublicKey(apiKeys);
  const advanceLiveness = async (sessionId: string, step: 'start' | 'complete', options?: CallOptions) => {
    const place = toPlace(`sessions.liveness_${step}`, sessionId, `/liveness/${step}`);
    const rules = { method: 'POST', successStatus: 201, retry: 'after_refusal', schema: recordSchema } as const;
    return callOperation({ ...place, ...rules }, options);
  };
  return {
    create: async (input, options) => {
      const { level, ...fields } = parseInput('sessions.create', sessionInputSchema, input);
      const place = { name: 'sessions.create', method: 'POST', path: '/sessions' } as const;
      const body = { ...fields, [levelField]: level };
      const rules = { successStatus: 201, retry: 'after_refusal', isBillable: true } as const;
      const operation = { ...place, body, ...rules, schema: createdSessionSchema };
      const create = (publicKey: string) => callOperation({ ...operation, authentication: { publicKey } }, options);
      return callWithPublicKey(create, options);
    },
    cancel: async (sessionId, options) => {
      const place = toPlace('sessions.cancel', sessionId);
      const rules = { method: 'DELETE', successStatus: 200, retry: 'after_refusal' } as const;
      return callOperation({ ...place, ...rules, ...changes }, options);
    },
    update: async (sessionId, update, options) => {
      const place = toPlace('sessions.update', sessionId);
      const body = parseInput('sessions.update', sessionUpdateSchema, update);
      // Repeated, the same fields leave the same session.
      const rules = { method: 'POST', successStatus: 201, retry: 'repeatable' } as const;
      return callOperation({ ...place, body, ...rules, ...changes }, options);
    },
    retrieve: async (sessionId, options) => {
      const place = toPlace('sessions.retrieve', sessionId);
      return callOperation({ ...place, ...reads }, options);
    },
    sendSms: async (sessionId, sms, options) => {
      const place = toPlace('sessions.send_sms', sessionId, '/send_sms');
      const body = parseInput('sessions.send_sms', sessionSmsSchema, sms);
      const rules = { method: 'POST', successStatus: 201, retry: 'never', isBillable: true } as const;
      return callOperation({ ...place, body, ...rules, ...changes }, options);
    },
    preflight: async (sessionId, options) => {
      const place = toPlace('sessions.preflight', sessionId, '/preflight');
      return callOperation({ ...place, ...reads }, options);
    },
    consent: async (sessionId, givesConsent, options) => {
      const place = toPlace('sessions.consent', sessionId, '/consent');
      const decision = parseInput('sessions.consent', consentSchema, givesConsent);
      // The interface shows a body, the service's references a query; the service reads one of them.
      const [query, body] = [toQuery({ gives_consent: String(decision) }), { gives_consent: decision }];
      // Repeated, the same decision leaves the same session.
      const rules = { method: 'PATCH', successStatus: 200, retry: 'repeatable' } as const;
      return callOperation({ ...place, query, body, ...rules, ...changes }, options);
    },
    startLiveness: (sessionId, options) => advanceLiveness(sessionId, 'start', options),
    completeLiveness: (sessionId, options) => advanceLiveness(sessionId, 'complete', options),
  };
};
