import type { Hono } from 'hono';
import { answerError } from '../answer-error.js';
import type { CallEnv } from '../call.js';
import { describeProblem } from '../describe-problem.js';
import { newDossierSchema, toDossier } from '../dossiers/create-dossier.js';
import { toDossierDetail } from '../dossiers/describe-records.js';
import { QR_IMAGE_BASE64 } from '../qr-image.js';
import type { SandboxService } from '../service.js';
import { toVerificationUrl } from '../sessions/verification-url.js';

/** Adds creating, listing and retrieving dossiers (interface: Dossiers); the records within them must be routed before. */
export const addDossierRoutes = (routes: Hono<CallEnv>, service: SandboxService): void => {
  const { keys } = service.keyRing;
  const levels = { kyc: keys.kycLevel, kyb: keys.kybLevel };

  routes.post('/dossiers', (context) => {
    const request = newDossierSchema.safeParse(context.var.body);
    if (!request.success) return answerError(context, 400, describeProblem(request.error));
    const { type, level, email_address, phone_number, generate_qr } = request.data;
    if (level !== levels[type]) {
      return answerError(context, 404, 'No verification level of this name for this type.', 'validation_error');
    }
    const { owner, entry } = context.var;
    const dossier = toDossier(request.data, owner?.mode === 'test', service.clock.nowMs());
    service.bookOf(owner).add(dossier);
    const session = service.sessions.open(level, { email_address, phone_number });
    entry.worked = true;
    return context.json(
      {
        id: dossier.id,
        token: dossier.token,
        verification_url: toVerificationUrl(context.req.url, session.id),
        ...(generate_qr ? { qr_base64_png: QR_IMAGE_BASE64 } : {}),
      },
      201,
    );
  });

  routes.get('/dossiers', (context) => {
    const page = service.bookOf(context.var.owner).list(context.req.query());
    if ('problem' in page) return answerError(context, 400, page.problem);
    context.var.entry.worked = true;
    return context.json(page);
  });

  routes.get('/dossiers/:id', (context) => {
    const dossier = service.bookOf(context.var.owner).find(context.req.param('id'));
    if (!dossier) return answerError(context, 404, 'No such dossier in this organisation.');
    context.var.entry.worked = true;
    const { origin } = new URL(context.req.url);
    return context.json(toDossierDetail(dossier, (asset) => service.media.sign(origin, asset)));
  });
};
