import type { Client } from '../../../src/client/index.js';
import type { Operation } from '../../../src/client/operation.js';

/** What the operations act on, and the names that the service knows. */
export interface Subjects {
  kybLevel: string;
  kycLevel: string;
  workflowToken: string;
  invitation: string;
  session: string;
}

export const madeSubjects: Subjects = {
  kybLevel: 'Gold',
  kycLevel: 'Silver',
  workflowToken: 'wf_1',
  invitation: 'adi_1',
  session: 's_1',
};

/** One function of the client and what the interface says of the operation behind it. */
export interface Row {
  /** As the client has it, such as `dossiers.addressProof`. */
  called: string;
  run(client: Client, subjects: Subjects): Promise<unknown>;
  operation: string;
  method: string;
  url: string;
  route?: string;
  credential: 'private' | 'public' | 'none';
  body?: object;
  success: 200 | 201;
  answer: object;
  retry: Operation<unknown>['retry'];
  isBillable: boolean;
}

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
};

const reading = { method: 'GET', success: 200, retry: 'repeatable', isBillable: false } as const;
const keyed = { credential: 'private' } satisfies Partial<Row>;

const anything = { any: 'field' };
/** The look-up of one record by its id. */
const toLookUp = (called: string, url: string, run: Row['run'], answer: object = anything): Row => ({
  ...reading,
  ...keyed,
  called,
  run,
  operation: called.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  url,
  answer,
});

const phone = '+4512345678';
const date = '2025-01-02T03:04:05+05:30';
const dossier = { id: 'dossier_1', type: 'kyc', status: 'approved', created_at: date, updated_at: date };
const applicantDetail = { identity_documents: [], media: [], liveness_images: [] };
const dossierDetail = { ...dossier, media: [], entities: [applicantDetail] };
const dossierPage = { dossiers: [dossier], page: 1, per_page: 2, total: 1, total_pages: 1 };
const dossierQuery = { status: 'needs_attention', type: 'kyb', per_page: 2, search: 'a&b ø' } as const;
const dossierList = {
  ...reading,
  operation: 'dossiers.list',
  credential: 'private',
  answer: dossierPage,
} satisfies Partial<Row>;
const dossierFilters = 'search=a%26b+%C3%B8&status=needs_attention&type=kyb';

const dossiers: Row[] = [
  {
    called: 'dossiers.create',
    run: ({ dossiers }, { kybLevel }) =>
      dossiers.create({ type: 'kyb', level: kybLevel, send_sms: true, phone_number: phone, with_qr: true }),
    operation: 'dossiers.create',
    method: 'POST',
    url: '/dossiers',
    credential: 'private',
    body: { type: 'kyb', level: 'Gold', send_sms: true, phone_number: phone, with_qr: true },
    success: 201,
    answer: { token: 'ABC123DEF', verification_url: 'https://verify.example/x' },
    retry: 'after_refusal',
    isBillable: true,
  },
  {
    ...dossierList,
    called: 'dossiers.page',
    run: ({ dossiers }) => dossiers.page({ ...dossierQuery, starting_after: undefined, page: 1_000 }),
    url: `/dossiers?${dossierFilters}&page=1000&per_page=2`,
  },
  {
    ...dossierList,
    called: 'dossiers.pages',
    run: ({ dossiers }) => collect(dossiers.pages(dossierQuery)),
    url: `/dossiers?${dossierFilters}&page=1&per_page=2`,
  },
  {
    ...dossierList,
    called: 'dossiers.list',
    run: ({ dossiers }) => collect(dossiers.list(dossierQuery)),
    url: `/dossiers?${dossierFilters}&page=1&per_page=2`,
  },
  toLookUp('dossiers.retrieve', '/dossiers/dossier_1', ({ dossiers }) => dossiers.retrieve('dossier_1'), dossierDetail),
  toLookUp('dossiers.entity', '/dossiers/entity/entity_1', ({ dossiers }) => dossiers.entity('entity_1')),
  toLookUp(
    'dossiers.identityDocument',
    '/dossiers/identity_document/id_doc_1',
    ({ dossiers }) => dossiers.identityDocument('id_doc_1'),
    { images: [{ url: 'https://media.example/1' }] },
  ),
  toLookUp('dossiers.decision', '/dossiers/decision/decision_1', ({ dossiers }) => dossiers.decision('decision_1')),
  toLookUp('dossiers.addressProof', '/dossiers/address_proof/poa_1', ({ dossiers }) => dossiers.addressProof('poa_1')),
  toLookUp('dossiers.fundsProof', '/dossiers/funds_proof/pof_1', ({ dossiers }) => dossiers.fundsProof('pof_1')),
];

