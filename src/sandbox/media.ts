import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Hono } from 'hono';
import { answerError, type CallEnv } from './calls.js';
import { QR_IMAGE_BASE64 } from './qr-image.js';
import type { SandboxClock } from './sandbox-clock.js';

const LIFETIME_MS = 5 * 60_000;
const MEDIA_PATH = '/_sandbox/media';

/** Presigned links and the download behind them (interface: Limits, media URL lifetime). */
export interface MediaDesk {
  /** A link to an asset below `origin` that opens it for five minutes of the sandbox's clock. */
  sign(origin: string, asset: string): string;
  /** Adds the download: a small PNG, or 403 once the link has expired or was altered. */
  addRoutes(app: Hono<CallEnv>): void;
}

/** Creates links that only this sandbox accepts. */
export const createMediaDesk = (clock: SandboxClock): MediaDesk => {
  const secret = randomBytes(32);
  const image = Buffer.from(QR_IMAGE_BASE64, 'base64');
  const toSignature = (asset: string, expires: string): Buffer =>
    createHmac('sha256', secret).update(`${asset} ${expires}`).digest();
  return {
    sign: (origin, asset) => {
      const expires = String(clock.nowMs() + LIFETIME_MS);
      return `${origin}${MEDIA_PATH}/${asset}?expires=${expires}&signature=${toSignature(asset, expires).toString('hex')}`;
    },
    addRoutes: (app) => {
      app.get(`${MEDIA_PATH}/:asset`, (context) => {
        const { expires = '', signature = '' } = context.req.query();
        const expected = toSignature(context.req.param('asset'), expires);
        const presented = Buffer.from(signature, 'hex');
        const isGenuine = presented.length === expected.length && timingSafeEqual(presented, expected);
        if (!isGenuine || clock.nowMs() >= Number(expires)) {
          return answerError(context, 403, 'The link has expired or was altered.');
        }
        return context.body(image, 200, { 'Content-Type': 'image/png' });
      });
    },
  };
};
