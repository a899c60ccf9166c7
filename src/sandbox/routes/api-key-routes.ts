import type { Hono } from 'hono';
import type { CallEnv } from '../call.js';

/** Adds the look-up of the public key (interface: API keys). */
export const addApiKeyRoutes = (routes: Hono<CallEnv>): void => {
  routes.get('/api_keys/public', (context) => {
    const { owner, entry } = context.var;
    entry.worked = true;
    return context.json({ public_key: owner?.publicKey, is_test: owner?.mode === 'test' });
  });
};
