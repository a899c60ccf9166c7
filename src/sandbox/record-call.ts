import { randomUUID } from 'node:crypto';
import { createMiddleware } from 'hono/factory';
import { readPresentedKey } from './authenticate.js';
import type { CallEnv } from './call.js';
import { toKeyFamily } from './keys.js';
import type { SandboxService } from './service.js';

const readBody = async (request: Request): Promise<unknown> => {
  try {
    return await request.clone().json();
  } catch {
    return undefined;
  }
};

const textField = (body: unknown, field: 'name' | 'type'): string | null => {
  if (typeof body !== 'object' || body === null) return null;
  const value: unknown = Reflect.get(body, field);
  return typeof value === 'string' ? value : null;
};

/** Notes each call in the ledger before anything is decided about it, and gives every answer an `X-Request-Id`. */
export const recordCall = (service: SandboxService, prefix: string) =>
  createMiddleware<CallEnv>(async (context, next) => {
    const url = new URL(context.req.url);
    const key = readPresentedKey(context.req.header('authorization'));
    const owner = key === undefined ? undefined : service.keys.owners.get(key);
    const body = context.req.method === 'POST' ? await readBody(context.req.raw) : undefined;
    const entry = service.ledger.open({
      method: context.req.method,
      path: url.pathname.slice(prefix.length),
      queryString: url.search.slice(1),
      searchName: textField(body, 'name'),
      searchType: textField(body, 'type'),
      keyFamily: toKeyFamily(key),
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
