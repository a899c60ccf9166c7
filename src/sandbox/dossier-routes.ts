import type { Hono } from 'hono';
import { z } from 'zod';
import { answerError, type Call, type CallEnv, describeProblem, emailSchema, phoneSchema } from './calls.js';
import {
  describeRecord,
  hasRecord,
  RECORD_KINDS,
  type SignAsset,
  toDossierDetail,
  toDossierId,
} from './dossier-records.js';
import type { SandboxService } from './service.js';
import { QR_IMAGE_BASE64, toVerificationUrl } from './sessions.js';

/** What `POST /dossiers` takes (service facts: `level`, and `generate_qr` as for sessions); other fields are ignored. */
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

/** Adds creating, listing and retrieving dossiers and the look-ups of their records (interface: Dossiers). */
export const addDossierRoutes = (routes: Hono<CallEnv>, service: SandboxService): void => {
  const { keys } = service.keyRing;
  const levels = { kyc: keys.kycLevel, kyb: keys.kybLevel };
  const toSigner = (context: Call): SignAsset => {
    const { origin } = new URL(context.req.url);
    return (asset) => service.media.sign(origin, asset);
  };

  // Before `/dossiers/:id`, which would take their paths.
  for (const kind of RECORD_KINDS) {
    const path = kind === 'aml_entity' ? '/aml/entity' : `/dossiers/${kind}`;
    routes.get(`${path}/:id`, (context) => {
      const dossier = service.bookOf(context.var.owner).find(toDossierId(kind, context.req.param('id')) ?? '');
      if (!dossier || !hasRecord(kind, dossier)) {
        return answerError(context, 404, 'No such record in this organisation.');
      }
      context.var.entry.worked = true;
      return context.json(describeRecord(kind, dossier, { screen: service.aml.screen, sign: toSigner(context) }));
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
    const dossier = service.bookOf(context.var.owner).insert({ type, name, reference: reference ?? null });
    const sessionId = service.sessions.open(level, { email_address, phone_number });
    context.var.entry.worked = true;
    return context.json(
      {
        id: dossier.id,
        token: dossier.token,
        verification_url: toVerificationUrl(context.req.url, sessionId),
        ...(generate_qr ? { qr_base64_png: QR_IMAGE_BASE64 } : {}),
      },
      201,
    );
  });

  routes.get('/dossiers', (context) => {
    const book = service.bookOf(context.var.owner);
    const cursor = context.req.query('starting_after');
    if (service.missingCursor === 'not_found' && cursor !== undefined && !book.find(cursor)) {
      return answerError(context, 404, 'No such dossier in this organisation.');
    }
    const page = book.list(context.req.query());
    if ('problem' in page) return answerError(context, 400, page.problem);
    context.var.entry.worked = true;
    return context.json(page);
  });

  routes.get('/dossiers/:id', (context) => {
    const dossier = service.bookOf(context.var.owner).find(context.req.param('id'));
    if (!dossier) return answerError(context, 404, 'No such dossier in this organisation.');
    context.var.entry.worked = true;
    return context.json(toDossierDetail(dossier, toSigner(context)));
  });
};
