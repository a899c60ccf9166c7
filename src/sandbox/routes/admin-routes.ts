import type { Hono } from 'hono';
import { z } from 'zod';
import { answerError } from '../answer-error.js';
import type { Call, CallEnv } from '../call.js';
import { invitationStatusSchema, toInvitationRecord } from '../invitations/invitation.js';
import type { SandboxService } from '../service.js';
import { faultSchema } from '../trouble/faults.js';
import { weatherSchema } from '../trouble/weather-schema.js';
import { loadWorld, rankingSchema } from '../world.js';

const worldSchema = z.strictObject({
  watchlists: z.array(z.string()),
  dossiers: z.string().optional(),
  ranking: rankingSchema.optional(),
});
const clockSchema = z.strictObject({ advanceMs: z.number().min(0) });
const keysSchema = z.union([z.strictObject({ rotate: z.literal(true) }), z.strictObject({ revoke: z.literal(true) })]);
const moveSchema = z.strictObject({
  token: z.string(),
  status: invitationStatusSchema,
  errorMessage: z.string().optional(),
  dossierToken: z.string().optional(),
});

/** Reads an order by its schema and carries it out; what is wrong with it is the answer otherwise. */
const take =
  <T>(schema: z.ZodType<T>, carryOut: (context: Call, order: T) => Response | Promise<Response>) =>
  async (context: Call): Promise<Response> => {
    const body: unknown = await context.req.json().catch(() => undefined);
    const order = schema.safeParse(body);
    return order.success ? carryOut(context, order.data) : answerError(context, 400, z.prettifyError(order.error));
  };

const answerNothing = (context: Call): Response => context.body(null, 204);

/** Adds the routes that steer a sandbox and read its ledger; they need no key and are no part of the service's interface. */
export const addAdminRoutes = (app: Hono<CallEnv>, service: SandboxService): void => {
  app.get('/_sandbox/ledger', (context) =>
    context.json({ counts: service.ledger.counts(), calls: service.ledger.calls() }),
  );

  app.delete('/_sandbox/ledger', (context) => {
    service.ledger.clear();
    return answerNothing(context);
  });

  const takeFaults = take(z.array(faultSchema), (context, faults) => {
    service.faults.replace(faults);
    return answerNothing(context);
  });
  app.put('/_sandbox/faults', takeFaults);

  const takeWeather = take(weatherSchema, (context, weather) => {
    service.weather.replace(weather);
    return answerNothing(context);
  });
  app.put('/_sandbox/weather', takeWeather);

  const takeClock = take(clockSchema, (context, { advanceMs }) => {
    service.clock.advance(advanceMs);
    return context.json({ now: new Date(service.clock.nowMs()).toISOString() });
  });
  app.put('/_sandbox/clock', takeClock);

  const takeKeys = take(keysSchema, (context, order) => {
    if ('rotate' in order) return context.json({ privateKey: service.keyRing.rotate() });
    service.keyRing.revoke();
    return context.json({ privateKey: null });
  });
  app.put('/_sandbox/keys', takeKeys);

  const takeMove = take(moveSchema, (context, { token, ...move }) => {
    const invitation = service.moveInvitation(token, move);
    return invitation ? context.json(toInvitationRecord(invitation)) : answerError(context, 404, 'No such invitation.');
  });
  app.put('/_sandbox/invitations', takeMove);

  const takeWorld = take(worldSchema, async (context, { watchlists, dossiers, ranking }) => {
    try {
      const world = await loadWorld({ watchlists, ...(dossiers === undefined ? {} : { dossiers }) });
      service.setWorld({ ...world, ...(ranking === undefined ? {} : { ranking }) });
    } catch (error) {
      return answerError(context, 400, error instanceof Error ? error.message : String(error));
    }
    return answerNothing(context);
  });
  app.put('/_sandbox/world', takeWorld);
};
