import { expect } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';

/** One operation of the interface, how it is called in this test, and what it answers. */
export interface Operation {
  call: string;
  auth: 'private' | 'private or jwt' | 'public' | 'none';
  status: number;
  body?: unknown;
  answer: object;
}

/** What the operations act on: a session without consent, and an invitation that may be resent. */
export interface Subjects {
  sessionId: string;
  sentInvitation: string;
}

const aText = expect.any(String);
const media = {
  type: aText,
  name: aText,
  page: 1,
  url: expect.stringMatching(/^http:.*expires=\d+/),
  created_at: aText,
};

/** The body of a valid request for an invitation. */
export const toInvitationBody = (sandbox: Sandbox) => ({
  workflowToken: sandbox.workflowToken,
  channel: 'email',
  recipient: 'ada@example.org',
});

/**
 * All operations of the interface, in an order in which each finds the state that it needs. The world has the dossier
 * `dossier_one` of Ivan Morozkin, who is listed as `amla_ivan`.
 */
export const listOperations = (sandbox: Sandbox, { sessionId, sentInvitation }: Subjects): Operation[] => [
  {
    call: 'POST /dossiers',
    auth: 'private',
    status: 201,
    body: { type: 'kyb', level: sandbox.kybLevel, generate_qr: true },
    answer: {
      id: expect.stringMatching(/^dossier_\w{24}$/),
      token: aText,
      verification_url: aText,
      qr_base64_png: aText,
    },
  },
  {
    call: 'GET /dossiers',
    auth: 'private',
    status: 200,
    answer: { dossiers: expect.any(Array), page: 1, per_page: 50, total: expect.any(Number), total_pages: 1 },
  },
  {
    call: 'GET /dossiers/dossier_one',
    auth: 'private',
    status: 200,
    answer: {
      ...{ id: 'dossier_one', type: 'kyc', status: 'approved', media: [media] },
      entities: [
        {
          identity_documents: [{ images: [media, media, media] }],
          media: [media],
          liveness_images: [media, media, media],
        },
      ],
    },
  },
  {
    call: 'GET /dossiers/entity/entity_one',
    auth: 'private',
    status: 200,
    answer: { id: 'entity_one', personal_information: { full_name: 'Ivan Morozkin' }, address: expect.any(Object) },
  },
  {
    call: 'GET /dossiers/identity_document/id_doc_one',
    auth: 'private',
    status: 200,
    answer: { id: 'id_doc_one', images: [{ type: 'front' }, { type: 'back' }, { type: 'cropped' }] },
  },
  {
    call: 'GET /dossiers/decision/decision_one',
    auth: 'private',
    status: 200,
    answer: {
      ...{ id: 'decision_one', status: 'approved', risk_tags: [] },
      ...{ dossier: { id: 'dossier_one' }, entity: { id: 'entity_one' }, identity_document: { id: 'id_doc_one' } },
    },
  },
  { call: 'GET /dossiers/address_proof/poa_one', auth: 'private', status: 200, answer: { id: 'poa_one' } },
  { call: 'GET /dossiers/funds_proof/pof_one', auth: 'private', status: 200, answer: { id: 'pof_one' } },
  {
    call: 'POST /aml/search',
    auth: 'private',
    status: 201,
    body: { type: 'person', name: 'Ivan Morozkin' },
    answer: { query: 'Ivan Morozkin', type: 'person', total: 1, results: [{ id: 'amla_ivan', match: true }] },
  },
  {
    call: 'GET /aml/entity/aml_one',
    auth: 'private',
    status: 200,
    answer: { id: 'aml_one', screening_status: 'match', activities: [{ id: 'amla_ivan' }] },
  },
  {
    call: 'GET /aml/activity/amla_ivan',
    auth: 'private',
    status: 200,
    answer: { id: 'amla_ivan', name: 'Ivan Morozkin', topics: ['sanction'] },
  },
  {
    call: 'GET /api_keys/public',
    auth: 'private',
    status: 200,
    answer: { public_key: sandbox.publicKey, is_test: true },
  },
  {
    call: 'GET /autodoc/invitations/locales',
    auth: 'private or jwt',
    status: 200,
    answer: { locales: expect.arrayContaining([{ code: 'en', name: aText }]) },
  },
  {
    call: 'GET /autodoc/invitations',
    auth: 'private or jwt',
    status: 200,
    answer: { invitations: expect.any(Array), pagination: { page: 1, perPage: 20, totalPages: 1 } },
  },
  {
    call: 'POST /autodoc/invitations',
    auth: 'private or jwt',
    status: 201,
    body: { ...toInvitationBody(sandbox), reference: 'R-1', locale: 'da' },
    answer: { token: expect.stringMatching(/^adi_\w{24}$/), status: 'pending', sentAt: null, reference: 'R-1' },
  },
  {
    call: `GET /autodoc/invitations/${sentInvitation}`,
    auth: 'private or jwt',
    status: 200,
    answer: { token: sentInvitation, status: 'sent', sentAt: aText, deliveryAttempts: 1 },
  },
  {
    call: `POST /autodoc/invitations/${sentInvitation}/resend`,
    auth: 'private or jwt',
    status: 201,
    answer: { token: sentInvitation, status: 'pending', sentAt: null, deliveryAttempts: 2 },
  },
  {
    call: 'POST /sessions',
    auth: 'public',
    status: 201,
    body: { kyc_level: sandbox.kycLevel, first_name: 'Ada', generate_qr: true },
    answer: { session_id: aText, url: aText, qr_base64_png: aText, websocket_url: expect.stringMatching(/^ws:/) },
  },
  {
    call: `PATCH /sessions/${sessionId}/consent?gives_consent=true`,
    auth: 'none',
    status: 200,
    answer: { status: 'consent_given' },
  },
  { call: `GET /sessions/${sessionId}`, auth: 'none', status: 200, answer: { session_id: sessionId } },
  {
    call: `POST /sessions/${sessionId}`,
    auth: 'none',
    status: 201,
    body: { email_address: 'ada@example.org', phone_number: '+45 12 34 56 78', country_code: 'dk' },
    answer: { status: 'updated' },
  },
  {
    call: `POST /sessions/${sessionId}/send_sms`,
    auth: 'none',
    status: 201,
    body: { phone_number: '+4512345678' },
    answer: { status: 'sent' },
  },
  {
    call: `GET /sessions/${sessionId}/preflight`,
    auth: 'none',
    status: 200,
    answer: {
      session_id: sessionId,
      requirement: { requirement_type: 'liveness', flow_order: 1 },
      screen: { show: aText },
    },
  },
  {
    call: `POST /sessions/${sessionId}/liveness/start`,
    auth: 'none',
    status: 201,
    answer: { credentials: { access_key_id: aText, expiration: aText } },
  },
  {
    call: `POST /sessions/${sessionId}/liveness/complete`,
    auth: 'none',
    status: 201,
    answer: { status: 'succeeded' },
  },
  { call: `DELETE /sessions/${sessionId}`, auth: 'none', status: 200, answer: { status: 'canceled' } },
];