const person = { type: 'person', name: 'Plantina Nominova' } as const;
const search = {
  operation: 'aml.search',
  method: 'POST',
  url: '/aml/search',
  credential: 'private',
  body: person,
  success: 201,
  answer: { query: person.name, type: 'person', total: 0, results: [] },
  retry: 'repeatable',
  isBillable: true,
} satisfies Partial<Row>;

const aml: Row[] = [
  { ...search, called: 'aml.search', run: ({ aml }) => aml.search(person) },
  {
    ...search,
    called: 'aml.searchEach',
    run: async ({ aml }) => {
      for await (const { error } of aml.searchEach([{ ...person, customerId: 7 }])) if (error) throw error;
    },
  },
  toLookUp('aml.entity', '/aml/entity/aml_1', ({ aml }) => aml.entity('aml_1')),
  toLookUp('aml.activity', '/aml/activity/amla_1', ({ aml }) => aml.activity('amla_1')),
];

const apiKeys: Row[] = [
  {
    ...reading,
    ...keyed,
    called: 'apiKeys.public',
    run: ({ apiKeys }) => apiKeys.public(),
    operation: 'api_keys.public',
    url: '/api_keys/public',
    answer: { public_key: 'public_sandbox_x', is_test: true },
  },
];

const invitation = { token: 'adi_1', status: 'pending', sentAt: null, deliveryAttempts: 1, reference: 'r-1' };
const invitationQuery = { status: 'opened', channel: 'sms', search: '+45' } as const;
const invitationFilters = 'status=opened&channel=sms&search=%2B45';
const invitationList = {
  ...reading,
  operation: 'invitations.list',
  credential: 'private',
  answer: { data: [invitation], pagination: { total: 1, totalPages: 1, page: 1, perPage: 20 } },
} satisfies Partial<Row>;

const invitations: Row[] = [
  {
    ...reading,
    called: 'invitations.locales',
    run: ({ invitations }) => invitations.locales(),
    operation: 'invitations.locales',
    url: '/autodoc/invitations/locales',
    credential: 'private',
    answer: { locales: [{ code: 'da', name: 'Danish' }] },
  },
  {
    ...invitationList,
    called: 'invitations.page',
    run: ({ invitations }) => invitations.page({ ...invitationQuery, page: 1, per_page: 100, reference: 'r 1' }),
    url: `/autodoc/invitations?page=1&per_page=100&status=opened&channel=sms&reference=r+1&search=%2B45`,
  },
  {
    ...invitationList,
    called: 'invitations.pages',
    run: ({ invitations }) => collect(invitations.pages(invitationQuery)),
    url: `/autodoc/invitations?page=1&${invitationFilters}`,
  },
  {
    ...invitationList,
    called: 'invitations.list',
    run: ({ invitations }) => collect(invitations.list(invitationQuery)),
    url: `/autodoc/invitations?page=1&${invitationFilters}`,
  },
  {
    called: 'invitations.create',
    run: ({ invitations }, { workflowToken }) =>
      invitations.create({ workflowToken, channel: 'email', recipient: 'a@b.example', locale: 'da' }),
    operation: 'invitations.create',
    method: 'POST',
    url: '/autodoc/invitations',
    credential: 'private',
    body: { workflowToken: 'wf_1', channel: 'email', recipient: 'a@b.example', locale: 'da' },
    success: 201,
    answer: invitation,
    retry: 'after_refusal',
    isBillable: true,
  },
  {
    ...reading,
    ...keyed,
    called: 'invitations.retrieve',
    run: ({ invitations }, { invitation }) => invitations.retrieve(invitation),
    operation: 'invitations.retrieve',
    url: '/autodoc/invitations/adi_1',
    route: '/autodoc/invitations/{token}',
    answer: { ...invitation, status: 'a_new_state' },
  },
  {
    called: 'invitations.resend',
    run: ({ invitations }, { invitation }) => invitations.resend(invitation),
    operation: 'invitations.resend',
    method: 'POST',
    url: '/autodoc/invitations/adi_1/resend',
    route: '/autodoc/invitations/{token}/resend',
    credential: 'private',
    success: 201,
    answer: invitation,
    retry: 'after_refusal',
    isBillable: true,
  },
];

