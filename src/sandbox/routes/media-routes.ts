import type { Hono } from 'hono';
import { answerError } from '../answer-error.js';
import type { CallEnv } from '../call.js';
import { MEDIA_PATH } from '../dossiers/media-links.js';
import { QR_IMAGE_BASE64 } from '../qr-image.js';
import type { SandboxService } from '../service.js';

/** Adds the download behind presigned links: a small PNG, or 403 once the link has expired or was altered. */
export const addMediaRoutes = (app: Hono<CallEnv>, service: SandboxService): void => {
  const image = Buffer.from(QR_IMAGE_BASE64, 'base64');
  app.get(`${MEDIA_PATH}/:asset`, (context) => {
    const { expires = '', signature = '' } = context.req.query();
    if (!service.media.isOpen(context.req.param('asset'), expires, signature)) {
      return answerError(context, 403, 'The link has expired or was altered.');
    }
    return context.body(image, 200, { 'Content-Type': 'image/png' });
  });
};
