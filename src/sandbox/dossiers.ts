import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Hono } from 'hono';
import { z } from 'zod';
import {
  addControl,
  answerError,
  type Call,
  type CallEnv,
  describeProblem,
  emailSchema,
  phoneSchema,
} from './calls.js';
import type { DossierBook } from './dossier-book.js';
import type { KeyOwner, KeyRing } from './keys.js';
import type { SandboxClock } from './sandbox-clock.js';
import type { SearchWatchlist } from './search-watchlist.js';
import { QR_IMAGE_BASE64 } from './sessions.js';
import type { SandboxDossier } from './world.js';

type SignAsset = (asset: string) => string;

const PREFIXES = {
  entity: 'entity_',
  identity_document: 'id_doc_',
  decision: 'decision_',
  address_proof: 'poa_',
  funds_proof: 'pof_',
  aml_entity: 'aml_',
} as const;

/** A kind of record; a dossier has at most one of each. */
type RecordKind = keyof typeof PREFIXES;
/** In the order in which a dossier gets them. */
const RECORD_KINDS: readonly RecordKind[] = [
  'entity',
  'identity_document',
  'address_proof',
  'funds_proof',
  'aml_entity',
  'decision',
];

const DOSSIER_PREFIX = 'dossier_';

const toRecordId = (kind: RecordKind, dossierId: string): string =>
  PREFIXES[kind] + dossierId.slice(DOSSIER_PREFIX.length);

const toDossierId = (kind: RecordKind, recordId: string): string | undefined => {
  const prefix = PREFIXES[kind];
  return recordId.startsWith(prefix) ? DOSSIER_PREFIX + recordId.slice(prefix.length) : undefined;
};

/** Whether a dossier has this record: an applicant unless it is a draft, documents and screening with a document, a decision once it is decided. */
const hasRecord = (kind: RecordKind, { status, documents_count, completed_at }: SandboxDossier): boolean => {
  if (kind === 'entity') return status !== 'draft';
  if (kind !== 'decision') return documents_count > 0;
  if (status === 'approved' || status === 'rejected') return true;
  return (status === 'archived' || status === 'closed') && completed_at !== null;
};

const ADDRESS = { street: 'Harbour Street 1', city: 'Port Sample', postal_code: '0001', country: 'dk' };

const toMedia = (type: string, asset: string, createdAt: string, sign: SignAsset) => ({
  type,
  name: `${asset}.png`,
  page: 1,
  url: sign(asset),
  created_at: createdAt,
});

const toApplicantType = (dossier: SandboxDossier): 'entity' | 'person' =>
  dossier.type === 'kyb' ? 'entity' : 'person';

const toEntity = (dossier: SandboxDossier) => ({
  id: toRecordId('entity', dossier.id),
  dossier_id: dossier.id,
  type: toApplicantType(dossier),
  personal_information: { full_name: dossier.name, reference: dossier.reference },
  address: ADDRESS,
  created_at: dossier.created_at,
  updated_at: dossier.updated_at,
});

/** Without `sign` it has no images: events carry none (interface: Single-record lookups). */
const toIdentityDocument = (dossier: SandboxDossier, sign: SignAsset | undefined) => {
  const id = toRecordId('identity_document', dossier.id);
  const sides = ['front', 'back', 'cropped'];
  return {
    id,
    dossier_id: dossier.id,
    entity_id: toRecordId('entity', dossier.id),
    document_type: 'passport',
    document_number: `P${dossier.token}`,
    full_name: dossier.name,
    issuing_country: ADDRESS.country,
    mrz: { present: true, valid: true },
    ...(sign ? { images: sides.map((side) => toMedia(side, `${id}-${side}`, dossier.created_at, sign)) } : {}),
    created_at: dossier.created_at,
  };
};

