import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import { readPresentedKey } from './authenticate.js';
import type { Call, CallEnv } from './call.js';
import { toKeyFamily } from './keys.js';
import type { SandboxService } from './service.js';

const readBody = async (context: Call): Promise<unknown> => {
  if (context.req.method === 'GET') return undefined;
  try {
    return JSON.parse(await context.req.text());
  } catch {
    return undefined;
  }
};

const textField = (body: unknown, field: 'name' | 'type'): string | null => {
  if (typeof body !== 'object' || body === null) return null;
  const value: unknown = Reflect.get(body, field);
  return typeof value === 'string' ? value : null;
};

const isPresentable = (kind: string, scheme: string): boolean => kind !== 'jwt' || scheme === 'bearer';

/** Notes each call in the ledger before anything is decided about it, and gives every answer an `X-Request-Id`. */
export const recordCall = (service: SandboxService, prefix: string) =>
  createMiddleware<CallEnv>(async (context, next) => {
    const atMs = performance.now();
    const time = new Date().toISOString();
    const url = new URL(context.req.url);
    const presented = readPresentedKey(context.req.header('authorization'));
    const found = presented && service.keyRing.findOwner(presented.key);
    const owner = presented && found && isPresentable(found.kind, presented.scheme) ? found : undefined;
    const body = await readBody(context);
    const entry = service.ledger.open({
      time,
      atMs,
      method: context.req.method,
      path: url.pathname.slice(prefix.length),
      queryString: url.search.slice(1),
      searchName: textField(body, 'name'),
      searchType: textField(body, 'type'),
      keyFamily: toKeyFamily(presented?.key),
      mode: owner?.mode ?? null,
    });
    context.set('entry', entry);
    context.set('owner', owner);
    context.set('body', body);
    await next();
    const isCut = context.env.incoming.socket.destroyed;
    service.ledger.settle(entry, isCut ? null : context.res.status);
    if (!isCut) context.res.headers.set('X-Request-Id', `req_${randomUUID()}`);
  });
