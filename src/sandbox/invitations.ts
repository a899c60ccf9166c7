import type { Hono } from 'hono';
import { z } from 'zod';
import {
  addControl,
  answerError,
  type CallEnv,
  describeProblem,
  emailSchema,
  phoneSchema,
  SlidingWindow,
} from './calls.js';
import type { DossierBook } from './dossier-book.js';
import { type KeyOwner, type Mode, makeToken } from './keys.js';
import type { SandboxClock } from './sandbox-clock.js';
import type { SandboxDossier } from './world.js';

const statusSchema = z.enum(['pending', 'sent', 'delivered', 'opened', 'started', 'failed', 'completed', 'rejected']);
const channelSchema = z.enum(['email', 'sms']);

/** An invitation in its public form (service facts: invitation record), with what only the sandbox knows. */
interface SandboxInvitation {
  mode: Mode;
  /** When the latest delivery was queued. */
  dispatchedAtMs: number;
  /** With its prefix `adi_`. */
  token: string;
  workflowToken: string;
  channel: z.infer<typeof channelSchema>;
  recipient: string;
  reference: string | null;
  locale: string;
  status: z.infer<typeof statusSchema>;
  sentAt: string | null;
  startedAt: string | null;
  completedAt: string | null;
  rejectedAt: string | null;
  createdAt: string;
  expiresAt: string;
  errorMessage: string | null;
  deliveryAttempts: number;
  dossierToken: string | null;
}

/** Interface: Limits, invitation link validity. */
const LINK_LIFETIME_MS = 30 * 24 * 3_600_000;
// The time until the provider accepts a message, by the sandbox's clock.
const DELIVERY_MS = 1_000;
const PREFIX = 'adi_';

const toTime = (ms: number): string => new Date(ms).toISOString();

const toInvitationRecord = ({ mode: _, dispatchedAtMs: __, ...record }: SandboxInvitation) => record;

const CODES = ['en', 'da', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'pt-BR', 'sv', 'zh-Hans'];

const findLanguage = (acceptLanguage: string | undefined): string => {
  const wanted = acceptLanguage?.split(',')[0]?.split(';')[0]?.trim() ?? '';
  try {
    return Intl.DisplayNames.supportedLocalesOf(wanted)[0] ?? 'en';
  } catch {
    // A malformed tag is a RangeError there, and here a request without a usable language.
    return 'en';
  }
};

/** The locales with names in the requester's language, else the upper-cased code (interface: Locale entry). */
const listLocales = (acceptLanguage: string | undefined): { code: string; name: string }[] => {
  const names = new Intl.DisplayNames(findLanguage(acceptLanguage), { type: 'language', fallback: 'none' });
  return CODES.map((code) => ({ code, name: names.of(code) ?? code.toUpperCase() }));
};

const MAX_LENGTH = 255;
const DEFAULT_LOCALE = 'en';

/** The required shape of a request, whatever its values (service facts: invitation body). */
const bodySchema = z.object({
  workflowToken: z.string(),
  channel: z.string(),
  recipient: z.string(),
  reference: z.string().nullish(),
  locale: z.string().nullish(),
});

/** The allowed values (interface: POST /autodoc/invitations). */
const newInvitationSchema = bodySchema
  .extend({
    channel: channelSchema,
    recipient: z.string().max(MAX_LENGTH),
    reference: z
      .string()
      .max(MAX_LENGTH)
      .nullish()
      .transform((text) => text ?? null),
    locale: z
      .string()
      .refine((code) => CODES.includes(code), 'is not a supported locale')
      .nullish()
      .transform((code) => code ?? DEFAULT_LOCALE),
  })
  .refine(({ channel, recipient }) => (channel === 'email' ? emailSchema : phoneSchema).safeParse(recipient).success, {
    path: ['recipient'],
    message: 'does not fit the channel',
  });

const instant = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text));

const querySchema = z.object({
  page: z.coerce.number().int().min(1).default(1),
  per_page: z.coerce.number().int().min(1).max(100).default(20),
  workflow_token: z.string().optional(),
  status: statusSchema.optional(),
  channel: channelSchema.optional(),
  reference: z.string().optional(),
  date_from: instant.optional(),
  date_to: instant.optional(),
  search: z.string().min(3).optional(),
});

const isWanted = (invitation: SandboxInvitation, query: z.infer<typeof querySchema>): boolean =>
  (query.workflow_token === undefined || invitation.workflowToken === query.workflow_token) &&
  (query.status === undefined || invitation.status === query.status) &&
  (query.channel === undefined || invitation.channel === query.channel) &&
  (query.reference === undefined || invitation.reference === query.reference) &&
  (query.date_from === undefined || Date.parse(invitation.createdAt) >= query.date_from) &&
  (query.date_to === undefined || Date.parse(invitation.createdAt) <= query.date_to) &&
  (query.search === undefined || invitation.recipient.toLowerCase().includes(query.search.toLowerCase()));

const MAX_ATTEMPTS = 10;
const COOLDOWN_MS = 3 * 60_000;

const invalidState = (message: string) => ({ status: 422, code: 'invalid_state', message }) as const;

