import { createMiddleware } from 'hono/factory';
import type { CallEnv } from './call.js';
import { toErrorBody } from './error-answer.js';
import type { KeyKind } from './keys.js';

/** Which credentials an operation takes; `undefined` when it takes none (interface: Authentication 3). */
const listAccepted = (path: string): readonly KeyKind[] | undefined => {
  if (path === '/sessions') return ['public'];
  if (path.startsWith('/sessions/')) return undefined;
  return path.startsWith('/autodoc/') ? ['private', 'jwt'] : ['private'];
};

/** Answers 401 to a call whose credential is missing, malformed, revoked or not of the kind that its operation takes. */
export const requireKey = createMiddleware<CallEnv>(async (context, next) => {
  const accepted = listAccepted(context.var.entry.path);
  const { owner } = context.var;
  if (accepted === undefined || (owner && accepted.includes(owner.kind))) return next();
  const asked = accepted.includes('public') ? 'public' : 'private';
  return context.json(toErrorBody(401, `The ${asked} key is missing, malformed or revoked.`), 401);
});