const toDecision = (dossier: SandboxDossier, sign: SignAsset | undefined) => ({
  id: toRecordId('decision', dossier.id),
  dossier_id: dossier.id,
  status: dossier.status,
  dossier,
  entity: toEntity(dossier),
  identity_document: hasRecord('identity_document', dossier) ? toIdentityDocument(dossier, sign) : null,
  risk_tags: (dossier.risk_score ?? 0) >= 50 ? ['elevated_risk'] : [],
  created_at: dossier.completed_at ?? dossier.updated_at,
});

const toProof = (kind: 'address_proof' | 'funds_proof', dossier: SandboxDossier) => ({
  id: toRecordId(kind, dossier.id),
  dossier_id: dossier.id,
  entity_id: toRecordId('entity', dossier.id),
  status: dossier.status,
  ...(kind === 'address_proof' ? { document_type: 'utility_bill', address: ADDRESS } : { source: 'salary' }),
  created_at: dossier.created_at,
});

const screenDossier = (dossier: SandboxDossier, screen: SearchWatchlist) =>
  screen(toApplicantType(dossier), dossier.name);

const toAmlEntity = (dossier: SandboxDossier, screen: SearchWatchlist) => {
  const found = screenDossier(dossier, screen);
  return {
    id: toRecordId('aml_entity', dossier.id),
    dossier_id: dossier.id,
    entity_id: toRecordId('entity', dossier.id),
    type: toApplicantType(dossier),
    name: dossier.name,
    screening_status: found.some((match) => match.match) ? 'match' : 'clear',
    activities: found.map(({ id, match, score }) => ({ id, match, score })),
    updated_at: dossier.updated_at,
  };
};

/** A record as in its look-up (interface: Single-record lookups); without `sign` it has no images. */
const describeRecord = (
  kind: RecordKind,
  dossier: SandboxDossier,
  { screen, sign }: { screen: SearchWatchlist; sign?: SignAsset },
): object => {
  if (kind === 'entity') return toEntity(dossier);
  if (kind === 'identity_document') return toIdentityDocument(dossier, sign);
  if (kind === 'decision') return toDecision(dossier, sign);
  return kind === 'aml_entity' ? toAmlEntity(dossier, screen) : toProof(kind, dossier);
};

/** The events of a change: the dossier itself, new records, and the decision of the reviewers, which each later status repeats. */
const listNews = (before: SandboxDossier | undefined, after: SandboxDossier): { type: string; kind?: RecordKind }[] => {
  const made = RECORD_KINDS.filter((kind) => hasRecord(kind, after) && !(before && hasRecord(kind, before)));
  const hasDecided = hasRecord('decision', after) && before?.status !== after.status;
  const records = made.filter((kind) => kind !== 'decision').map((kind) => ({ type: `${kind}.created`, kind }));
  return [
    { type: before ? 'dossier.updated' : 'dossier.created' },
    ...(made.includes('identity_document') ? [{ type: 'session.completed' }] : []),
    ...records,
    ...(hasDecided ? [{ type: `decision.${after.status}`, kind: 'decision' as const }] : []),
  ];
};

/** The events of a dossier's change, by the interface's names. `resource` is a record or a match; it is undefined for the dossier itself. */
export const listDossierEvents = (
  before: SandboxDossier | undefined,
  after: SandboxDossier | undefined,
  screen: SearchWatchlist,
): { type: string; dossier: SandboxDossier; resource?: object }[] => {
  if (!after) return before ? [{ type: 'dossier.deleted', dossier: before }] : [];
  const listActivities = (type: string) =>
    screenDossier(after, screen).map((match) => ({
      type,
      dossier: after,
      resource: { ...match, dossier_id: after.id },
    }));
  return listNews(before, after).flatMap(({ type, kind }) => {
    const session = { dossier_id: after.id, status: 'completed' };
    const resource = kind
      ? describeRecord(kind, after, { screen })
      : type === 'session.completed'
        ? session
        : undefined;
    return [
      { type, dossier: after, ...(resource && { resource }) },
      ...(kind === 'aml_entity' ? listActivities('aml_activity.created') : []),
      // To approve a dossier is to reject its matches, and the other way round.
      ...(type === 'decision.approved' ? listActivities('aml_activity.rejected') : []),
      ...(type === 'decision.rejected' ? listActivities('aml_activity.confirmed') : []),
    ];
  });
};