/** Why an invitation cannot be sent again; undefined when it can (interface: Resend eligibility, Limits). */
const assessResend = (invitation: SandboxInvitation, nowMs: number) => {
  if (invitation.status !== 'sent') return invalidState(`An invitation that is ${invitation.status} cannot be resent.`);
  if (nowMs >= Date.parse(invitation.expiresAt)) return invalidState('The invitation has expired.');
  if (invitation.deliveryAttempts >= MAX_ATTEMPTS) {
    const message = `The invitation was sent ${MAX_ATTEMPTS} times, which is the most.`;
    return { status: 422, code: 'max_attempts_reached', message } as const;
  }
  const readyAtMs = Date.parse(invitation.sentAt ?? '') + COOLDOWN_MS;
  if (nowMs >= readyAtMs) return undefined;
  const remainingSeconds = Math.ceil((readyAtMs - nowMs) / 1_000);
  return {
    status: 429,
    code: 'cooldown_active',
    message: `Sent too recently; remaining_seconds: ${remainingSeconds}`,
  } as const;
};

const MINUTE_MS = 60_000;
const PER_ADDRESS = 30;
const PER_ORGANISATION = 20;

/** The throttles of resends: per organisation and per IP address (interface: Limits). */
const createResendThrottle = () => {
  const windows = new Map<string, SlidingWindow>();
  const take = (key: string, places: number, atMs: number): boolean => {
    const window = windows.get(key) ?? new SlidingWindow(places, MINUTE_MS);
    windows.set(key, window);
    return window.take(atMs) === 0;
  };
  /** A refused one takes no place in the window that refused it. */
  return (account: string, address: string, atMs: number): boolean =>
    take(`organisation ${account}`, PER_ORGANISATION, atMs) && take(`address ${address}`, PER_ADDRESS, atMs);
};

/** An event outside the service: an act of the provider, the recipient or a reviewer. */
const invitationMoveSchema = z.strictObject({
  status: statusSchema,
  errorMessage: z.string().optional(),
  /** The dossier with which it is now linked. */
  dossierToken: z.string().optional(),
  /** After this time of the sandbox's clock; by default at once. */
  afterMs: z.number().min(0).optional(),
});
type InvitationMove = z.input<typeof invitationMoveSchema>;
const namedMoveSchema = z.union([
  invitationMoveSchema.extend({ token: z.string() }),
  invitationMoveSchema.extend({ reference: z.string() }),
]);

const NOT_FOUND = 'No such invitation in this organisation.';

const ENDS = { completed: 'completed', approved: 'completed', rejected: 'rejected' } as const;
const toEnd = (status: string): 'completed' | 'rejected' | undefined =>
  Object.entries(ENDS).find(([ending]) => ending === status)?.[1];

