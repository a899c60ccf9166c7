import type { Hono } from 'hono';
import { z } from 'zod';
import { answerError, answerTooLarge, type Call, type CallEnv, readBoundedText } from './calls.js';
import { dossierChangeSchema } from './dossiers/dossier-book.js';
import { deliveryOrderSchema, eventSettingsSchema, newEventSchema } from './events.js';
import { invitationMoveSchema } from './invitations.js';
import type { SandboxService } from './service.js';
import { faultSchema } from './trouble/faults.js';
import { weatherSchema } from './trouble/weather.js';
import { loadWorld, rankingSchema } from './world.js';

const worldSchema = z.strictObject({
  watchlists: z.array(z.string()),
  dossiers: z.string().optional(),
  ranking: rankingSchema.optional(),
});
const clockSchema = z.strictObject({ advanceMs: z.number().min(0) });
const keysSchema = z.union([z.strictObject({ rotate: z.literal(true) }), z.strictObject({ revoke: z.literal(true) })]);
const moveSchema = z.union([
  invitationMoveSchema.extend({ token: z.string() }),
  invitationMoveSchema.extend({ reference: z.string() }),
]);
const listSchema = z.strictObject({ missingCursor: z.enum(['empty_page', 'not_found']) });

const answerNothing = (context: Call): Response => context.body(null, 204);

/** A page of another site can send a POST without asking, and says so in `Origin`. */
const isForeign = (context: Call): boolean => {
  const origin = context.req.header('origin');
  return origin !== undefined && origin !== new URL(context.req.url).origin;
};

/** Reads an order by its schema and carries it out; what is wrong with it is the answer otherwise. */
const take =
  <T>(schema: z.ZodType<T>, carryOut: (context: Call, order: T) => Response | Promise<Response>) =>
  async (context: Call): Promise<Response> => {
    if (isForeign(context)) return answerError(context, 403, 'Pages of other sites cannot steer the sandbox.');
    const text = await readBoundedText(context);
    if (text === undefined) return answerTooLarge(context);
    try {
      const order = schema.safeParse(JSON.parse(text));
      if (!order.success) return answerError(context, 400, z.prettifyError(order.error));
      return await carryOut(context, order.data);
    } catch (error) {
      return answerError(context, 400, error instanceof Error ? error.message : String(error));
    }
  };

/** Adds the routes that steer a sandbox and read its ledger; they need no key and are no part of the service's interface. */
export const addControls = (app: Hono<CallEnv>, service: SandboxService): void => {
  const { clock, events, faults, invitations, keyRing, ledger, weather } = service;
  const steer = <T>(
    path: string,
    schema: z.ZodType<T>,
    carryOut: (context: Call, order: T) => Response | Promise<Response>,
  ): void => void app.on(['PUT', 'POST'], `/_sandbox/${path}`, take(schema, carryOut));

  app.get('/_sandbox/ledger', (context) => context.json({ counts: ledger.counts(), calls: ledger.calls() }));

  app.delete('/_sandbox/ledger', (context) => {
    ledger.clear();
    return answerNothing(context);
  });

  steer('faults', z.array(faultSchema), (context, order) => {
    faults.replace(order);
    return answerNothing(context);
  });

  steer('weather', weatherSchema, (context, order) => {
    weather.replace(order);
    return answerNothing(context);
  });

  steer('clock', clockSchema, (context, { advanceMs }) => {
    clock.advance(advanceMs);
    return context.json({ now: new Date(clock.nowMs()).toISOString() });
  });

  steer('keys', keysSchema, (context, order) => {
    if ('rotate' in order) return context.json({ privateKey: keyRing.rotate() });
    keyRing.revoke();
    return context.json({ privateKey: null });
  });

  steer('world', worldSchema, async (context, { watchlists, dossiers, ranking }) => {
    const world = await loadWorld({ watchlists, ...(dossiers === undefined ? {} : { dossiers }) });
    service.setWorld({ ...world, ...(ranking === undefined ? {} : { ranking }) });
    return answerNothing(context);
  });

  steer('dossiers', z.array(dossierChangeSchema), (context, changes) =>
    context.json({ ids: service.changeDossiers(changes) }),
  );

  steer('list', listSchema, (context, { missingCursor }) => {
    service.missingCursor = missingCursor;
    return answerNothing(context);
  });

  steer('invitations', moveSchema, (context, order) => {
    const { status, errorMessage, dossierToken, afterMs } = order;
    const name = 'token' in order ? order.token : order.reference;
    const record = invitations.move(name, { status, errorMessage, dossierToken, afterMs });
    return record ? context.json(record) : answerError(context, 404, 'No such invitation.');
  });

  app.get('/_sandbox/events', (context) => context.json({ publicKey: events.publicKey(), events: events.events() }));

  steer('events', eventSettingsSchema, (context, settings) => {
    events.configure(settings);
    return answerNothing(context);
  });

  steer('events/make', newEventSchema, (context, order) =>
    context.json(events.add(order, service.findDossier(order.dossier))),
  );

  steer('events/deliver', deliveryOrderSchema, (context, order) => context.json({ requests: events.deliver(order) }));
};