/** The record for an event of this type; undefined for an event about the dossier itself. */
export const describeRecordOf = (
  type: string,
  dossier: SandboxDossier,
  screen: SearchWatchlist,
): object | undefined => {
  const kind = RECORD_KINDS.find((one) => type.startsWith(`${one}.`));
  return kind && describeRecord(kind, dossier, { screen });
};

/** The dossier with all assets (interface: Dossier detail), without those that it does not have yet. */
const toDossierDetail = (dossier: SandboxDossier, sign: SignAsset) => {
  const entity = toEntity(dossier);
  const hasDocuments = hasRecord('identity_document', dossier);
  const selfie = (number: number) => toMedia('liveness', `${entity.id}-frame${number}`, dossier.created_at, sign);
  const applicant = {
    ...entity,
    identity_documents: hasDocuments ? [toIdentityDocument(dossier, sign)] : [],
    media: hasDocuments ? [toMedia('selfie', `${entity.id}-selfie`, dossier.created_at, sign)] : [],
    liveness_images: hasDocuments ? [1, 2, 3].map(selfie) : [],
  };
  return {
    ...dossier,
    media: [toMedia('report', `${dossier.id}-report`, dossier.created_at, sign)],
    entities: hasRecord('entity', dossier) ? [applicant] : [],
  };
};

/** The input of `POST /dossiers` (service facts: `level`, `generate_qr` as for sessions); other fields are ignored. */
const newDossierSchema = z
  .object({
    type: z.enum(['kyc', 'kyb']),
    level: z.string().min(1),
    send_sms: z.boolean().default(false),
    send_email: z.boolean().default(false),
    phone_number: phoneSchema.optional(),
    email_address: emailSchema.optional(),
    generate_qr: z.boolean().default(false),
    name: z.string().optional(),
    reference: z.string().optional(),
  })
  .refine((request) => !request.send_sms || request.phone_number !== undefined, {
    path: ['phone_number'],
    message: 'is needed to send an SMS',
  })
  .refine((request) => !request.send_email || request.email_address !== undefined, {
    path: ['email_address'],
    message: 'is needed to send an email',
  });

const LINK_LIFETIME_MS = 5 * 60_000;
const MEDIA_PATH = '/_sandbox/media';

/** Presigned links of this sandbox, and their download (interface: Limits, media URL lifetime). */
const createMedia = (clock: SandboxClock) => {
  const secret = randomBytes(32);
  const image = Buffer.from(QR_IMAGE_BASE64, 'base64');
  const toSignature = (asset: string, expires: string): Buffer =>
    createHmac('sha256', secret).update(`${asset} ${expires}`).digest();
  return {
    /** A link to an asset below `origin`, valid for five minutes of the sandbox's clock. */
    sign: (origin: string, asset: string): string => {
      const expires = String(clock.nowMs() + LINK_LIFETIME_MS);
      return `${origin}${MEDIA_PATH}/${asset}?expires=${expires}&signature=${toSignature(asset, expires).toString('hex')}`;
    },
    /** Answers with a small PNG, or 403 for an expired or altered link. */
    answer: (context: Call, asset: string): Response => {
      const { expires = '', signature = '' } = context.req.query();
      const expected = toSignature(asset, expires);
      const presented = Buffer.from(signature, 'hex');
      const isGenuine = presented.length === expected.length && timingSafeEqual(presented, expected);
      if (!isGenuine || clock.nowMs() >= Number(expires)) {
        return answerError(context, 403, 'The link has expired or was altered.');
      }
      return context.body(image, 200, { 'Content-Type': 'image/png' });
    },
  };
};

/**
 * The operations on dossiers. `bookOf` gives the dossiers of a key, `openSession` opens a hosted session on the host of a URL, `screen` gives
 * the results for a name.
 */
