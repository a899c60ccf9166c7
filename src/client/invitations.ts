import { z } from 'zod';
import type { Clock } from '../clock.js';
import {
  ConnectionError,
  NightscreenError,
  ResponseError,
  ServerError,
  ServiceUnavailableError,
  TimeoutError,
} from '../errors.js';
import type { Answer, AttemptObserver, CallOperation, CallOptions } from './operation.js';
import {
  countFromOneSchema,
  filledTextSchema,
  isoDateTimeSchema,
  listStuckError,
  parseInput,
  sentDateTimeSchema,
  toPathSegment,
  toQuery,
} from './wire.js';

/** At most 255 characters (interface: Limits). */
const shortTextSchema = filledTextSchema.refine(
  // The interface counts characters; JavaScript counts UTF-16 units.
  (text) => text.length <= 255 || [...text].length <= 255,
  'must not be longer than 255 characters',
);

/** An envelope with exactly one list under any name; that list becomes `key`. */
const soleListSchema = (key: string): z.ZodType<Record<string, unknown>> =>
  z.looseObject({}).transform((envelope, context) => {
    const lists = Object.values(envelope).filter((value) => Array.isArray(value));
    if (lists.length === 1) return { ...envelope, [key]: lists[0] };
    const message = `holds ${lists.length} lists instead of one list of ${key}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });

const dateTimeSchema = isoDateTimeSchema.nullish();

/** An invitation, as received. */
const invitationSchema = z.looseObject({
  /** `pending`, `sent`, `delivered`, `opened`, `started`, `failed`, `completed` or `rejected`. */
  status: z.string().min(1),
  /** `adi_<token>`. */
  token: z.string().min(1).nullish(),
  /** `email` or `sms`. */
  channel: z.string().nullish(),
  /** The e-mail address or the phone number. */
  recipient: z.string().nullish(),
  /** The reference, as it was sent. */
  reference: z.string().nullish(),
  /** How often it was sent; the service sends at most 10 times. */
  deliveryAttempts: z.number().int().nonnegative().nullish(),
  /** Why the delivery failed permanently. */
  errorMessage: z.string().nullish(),
  /** The dossier that came of it. */
  dossierToken: z.string().nullish(),
  /** When it was sent: ISO 8601; missing or null again after a resend, until that is sent. */
  sentAt: dateTimeSchema,
  /** When the recipient started: ISO 8601. */
  startedAt: dateTimeSchema,
  /** When the recipient completed it: ISO 8601. */
  completedAt: dateTimeSchema,
  /** When it was rejected: ISO 8601. */
  rejectedAt: dateTimeSchema,
  /** When it was created: ISO 8601. */
  createdAt: dateTimeSchema,
  /** When its link expires: ISO 8601; the interface says 30 days after the creation. */
  expiresAt: dateTimeSchema,
});
/** An invitation, with the wire's names; fields beyond the interface may be missing, unknown fields and states are kept (interface: Workflow invitation). */
export type Invitation = z.infer<typeof invitationSchema>;

const count = z.number().int().nonnegative();
/** The interface does not show the name of the list; it is read as `invitations`. */
const invitationPageSchema = soleListSchema('invitations').pipe(
  z.object({
    /** The invitations of this page, newest first. */
    invitations: z.array(invitationSchema),
    /** The place of this page in the list. */
    pagination: z.object({
      /** The number of invitations in the whole list. */
      total: count,
      /** The number of pages. */
      totalPages: count,
      /** The number of this page, from 1. */
      page: count,
      /** The most invitations of a page. */
      perPage: count,
    }),
  }),
);
/** A page of the invitation list (interface: GET /autodoc/invitations). */
export type InvitationPage = z.infer<typeof invitationPageSchema>;

/** Bare or in an envelope that the interface does not show. */
const localesSchema = z
  .unknown()
  .transform((answer) => (Array.isArray(answer) ? { locales: answer } : answer))
  .pipe(soleListSchema('locales'))
  .pipe(
    z.object({
      /** One entry for each value. */
      locales: z.array(
        z.object({
          /** The value to send: an IETF language tag. */
          code: z.string().min(1),
          /** Its name for people. */
          name: z.string(),
        }),
      ),
    }),
  );
/** The values of `locale` (interface: Locale entry). */
export type Locales = z.infer<typeof localesSchema>;

const channelSchema = z.literal(['email', 'sms']);
const maxInt32 = 2 ** 31 - 1;

/** A new invitation, as given. */
const invitationInputSchema = z.strictObject({
  /** `wf_<token>`; the setting `invitations.workflowField` names its field. */
  workflowToken: filledTextSchema,
  /** How it is delivered. */
  channel: channelSchema,
  /** An e-mail address, or a phone number in international format, by channel; at most 255 characters. */
  recipient: shortTextSchema,
  /** A name that no other invitation has: it finds an invitation whose outcome is unknown. At most 255 characters. */
  reference: shortTextSchema.optional(),
  /** A `code` of the locales; default: that of the organisation, else English. */
  locale: filledTextSchema.optional(),
});
/** A new invitation, with the wire's names except `workflowToken` (interface: POST /autodoc/invitations). */
export type InvitationInput = z.input<typeof invitationInputSchema>;

/** An unknown filter is refused, because the service would ignore it. */
const invitationListQuerySchema = z.strictObject({
  /** Counts from 1. */
  page: countFromOneSchema(maxInt32).optional(),
  /** 1 to 100, default 20. */
  per_page: countFromOneSchema(100).optional(),
  /** `wf_<token>`: only invitations to this workflow. */
  workflow_token: filledTextSchema.optional(),
  /** Only invitations of this status. */
  status: z
    .literal(['pending', 'sent', 'delivered', 'opened', 'started', 'failed', 'completed', 'rejected'])
    .optional(),
  /** Only invitations by this channel. */
  channel: channelSchema.optional(),
  /** The whole reference. */
  reference: shortTextSchema.optional(),
  /** Created at this time or later. */
  date_from: sentDateTimeSchema.optional(),
  /** Created at this time or earlier. */
  date_to: sentDateTimeSchema.optional(),
  /** A part of the recipient, at least 3 characters; case is ignored. */
  search: z.string().min(3, 'must have at least 3 characters').optional(),
});
/** Filters and place of the invitation list, with the wire's names and limits (interface: GET /autodoc/invitations). */
export type InvitationListQuery = z.input<typeof invitationListQuerySchema>;

// "+45 12 34 56 78", "004512345678" and "(45) 1234-5678" are one number.
const foldPhone = (text: string): string => text.replace(/\D/g, '').replace(/^00/, '');

const foldEmail = (text: string): string => text.normalize('NFC').trim().toLowerCase();

/** Whether two recipients of a channel are the same; ignores the case of addresses and all but the digits of phone numbers. */
export const isSameRecipient = (channel: InvitationInput['channel'], one: string, other: string): boolean => {
  if (foldEmail(one) === foldEmail(other)) return true;
  return channel === 'sms' && foldPhone(one) !== '' && foldPhone(one) === foldPhone(other);
};

/** The tolerated lag of the service's clock. */
const clockSlackMs = 5 * 60_000;

/** Whether the service may have done what a call asked for although the call failed. */
export const isOutcomeUnknown = (error: unknown): boolean => {
  if (error instanceof ConnectionError) return error.mayHaveArrived;
  return error instanceof ServerError || error instanceof ServiceUnavailableError || error instanceof ResponseError;
};

/**
 * Whether it may exist although no look-up shows it: the service answered 201 (interface: POST /autodoc/invitations, Response 201) or may still
 * work on it.
 */
const mayStillAppear = (error: unknown): boolean =>
  error instanceof TimeoutError || (error instanceof ResponseError && error.status === 201);

const assess = (
  answer: Answer<InvitationPage>,
  isOurs: (listed: Invitation) => boolean,
  error: unknown,
): Answer<Invitation> | 'absent' | 'unclear' => {
  const { invitations, pagination } = answer.data;
  const [found, another] = invitations.filter(isOurs);
  if (another !== undefined) {
    throw new NightscreenError(
      'reference_not_unique',
      'invitations.create: it is unknown whether the invitation was created, and several have its reference',
      { cause: error },
    );
  }
  if (found !== undefined) return { ...answer, data: found };
  // Other entries mean: the reference was used before, or the service does not filter by it or does not show it.
  return invitations.length === 0 && pagination.total === 0 ? 'absent' : 'unclear';
};

/**
 * Sends an invitation. While its outcome is unknown, it looks for one with the same reference and recipient that was created since. It sends
 * again only after every look-up showed an unused reference, and never after a TimeoutError. Throws the error of the last attempt, NightscreenError
 * `reference_not_unique` when several match, or the reason of the signal.
 */
const sendInvitation = async (given: {
  send(): Promise<Answer<Invitation>>;
  /** The newest invitations with the same reference, workflow and channel. */
  lookUp(): Promise<Answer<InvitationPage>>;
  invitation: Pick<InvitationInput, 'channel' | 'recipient'> & { reference: string };
  maxSends: number;
  lookUpDelaysMs: readonly number[];
  clock: Clock;
  signal: AbortSignal;
}): Promise<Answer<Invitation>> => {
  const { clock, signal, maxSends } = given;
  const { reference, channel, recipient } = given.invitation;
  const earliestMs = clock.now().getTime() - clockSlackMs;

  const isOurs = (listed: Invitation): boolean =>
    listed.reference === reference &&
    isSameRecipient(channel, recipient, listed.recipient ?? '') &&
    Date.parse(listed.createdAt ?? '') >= earliestMs;

  const findSent = async (error: unknown): Promise<Answer<Invitation> | 'absent' | 'unclear'> => {
    let isClear = true;
    for (const delayMs of given.lookUpDelaysMs) {
      await clock.sleep(delayMs, signal);
      const answer = await given.lookUp().catch(() => undefined);
      const verdict = answer === undefined ? 'unclear' : assess(answer, isOurs, error);
      if (typeof verdict === 'object') return verdict;
      signal.throwIfAborted();
      isClear &&= verdict === 'absent';
    }
    return isClear ? 'absent' : 'unclear';
  };

  for (let sends = 1; ; sends += 1) {
    try {
      return await given.send();
    } catch (error) {
      if (!isOutcomeUnknown(error)) throw error;
      const verdict = await findSent(error);
      if (typeof verdict === 'object') return verdict;
      if (verdict === 'unclear' || mayStillAppear(error) || sends === maxSends) throw error;
    }
  }
};

const path = '/autodoc/invitations';

const hasMore = ({ invitations, pagination }: InvitationPage): boolean => {
  const { page, perPage, total, totalPages } = pagination;
  return page < totalPages || (page - 1) * perPage + invitations.length < total;
};

async function* walkInvitationPages(
  fetchPage: (query: InvitationListQuery) => Promise<Answer<InvitationPage>>,
  query: InvitationListQuery,
): AsyncGenerator<InvitationPage> {
  for (let pageNumber = query.page ?? 1; ; pageNumber += 1) {
    const answer = await fetchPage({ ...query, page: pageNumber });
    const page = answer.data;
    if (page.pagination.page !== pageNumber) {
      throw listStuckError('list_page_not_echoed', 'was requested, but another came', { path, pageNumber, answer });
    }
    const goesOn = hasMore(page);
    if (goesOn && page.invitations.length === 0) {
      throw listStuckError('list_page_empty', 'is empty although more is announced', { path, pageNumber, answer });
    }
    yield page;
    if (!goesOn) return;
  }
}

/** The workflow invitation operations of the interface (interface: Workflow invitations). */
export interface Invitations {
  /** The values of `locale`, GET /autodoc/invitations/locales. */
  locales(options?: CallOptions): Promise<Answer<Locales>>;
  /** Every invitation, newest first, fetched page by page; one that is created meanwhile can make another appear twice. */
  list(query?: InvitationListQuery, options?: CallOptions): AsyncIterable<Invitation>;
  /** The pages of the list; throws ResponseError with the page when the list does not advance. */
  pages(query?: InvitationListQuery, options?: CallOptions): AsyncIterable<InvitationPage>;
  /** One page, GET /autodoc/invitations; throws ConfigError for a filter outside the interface's limits. */
  page(query?: InvitationListQuery, options?: CallOptions): Promise<Answer<InvitationPage>>;
  /**
   * Invites a person, POST /autodoc/invitations. With a `reference`, an unknown outcome is looked up and never repeated blindly, after a
   * TimeoutError not at all; the answer is then that of the look-up. Only an invitation to the same recipient, created since the call began,
   * counts as the one sent. Without a reference the error is thrown.
   */
  create(input: InvitationInput, options?: CallOptions): Promise<Answer<Invitation>>;
  /** An invitation by `adi_<token>` or raw token, GET /autodoc/invitations/{token}. */
  retrieve(token: string, options?: CallOptions): Promise<Answer<Invitation>>;
  /** Dispatches a `sent` invitation once more, POST /autodoc/invitations/{token}/resend (interface: States, Resend eligibility). */
  resend(token: string, options?: CallOptions): Promise<Answer<Invitation>>;
}

const mostSends = 3;
const route = '/autodoc/invitations/{token}';
const access = { authentication: 'private_key_or_jwt', isBillable: false } as const;

const reading = { ...access, method: 'GET', successStatus: 200, retry: 'repeatable' } as const;
const sending = { ...access, method: 'POST', successStatus: 201, retry: 'after_refusal', isBillable: true } as const;

/** The workflow invitation operations over `callOperation`. */
export const createInvitations = (
  callOperation: CallOperation,
  settings: {
    /** The field of the workflow token (interface: POST /autodoc/invitations, not shown). */
    workflowField: string;
    clock: Clock;
    /** The waits before the look-ups of an unknown outcome; the first gives the service time to finish. */
    lookUpDelaysMs?: readonly number[];
  },
): Invitations => {
  const { workflowField, clock, lookUpDelaysMs = [1_000, 4_000] } = settings;
  const page: Invitations['page'] = async (given = {}, options) => {
    const query = toQuery(parseInput('invitations.list', invitationListQuerySchema, given));
    return callOperation({ ...reading, name: 'invitations.list', path, query, schema: invitationPageSchema }, options);
  };
  const pages: Invitations['pages'] = (query = {}, options) =>
    walkInvitationPages((next) => page(next, options), query);

  const create: Invitations['create'] = async (input, options = {}) => {
    const { workflowToken, ...fields } = parseInput('invitations.create', invitationInputSchema, input);
    const { reference, channel, recipient } = fields;
    const body = { [workflowField]: workflowToken, ...fields };
    const creation = { ...sending, name: 'invitations.create', path, body, schema: invitationSchema };
    if (reference === undefined) return callOperation(creation, options);
    let attempts = 0;
    const { observer } = options;
    const counter: AttemptObserver = {
      leaving: async (operation) => observer?.leaving?.(operation),
      started: (attempt) => {
        attempts += 1;
        observer?.started?.(attempt);
      },
      ended: (attempt, end) => observer?.ended?.(attempt, end),
    };
    const counted: CallOptions = { ...options, observer: counter };
    const filters = { reference, channel, workflow_token: workflowToken, per_page: 100 };
    const signals = [options.signal, options.waitSignal].filter((signal) => signal !== undefined);
    const answer = await sendInvitation({
      send: () => callOperation(creation, counted),
      lookUp: () => page(filters, counted),
      invitation: { reference, channel, recipient },
      maxSends: Math.min(mostSends, 1 + (options.maxRetries ?? mostSends)),
      lookUpDelaysMs,
      clock,
      signal: AbortSignal.any(signals),
    });
    return { ...answer, attempts };
  };

  return {
    locales: async (options) =>
      callOperation(
        { ...reading, name: 'invitations.locales', path: `${path}/locales`, schema: localesSchema },
        options,
      ),
    page,
    pages,
    list: async function* (query, options) {
      for await (const { invitations } of pages(query, options)) yield* invitations;
    },
    create,
    retrieve: async (token, options) => {
      const name = 'invitations.retrieve';
      const place = { name, path: `${path}/${toPathSegment(name, token)}`, route };
      return callOperation({ ...reading, ...place, schema: invitationSchema }, options);
    },
    resend: async (token, options) => {
      const name = 'invitations.resend';
      const place = { name, path: `${path}/${toPathSegment(name, token)}/resend`, route: `${route}/resend` };
      return callOperation({ ...sending, ...place, schema: invitationSchema }, options);
    },
  };
};
