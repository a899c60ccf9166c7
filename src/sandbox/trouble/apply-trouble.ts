import { setTimeout as delay } from 'node:timers/promises';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { createMiddleware } from 'hono/factory';
import { type Call, type CallEnv, readPresentedKey, toErrorBody } from '../calls.js';
import type { SandboxService } from '../service.js';
import type { ActiveFault } from './faults.js';
import type { Refusal, WeatherVerdict } from './weather.js';

const TRICKLE_MS = 200;
const PIECE_BYTES = 65_536;
const BYTES_PER_MEGABYTE = 1_048_576;

/** A body of one space every 200 ms that goes on until the connection is closed. */
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

/** A JSON body of that many megabytes that is made while it is read and never held in memory. */
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

/** Cuts the connection; nothing more is sent. */
const cutConnection = (context: Call): void => {
  context.env.incoming.socket.destroy();
  context.res = RESPONSE_ALREADY_SENT;
};

/** Sends nothing and keeps the connection; resolves when the caller or the sandbox closes it. */
const hangConnection = async (context: Call): Promise<void> => {
  const { socket } = context.env.incoming;
  // Not events.once: a reset connection is an error there, and here just one way to end.
  if (!socket.destroyed) await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  context.res = RESPONSE_ALREADY_SENT;
};

const JSON_TYPE = 'application/json';

/** The code of a 402 depends on the operation (interface: Errors); every other one on the status alone. */
const findCode = (path: string, status: number): string | undefined =>
  status === 402 && path.startsWith('/autodoc/') ? 'insufficient_balance' : undefined;

/** The answer to a refused call. */
const toRefusal = (context: Call, refusal: Refusal): Response => {
  const { status, message, code, retryAfter, body } = refusal;
  const headers: Record<string, string> = { 'Content-Type': JSON_TYPE };
  if (retryAfter !== undefined) headers['Retry-After'] = retryAfter;
  const errorBody = toErrorBody(status, message, code ?? findCode(context.var.entry.path, status));
  return new Response(body ?? JSON.stringify(errorBody), { status, headers });
};

/**
 * Plays one scripted fault. An error status, a redirect, a cut before the work and a hang before the headers leave the
 * work undone; a cut after the work, a delay, a hang in the body, a huge answer and a raw answer with a 2xx status come
 * when `work` has been done.
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

const findPrivateKey = (context: Call): string | undefined =>
  context.var.owner?.kind === 'private' ? readPresentedKey(context.req.header('authorization'))?.key : undefined;

const meetWeather = async (context: Call, verdict: WeatherVerdict, work: () => Promise<void>): Promise<void> => {
  if (verdict.kind === 'pass') await work();
  else if (verdict.kind === 'refuse') context.res = toRefusal(context, verdict.refusal);
  else if (verdict.kind === 'cut') cutConnection(context);
  else await hangConnection(context);
};

/**
 * Plays what the sandbox was told to do wrong. A scripted fault that matches the call decides alone: such a call meets
 * no weather and takes no place in its rate limit. All other calls, those that a fault's `afterCalls` lets pass among
 * them, meet the weather. A call the weather refuses is not worked on; its latency comes after the work.
 */
export const applyTrouble = (service: SandboxService) =>
  createMiddleware<CallEnv>(async (context, next) => {
    const { entry } = context.var;
    const { path, method, atMs, searchName } = entry;
    const fault = service.faults.take({ path, method, name: searchName ?? undefined });
    if (fault) return playFault(context, fault, next);
    const verdict = service.weather.judge({ path, atMs, privateKey: findPrivateKey(context) });
    const latencyMs = service.weather.drawLatencyMs(path);
    await meetWeather(context, verdict, next);
    if (latencyMs > 0) await delay(latencyMs, undefined, { ref: false });
    return undefined;
  });
