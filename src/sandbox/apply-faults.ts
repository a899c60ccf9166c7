import { setTimeout as delay } from 'node:timers/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { createMiddleware } from 'hono/factory';
import type { CallEnv } from './call.js';
import { toErrorBody } from './error-answer.js';
import type { SandboxService } from './service.js';

/**
 * Plays the scripted faults: an error status and a cut before the work leave the work undone; a cut after the work,
 * a delay and a raw answer with a 2xx status come when it has been done.
 */
export const applyFaults = (service: SandboxService) =>
  createMiddleware<CallEnv>(async (context, next) => {
    const { entry } = context.var;
    const fault = service.faults.take(entry.path, entry.searchName ?? undefined);
    if (!fault) return next();
    if ('status' in fault) {
      const headers: Record<string, string> = fault.retryAfter === undefined ? {} : { 'Retry-After': fault.retryAfter };
      const body = fault.body ?? JSON.stringify(toErrorBody(fault.status, 'scripted fault'));
      return new Response(body, {
        status: fault.status,
        headers: { 'Content-Type': 'application/json', ...headers },
      });
    }
    if ('raw' in fault) {
      if (fault.raw.status < 300) await next();
      context.res = new Response(fault.raw.body, {
        status: fault.raw.status,
        headers: { 'Content-Type': fault.raw.contentType ?? 'application/json' },
      });
      return undefined;
    }
    if ('delayMs' in fault) {
      await next();
      await delay(fault.delayMs, undefined, { ref: false });
      return undefined;
    }
    if (fault.cut === 'after_work') await next();
    context.env.incoming.socket.destroy();
    context.res = RESPONSE_ALREADY_SENT;
    return undefined;
  });
