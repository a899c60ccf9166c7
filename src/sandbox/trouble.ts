import { setTimeout as delay } from 'node:timers/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { z } from 'zod';
import { addControl, type Call, type CallEnv, SlidingWindow, toErrorBody } from './calls.js';

const scope = {
  /** The number of matching requests that it affects. */
  times: z.number().int().min(1).default(1),
  /** Only requests to this path below the version prefix, for example `/aml/search`. */
  path: z.string().startsWith('/').optional(),
  /** Only requests with this method. */
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  /** Only searches for this name, as sent. */
  name: z.string().optional(),
  /** It starts after this many further matching requests, which get normal answers. */
  afterCalls: z.number().int().min(0).default(0),
};

const statusFault = z.strictObject({
  ...scope,
  status: z.number().int().min(400).max(599),
  retryAfter: z.string().optional(),
  /** The code in the error body; the status decides by default. */
  code: z.string().optional(),
  body: z.string().optional(),
});
const cutFault = z.strictObject({ ...scope, cut: z.enum(['before_work', 'after_work']) });
const delayFault = z.strictObject({ ...scope, delayMs: z.number().int().min(0).max(600_000) });
const rawFault = z.strictObject({
  ...scope,
  raw: z.strictObject({
    status: z.number().int().min(200).max(599),
    body: z.string(),
    contentType: z.string().optional(),
  }),
});
const hangFault = z.strictObject({ ...scope, hang: z.enum(['before_headers', 'in_body']) });
const hugeFault = z.strictObject({
  ...scope,
  huge: z.strictObject({ megabytes: z.number().positive().max(10_000) }),
});
const redirectFault = z.strictObject({ ...scope, redirect: z.strictObject({ location: z.string().min(1) }) });

const faultSchema = z.union([statusFault, cutFault, delayFault, rawFault, hangFault, hugeFault, redirectFault]);
/** A scripted fault: an error status, a closed connection, a delay, a hang, a redirect, or a raw or huge answer. */
export type Fault = z.input<typeof faultSchema>;
type ActiveFault = z.output<typeof faultSchema>;

/** The remaining faults, in order. */
export class FaultScript {
  #left: ActiveFault[] = [];

  /** Replaces the remaining faults; throws for an invalid one. */
  replace(faults: readonly Fault[]): void {
    this.#left = faults.map((fault) => faultSchema.parse(fault));
  }

  /**
   * Takes the fault for this request; undefined for a normal answer. The first matching fault decides, also while it waits for its `afterCalls`;
   * faults for other paths, methods or names keep their place. `name` is the searched name.
   */
  take(target: { path: string; method: string; name?: string | undefined }): ActiveFault | undefined {
    const fault = this.#left.find(
      ({ path, method, name }) =>
        (path === undefined || path === target.path) &&
        (method === undefined || method === target.method) &&
        (name === undefined || name === target.name),
    );
    if (!fault) return undefined;
    if (fault.afterCalls > 0) {
      fault.afterCalls -= 1;
      return undefined;
    }
    fault.times -= 1;
    if (fault.times === 0) this.#left = this.#left.filter((candidate) => candidate !== fault);
    return fault;
  }
}