/** The workflow invitations of the main organisation; the other has no workflow. An invitation is `sent` once its delivery time has passed. */
export const createInvitationDesk = (
  clock: SandboxClock,
  workflowToken: string,
  dossiersOf: Readonly<Record<Mode, DossierBook>>,
) => {
  const admitResend = createResendThrottle();
  const invitations = new Map<string, SandboxInvitation>();
  const byDossier = new Map<string, SandboxInvitation>();

  const find = (token: string, owner: KeyOwner | undefined): SandboxInvitation | undefined => {
    const found = invitations.get(token.startsWith(PREFIX) ? token : PREFIX + token);
    return owner?.account === 'main' && owner.mode === found?.mode ? found : undefined;
  };
  const listNewestFirst = (): SandboxInvitation[] => [...invitations.values()].reverse();

  const dispatch = (invitation: SandboxInvitation, dispatchedAtMs = clock.nowMs()): void => {
    Object.assign(invitation, { status: 'pending', sentAt: null, dispatchedAtMs });
    clock.at(dispatchedAtMs + DELIVERY_MS, () => {
      if (invitation.status !== 'pending' || invitation.dispatchedAtMs !== dispatchedAtMs) return;
      invitation.status = 'sent';
      invitation.sentAt = toTime(dispatchedAtMs + DELIVERY_MS);
    });
  };
  const link = (invitation: SandboxInvitation, dossierToken: string): void => {
    invitation.dossierToken = dossierToken;
    byDossier.set(dossierToken, invitation);
  };
  const applyMove = (invitation: SandboxInvitation, { status, errorMessage, dossierToken }: InvitationMove): void => {
    if (dossierToken !== undefined) link(invitation, dossierToken);
    if (status === 'pending') {
      dispatch(invitation);
      return;
    }
    const now = toTime(clock.nowMs());
    invitation.status = status;
    invitation.sentAt = status === 'failed' ? null : (invitation.sentAt ?? now);
    if (status === 'started') invitation.startedAt = now;
    if (status === 'completed') invitation.completedAt = now;
    if (status === 'rejected') invitation.rejectedAt = now;
    if (status === 'failed') invitation.errorMessage = errorMessage ?? 'The message could not be delivered.';
    const dossiers = dossiersOf[invitation.mode];
    const dossier = dossiers.find(invitation.dossierToken ?? '');
    if (status === 'started' && invitation.dossierToken === null) {
      link(invitation, dossiers.insert({ name: invitation.recipient, reference: invitation.reference }).id);
    }
    const isEnd = status === 'completed' || status === 'rejected';
    if (dossier && isEnd && toEnd(dossier.status) !== status) dossiers.update(dossier.id, { status });
  };

  /** Adds the five operations on workflow invitations (interface: Workflow invitations). */
  const addRoutes = (routes: Hono<CallEnv>): void => {
    routes.get('/autodoc/invitations/locales', (context) => {
      return context.json({ locales: listLocales(context.req.header('accept-language')) });
    });

    routes.get('/autodoc/invitations', (context) => {
      const parsed = querySchema.safeParse(context.req.query());
      if (!parsed.success) return answerError(context, 400, describeProblem(parsed.error));
      const { page, per_page: perPage } = parsed.data;
      const { owner } = context.var;
      const own = listNewestFirst().filter(({ mode }) => owner?.account === 'main' && owner.mode === mode);
      const wanted = own.filter((invitation) => isWanted(invitation, parsed.data));
      return context.json({
        invitations: wanted.slice((page - 1) * perPage, page * perPage).map(toInvitationRecord),
        pagination: { total: wanted.length, totalPages: Math.ceil(wanted.length / perPage), page, perPage },
      });
    });

    routes.post('/autodoc/invitations', (context) => {
      const body = bodySchema.safeParse(context.var.body);
      if (!body.success) return answerError(context, 400, describeProblem(body.error));
      const request = newInvitationSchema.safeParse(body.data);
      if (!request.success) return answerError(context, 422, describeProblem(request.error));
      const { owner } = context.var;
      if (owner?.account !== 'main' || request.data.workflowToken !== workflowToken) {
        return answerError(context, 404, 'No such workflow.', 'workflow_not_found');
      }
      const nowMs = clock.nowMs();
      const invitation: SandboxInvitation = {
        ...request.data,
        token: `${PREFIX}${makeToken()}`,
        mode: owner.mode,
        status: 'pending',
        dispatchedAtMs: nowMs,
        sentAt: null,
        startedAt: null,
        completedAt: null,
        rejectedAt: null,
        createdAt: toTime(nowMs),
        expiresAt: toTime(nowMs + LINK_LIFETIME_MS),
        errorMessage: null,
        deliveryAttempts: 1,
        dossierToken: null,
      };
      invitations.set(invitation.token, invitation);
      dispatch(invitation, nowMs);
      return context.json(toInvitationRecord(invitation), 201);
    });

    routes.get('/autodoc/invitations/:token', (context) => {
      const invitation = find(context.req.param('token'), context.var.owner);
      if (!invitation) return answerError(context, 404, NOT_FOUND);
      return context.json(toInvitationRecord(invitation));
    });

    routes.post('/autodoc/invitations/:token/resend', (context) => {
      const { owner } = context.var;
      const nowMs = clock.nowMs();
      const address = context.env.incoming.socket.remoteAddress ?? '';
      if (!admitResend(owner?.account ?? 'other', address, nowMs)) {
        return answerError(context, 429, 'Too many resends within a minute.');
      }
      const invitation = find(context.req.param('token'), owner);
      if (!invitation) return answerError(context, 404, NOT_FOUND);
      const refusal = assessResend(invitation, nowMs);
      if (refusal) return answerError(context, refusal.status, refusal.message, refusal.code);
      invitation.deliveryAttempts += 1;
      dispatch(invitation);
      return context.json(toInvitationRecord(invitation), 201);
    });
  };

  /**
   * Moves the invitation with this token, or the newest with this reference, and gives its record; undefined for an unknown one. A `started` one
   * opens a dossier with its reference, unless it has one; a `completed` or `rejected` one ends its dossier in the same state.
   */
  const move = (tokenOrReference: string, { afterMs, ...wanted }: InvitationMove) => {
    const byReference = () => listNewestFirst().find(({ reference }) => reference === tokenOrReference);
    const invitation = invitations.get(tokenOrReference) ?? byReference();
    if (!invitation) return undefined;
    if (afterMs === undefined) applyMove(invitation, wanted);
    else clock.at(clock.nowMs() + afterMs, () => applyMove(invitation, wanted));
    return toInvitationRecord(invitation);
  };

  return {
    addRoutes,
    move,
    /** Adds the control for events outside the service. */
    addControls: (app: Hono<CallEnv>): void => {
      addControl(app, 'invitations', namedMoveSchema, (context, order) => {
        const { status, errorMessage, dossierToken, afterMs } = order;
        const name = 'token' in order ? order.token : order.reference;
        const record = move(name, { status, errorMessage, dossierToken, afterMs });
        return record ? context.json(record) : answerError(context, 404, 'No such invitation.');
      });
    },
    /** Ends the invitation of a dossier in the state of the dossier (service facts: invitation record). */
    hear: (dossier: SandboxDossier): void => {
      const invitation = byDossier.get(dossier.id) ?? byDossier.get(dossier.token);
      const end = toEnd(dossier.status);
      if (invitation && end && invitation.status !== end) applyMove(invitation, { status: end });
    },
  };
};