export const createDossierDesk = ({
  clock,
  keys,
  bookOf,
  openSession,
  screen,
}: {
  clock: SandboxClock;
  keys: KeyRing['keys'];
  bookOf: (owner: KeyOwner | undefined) => DossierBook;
  openSession: (requestUrl: string, level: string, applicant: Record<string, unknown>) => { url: string };
  screen: SearchWatchlist;
}) => {
  const media = createMedia(clock);
  const levels = { kyc: keys.kycLevel, kyb: keys.kybLevel };
  /** The answer to a cursor whose dossier was removed; the interface does not define it. */
  let missingCursor: 'empty_page' | 'not_found' = 'empty_page';
  const setMissingCursor = (answer: typeof missingCursor): void => {
    missingCursor = answer;
  };
  const toSigner = (context: Call): SignAsset => {
    const { origin } = new URL(context.req.url);
    return (asset) => media.sign(origin, asset);
  };

  /** Adds creating, listing and retrieving dossiers, and the look-ups of their records (interface: Dossiers). */
  const addRoutes = (routes: Hono<CallEnv>): void => {
    // Before `/dossiers/:id`, which would match these paths.
    for (const kind of RECORD_KINDS) {
      const path = kind === 'aml_entity' ? '/aml/entity' : `/dossiers/${kind}`;
      routes.get(`${path}/:id`, (context) => {
        const dossier = bookOf(context.var.owner).find(toDossierId(kind, context.req.param('id')) ?? '');
        if (!dossier || !hasRecord(kind, dossier)) {
          return answerError(context, 404, 'No such record in this organisation.');
        }
        return context.json(describeRecord(kind, dossier, { screen, sign: toSigner(context) }));
      });
    }

    routes.post('/dossiers', (context) => {
      const request = newDossierSchema.safeParse(context.var.body);
      if (!request.success) return answerError(context, 400, describeProblem(request.error));
      const { type, level, email_address, phone_number, generate_qr, reference } = request.data;
      if (level !== levels[type]) {
        return answerError(context, 404, 'No verification level of this name for this type.', 'validation_error');
      }
      const name = request.data.name ?? email_address ?? phone_number ?? 'New applicant';
      const dossier = bookOf(context.var.owner).insert({ type, name, reference: reference ?? null });
      const { url } = openSession(context.req.url, level, { email_address, phone_number });
      return context.json(
        {
          id: dossier.id,
          token: dossier.token,
          verification_url: url,
          ...(generate_qr ? { qr_base64_png: QR_IMAGE_BASE64 } : {}),
        },
        201,
      );
    });

    routes.get('/dossiers', (context) => {
      const book = bookOf(context.var.owner);
      const cursor = context.req.query('starting_after');
      if (missingCursor === 'not_found' && cursor !== undefined && !book.find(cursor)) {
        return answerError(context, 404, 'No such dossier in this organisation.');
      }
      const page = book.list(context.req.query());
      if ('problem' in page) return answerError(context, 400, page.problem);
      return context.json(page);
    });

    routes.get('/dossiers/:id', (context) => {
      const dossier = bookOf(context.var.owner).find(context.req.param('id'));
      if (!dossier) return answerError(context, 404, 'No such dossier in this organisation.');
      return context.json(toDossierDetail(dossier, toSigner(context)));
    });
  };

  /** Adds the download of media, and the control of the answer to a cursor whose dossier was removed. */
  const addControls = (app: Hono<CallEnv>): void => {
    app.get(`${MEDIA_PATH}/:asset`, (context) => media.answer(context, context.req.param('asset')));
    const listSchema = z.strictObject({ missingCursor: z.enum(['empty_page', 'not_found']) });
    addControl(app, 'list', listSchema, (context, order) => {
      setMissingCursor(order.missingCursor);
      return context.body(null, 204);
    });
  };
  return { addRoutes, addControls, setMissingCursor };
};