/** Creates a sequence of pseudo-random numbers from 0 up to 1, the same for the same seed. */
export const createSeededRandom = (seed: number): (() => number) => {
  let state = seed | 0;
  return () => {
    // A Weyl sequence, mixed by two rounds of multiply and shift.
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
};

const errorStatus = z.number().int().min(400).max(599).default(503);
const seed = z.number().int().default(1);

/** The input of the control of conditions; an empty object removes them. */
const conditionsSchema = z.strictObject({
  /** Only requests to this path below the version prefix. */
  path: z.string().startsWith('/').optional(),
  limit: z
    .strictObject({
      /** The most calls per private key in any sliding second. */
      perSecond: z.number().int().min(1),
      /** Whether a refusal has a `Retry-After` in whole seconds. */
      retryAfter: z.boolean().default(false),
    })
    .optional(),
  refuse: z
    .strictObject({
      /** The share of random failures. */
      share: z.number().min(0).max(1),
      status: errorStatus,
      seed,
      /** The `Retry-After` header. */
      retryAfter: z.string().optional(),
    })
    .optional(),
  outage: z.strictObject({ status: errorStatus.or(z.enum(['cut', 'hang'])) }).optional(),
  latencyMs: z
    .strictObject({ min: z.number().min(0), max: z.number().max(600_000), seed })
    .refine((range) => range.min <= range.max, 'min is above max')
    .optional(),
});
/** Lasting conditions: a rate limit, random failures, an outage, slow answers. */
export type Conditions = z.input<typeof conditionsSchema>;

interface Refusal {
  status: number;
  message: string;
  /** The error code; by default it follows the status. */
  code?: string | undefined;
  retryAfter?: string | undefined;
  /** The body; default: the service's error body. */
  body?: string | undefined;
}

type ConditionsVerdict = { kind: 'pass' | 'cut' | 'hang' } | { kind: 'refuse'; refusal: Refusal };

const SECOND_MS = 1_000;
const PASS: ConditionsVerdict = { kind: 'pass' };

/** The conditions that last until they are replaced; none at first. */
export class ConditionsControl {
  #conditions: z.output<typeof conditionsSchema> = {};
  #windows = new Map<string, SlidingWindow>();
  #drawRefusal = createSeededRandom(0);
  #drawLatency = createSeededRandom(0);

  /** Replaces the conditions, and restarts windows and random numbers; throws for invalid ones. */
  replace(conditions: Conditions): void {
    this.#conditions = conditionsSchema.parse(conditions);
    this.#windows = new Map();
    this.#drawRefusal = createSeededRandom(this.#conditions.refuse?.seed ?? 0);
    this.#drawLatency = createSeededRandom(this.#conditions.latencyMs?.seed ?? 0);
  }

  /** Decides about a call that arrived at `atMs` (of `performance.now()`): outage, then rate limit, then random failure. An invalid key has no limit. */
  assess({
    path,
    atMs,
    privateKey,
  }: {
    path: string;
    atMs: number;
    privateKey: string | undefined;
  }): ConditionsVerdict {
    if (!this.#isMeant(path)) return PASS;
    const status = this.#conditions.outage?.status;
    if (status === 'cut' || status === 'hang') return { kind: status };
    if (status !== undefined) return { kind: 'refuse', refusal: { status, message: 'The service has an outage.' } };
    const limited = this.#judgeLimit(atMs, privateKey);
    return limited.kind === 'pass' ? this.#judgeChance() : limited;
  }

  /** The additional delay of this call's answer. */
  drawLatencyMs(path: string): number {
    const { latencyMs } = this.#conditions;
    if (!latencyMs || !this.#isMeant(path)) return 0;
    return latencyMs.min + this.#drawLatency() * (latencyMs.max - latencyMs.min);
  }

  #isMeant(path: string): boolean {
    return this.#conditions.path === undefined || this.#conditions.path === path;
  }

  /** An admitted call counts in the window whatever follows; a refused one does not. */
  #judgeLimit(atMs: number, privateKey: string | undefined): ConditionsVerdict {
    const { limit } = this.#conditions;
    if (!limit || privateKey === undefined) return PASS;
    const window = this.#windows.get(privateKey) ?? new SlidingWindow(limit.perSecond, SECOND_MS);
    this.#windows.set(privateKey, window);
    const waitMs = window.take(atMs);
    if (waitMs === 0) return PASS;
    const retryAfter = limit.retryAfter ? String(Math.ceil(waitMs / SECOND_MS)) : undefined;
    return { kind: 'refuse', refusal: { status: 429, message: 'Too many requests.', retryAfter } };
  }

  #judgeChance(): ConditionsVerdict {
    const { refuse } = this.#conditions;
    if (!refuse || this.#drawRefusal() >= refuse.share) return PASS;
    const { status, retryAfter } = refuse;
    return { kind: 'refuse', refusal: { status, retryAfter, message: 'Refused by chance.' } };
  }
}

const TRICKLE_MS = 200;
const PIECE_BYTES = 65_536;
const BYTES_PER_MEGABYTE = 1_048_576;

/** A body of one space every 200 ms, without end until the connection is closed. */
const createTricklingBody = (): ReadableStream<Uint8Array> => {
  let timer: NodeJS.Timeout | undefined;
  return new ReadableStream({
    start: (controller) => {
      const space = new TextEncoder().encode(' ');
      timer = setInterval(() => controller.enqueue(space), TRICKLE_MS);
      timer.unref();
    },
    cancel: () => clearInterval(timer),
  });
};

/** A JSON body of this size, made while it is read and never held in memory. */
const createHugeBody = (megabytes: number): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder();
  const piece = encoder.encode('x'.repeat(PIECE_BYTES));
  let leftBytes = megabytes * BYTES_PER_MEGABYTE;
  return new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(encoder.encode('{"filler":"')),
      pull: (controller) => {
        if (leftBytes <= 0) {
          controller.enqueue(encoder.encode('"}'));
          controller.close();
          return;
        }
        controller.enqueue(piece.subarray(0, Math.min(PIECE_BYTES, leftBytes)));
        leftBytes -= PIECE_BYTES;
      },
    },
    { highWaterMark: 1 },
  );
};

