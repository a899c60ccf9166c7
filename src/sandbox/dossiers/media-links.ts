import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { SandboxClock } from '../sandbox-clock.js';

const LIFETIME_MS = 5 * 60_000;

/** Where the sandbox serves its media; the name of the asset follows. */
export const MEDIA_PATH = '/_sandbox/media';

/** Makes and checks presigned links (interface: Limits, media URL lifetime). */
export interface MediaLinks {
  /** A link to an asset below `origin` that opens it for five minutes of the sandbox's clock. */
  sign(origin: string, asset: string): string;
  /** Whether the link was made here and has not expired. */
  isOpen(asset: string, expires: string, signature: string): boolean;
}

/** Creates links that only this sandbox accepts. */
export const createMediaLinks = (clock: SandboxClock): MediaLinks => {
  const secret = randomBytes(32);
  const toSignature = (asset: string, expires: string): Buffer =>
    createHmac('sha256', secret).update(`${asset} ${expires}`).digest();
  return {
    sign: (origin, asset) => {
      const expires = String(clock.nowMs() + LIFETIME_MS);
      return `${origin}${MEDIA_PATH}/${asset}?expires=${expires}&signature=${toSignature(asset, expires).toString('hex')}`;
    },
    isOpen: (asset, expires, signature) => {
      const expected = toSignature(asset, expires);
      const presented = Buffer.from(signature, 'hex');
      return (
        presented.length === expected.length && timingSafeEqual(presented, expected) && clock.nowMs() < Number(expires)
      );
    },
  };
};