const applicant = { first_name: 'Plantina', phone_number: phone };
const open = { credential: 'none', isBillable: false } satisfies Partial<Row>;
const place = { url: '/sessions/s_1', route: '/sessions/{session_id}' };
const toStep = (step: string) => ({ url: `${place.url}/${step}`, route: `${place.route}/${step}` });

const sessions: Row[] = [
  {
    called: 'sessions.create',
    run: ({ sessions }, { kycLevel }) => sessions.create({ level: kycLevel, ...applicant, generate_qr: true }),
    operation: 'sessions.create',
    method: 'POST',
    url: '/sessions',
    credential: 'public',
    body: { kyc_level: 'Silver', ...applicant, generate_qr: true },
    success: 201,
    answer: { session_id: 's_1', url: 'https://verify.example/s_1' },
    retry: 'after_refusal',
    isBillable: true,
  },
  {
    ...open,
    ...toStep('consent'),
    url: '/sessions/s_1/consent?gives_consent=true',
    called: 'sessions.consent',
    run: ({ sessions }, { session }) => sessions.consent(session, true),
    operation: 'sessions.consent',
    method: 'PATCH',
    body: { gives_consent: true },
    success: 200,
    answer: { status: 'ok' },
    retry: 'repeatable',
  },
  {
    ...open,
    ...place,
    called: 'sessions.update',
    run: ({ sessions }, { session }) => sessions.update(session, { ...applicant, country_code: 'DK' }),
    operation: 'sessions.update',
    method: 'POST',
    body: { ...applicant, country_code: 'DK' },
    success: 201,
    answer: { message: 'updated' },
    retry: 'repeatable',
  },
  {
    ...open,
    ...reading,
    ...place,
    called: 'sessions.retrieve',
    run: ({ sessions }, { session }) => sessions.retrieve(session),
    operation: 'sessions.retrieve',
    answer: anything,
  },
  {
    ...open,
    ...toStep('send_sms'),
    called: 'sessions.sendSms',
    run: ({ sessions }, { session }) => sessions.sendSms(session, { phone_number: phone }),
    operation: 'sessions.send_sms',
    method: 'POST',
    body: { phone_number: phone },
    success: 201,
    answer: {},
    retry: 'never',
    isBillable: true,
  },
  {
    ...open,
    ...reading,
    ...toStep('preflight'),
    called: 'sessions.preflight',
    run: ({ sessions }, { session }) => sessions.preflight(session),
    operation: 'sessions.preflight',
    answer: { screen: { show: 'consent' } },
  },
  {
    ...open,
    ...toStep('liveness/start'),
    called: 'sessions.startLiveness',
    run: ({ sessions }, { session }) => sessions.startLiveness(session),
    operation: 'sessions.liveness_start',
    method: 'POST',
    success: 201,
    answer: { credentials: 'x' },
    retry: 'after_refusal',
  },
  {
    ...open,
    ...toStep('liveness/complete'),
    called: 'sessions.completeLiveness',
    run: ({ sessions }, { session }) => sessions.completeLiveness(session),
    operation: 'sessions.liveness_complete',
    method: 'POST',
    success: 201,
    answer: { succeeded: false },
    retry: 'after_refusal',
  },
  {
    ...open,
    ...place,
    called: 'sessions.cancel',
    run: ({ sessions }, { session }) => sessions.cancel(session),
    operation: 'sessions.cancel',
    method: 'DELETE',
    success: 200,
    answer: { status: 'ok' },
    retry: 'after_refusal',
  },
];

/** Every function of the client that calls the service, in an order in which each finds the state that it needs. */
export const operationsTable: readonly Row[] = [...dossiers, ...aml, ...apiKeys, ...invitations, ...sessions];