const cutConnection = (context: Call): void => {
  context.env.incoming.socket.destroy();
  context.res = RESPONSE_ALREADY_SENT;
};

/** Sends nothing and keeps the connection; resolves when caller or sandbox closes it. */
const hangConnection = async (context: Call): Promise<void> => {
  const { socket } = context.env.incoming;
  // Not events.once: it treats a reset connection as an error, and here it is one way to end.
  if (!socket.destroyed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  context.res = RESPONSE_ALREADY_SENT;
};

const JSON_TYPE = 'application/json';

/** The code of a 402 depends on the operation (interface: Errors), other codes only on the status. */
const findCode = (path: string, status: number): string | undefined =>
  status === 402 && path.startsWith('/autodoc/') ? 'insufficient_balance' : undefined;

const toRefusal = (context: Call, refusal: Refusal): Response => {
  const { status, message, code, retryAfter, body } = refusal;
  const headers: Record<string, string> = { 'Content-Type': JSON_TYPE };
  if (retryAfter !== undefined) headers['Retry-After'] = retryAfter;
  const errorBody = toErrorBody(status, message, code ?? findCode(context.var.entry.path, status));
  return new Response(body ?? JSON.stringify(errorBody), { status, headers });
};

/**
 * Plays one scripted fault. An error status, a redirect, a connection closed before the work and a hang before the headers leave the work undone.
 * The others come after `work`: a connection closed after the work, a delay, a hang in the body, a huge answer and a raw answer with a 2xx status.
 */
const playFault = async (context: Call, fault: ActiveFault, work: () => Promise<void>): Promise<void> => {
  if ('status' in fault) {
    context.res = toRefusal(context, { ...fault, message: 'scripted fault' });
  } else if ('raw' in fault) {
    const { status, body, contentType } = fault.raw;
    if (status < 300) await work();
    context.res = new Response(body, { status, headers: { 'Content-Type': contentType ?? JSON_TYPE } });
  } else if ('redirect' in fault) {
    context.res = new Response(null, { status: 302, headers: { Location: fault.redirect.location } });
  } else if ('delayMs' in fault) {
    await work();
    await delay(fault.delayMs, undefined, { ref: false });
  } else if ('huge' in fault) {
    await work();
    const headers = { 'Content-Type': JSON_TYPE };
    context.res = new Response(createHugeBody(fault.huge.megabytes), { status: 201, headers });
  } else if ('hang' in fault) {
    if (fault.hang === 'before_headers') return hangConnection(context);
    await work();
    const { status } = context.res;
    context.res = new Response(createTricklingBody(), { status, headers: { 'Content-Type': JSON_TYPE } });
  } else {
    if (fault.cut === 'after_work') await work();
    cutConnection(context);
  }
};

const applyConditions = async (context: Call, verdict: ConditionsVerdict, work: () => Promise<void>): Promise<void> => {
  if (verdict.kind === 'pass') await work();
  else if (verdict.kind === 'refuse') context.res = toRefusal(context, verdict.refusal);
  else if (verdict.kind === 'cut') cutConnection(context);
  else await hangConnection(context);
};

/** The faults and conditions of a sandbox. */
export const createTrouble = () => {
  const faults = new FaultScript();
  const conditions = new ConditionsControl();
  const setFaults = (next: readonly Fault[]): void => faults.replace(next);
  const setConditions = (next: Conditions): void => conditions.replace(next);
  return {
    setFaults,
    setConditions,
    /**
     * Applies them. A matching fault decides alone: its call meets no conditions and takes no place in their rate limit. All other calls meet the
     * conditions, also those that a fault's `afterCalls` lets pass. A call that they refuse is not worked on; its latency follows the work.
     */
    apply: createMiddleware<CallEnv>(async (context, next) => {
      const { path, method, atMs, searchName } = context.var.entry;
      const fault = faults.take({ path, method, name: searchName ?? undefined });
      if (fault) return playFault(context, fault, next);
      const verdict = conditions.assess({ path, atMs, privateKey: context.var.privateKey });
      const latencyMs = conditions.drawLatencyMs(path);
      await applyConditions(context, verdict, next);
      if (latencyMs > 0) await delay(latencyMs, undefined, { ref: false });
      return undefined;
    }),
    /** Adds the controls of faults and conditions. */
    addControls: (app: Hono<CallEnv>): void => {
      addControl(app, 'faults', z.array(faultSchema), (context, order) => {
        setFaults(order);
        return context.body(null, 204);
      });
      addControl(app, 'weather', conditionsSchema, (context, order) => {
        setConditions(order);
        return context.body(null, 204);
      });
    },
  };
};
