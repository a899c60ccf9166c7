import { setTimeout as delay } from 'node:timers/promises';
import { createMiddleware } from 'hono/factory';
import type { Call, CallEnv } from '../calls.js';
import { readPresentedKey } from '../calls.js';
import type { SandboxService } from '../service.js';
import { cutConnection, hangConnection } from './end-connection.js';
import { playFault } from './play-fault.js';
import { toRefusal } from './refuse.js';
import type { WeatherVerdict } from './weather.js';

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
