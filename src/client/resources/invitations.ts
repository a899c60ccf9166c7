import type { Clock } from '../../clock.js';
import type { AttemptObserver } from '../calls/attempt-observer.js';
import { followSignals } from '../calls/follow-signals.js';
import type { Answer, CallOperation, CallOptions, Operation } from '../operation.js';
import {
  type Invitation,
  type InvitationPage,
  invitationPageSchema,
  invitationSchema,
  type Locales,
  localesSchema,
} from './invitation.js';
import {
  type InvitationInput,
  type InvitationListQuery,
  invitationInputSchema,
  invitationListQuerySchema,
} from './invitation-inputs.js';
import { parseInput } from './parse-input.js';
import { sendInvitation } from './send-invitation.js';
import { toPathSegment } from './to-path-segment.js';
import { toQuery } from './to-query.js';
import { walkInvitationPages } from './walk-invitation-pages.js';

export type { Invitation, InvitationInput, InvitationListQuery, InvitationPage, Locales };

/** The workflow invitation operations of the interface (interface: Workflow invitations). */
export interface Invitations {
  /** The values that `locale` may have, GET /autodoc/invitations/locales. */
  locales(options?: CallOptions): Promise<Answer<Locales>>;
  /** Every invitation, newest first, fetched page by page while it is read; one created meanwhile pushes others onto the next page, where they come again. */
  list(query?: InvitationListQuery, options?: CallOptions): AsyncIterable<Invitation>;
  /** The pages of the list; a list that does not advance is a ResponseError naming the page. */
  pages(query?: InvitationListQuery, options?: CallOptions): AsyncIterable<InvitationPage>;
  /** One page, GET /autodoc/invitations; throws ConfigError for a filter outside the interface's limits. */
  page(query?: InvitationListQuery, options?: CallOptions): Promise<Answer<InvitationPage>>;
  /**
   * Invites somebody, POST /autodoc/invitations. With a `reference` an outcome that stays unknown is looked up and never sent blindly
   * a second time, after a TimeoutError not at all; the answer is then the look-up's, with its status and body. Only an invitation to the
   * same recipient, created since the call began, is taken for the one that was sent. Without a reference the error is thrown.
   */
  create(input: InvitationInput, options?: CallOptions): Promise<Answer<Invitation>>;
  /** An invitation by `adi_<token>` or raw token, GET /autodoc/invitations/{token}. */
  retrieve(token: string, options?: CallOptions): Promise<Answer<Invitation>>;
  /** Dispatches a `sent` invitation once more, POST /autodoc/invitations/{token}/resend (interface: States, Resend eligibility). */
  resend(token: string, options?: CallOptions): Promise<Answer<Invitation>>;
}

/** What of the invitation operations the interface leaves open, and how an unknown outcome is looked up. */
export interface InvitationSettings {
  /** The name under which the workflow token is sent (interface: POST /autodoc/invitations, not shown). */
  workflowField: string;
  clock: Clock;
  /** The waits before one look-up after the other; the first gives the service the time to finish what it was doing. */
  lookUpDelaysMs?: readonly number[];
}

const mostSends = 3;
const route = '/autodoc/invitations/{token}';
const access = { authentication: 'private_key_or_jwt', isBillable: false } as const;

const localesOperation: Operation<Locales> = {
  ...access,
  name: 'invitations.locales',
  method: 'GET',
  path: '/autodoc/invitations/locales',
  successStatus: 200,
  retry: 'repeatable',
  schema: localesSchema,
};

const toListOperation = (query: InvitationListQuery): Operation<InvitationPage> => ({
  ...access,
  name: 'invitations.list',
  method: 'GET',
  path: '/autodoc/invitations',
  query: toQuery(parseInput('invitations.list', invitationListQuerySchema, query)),
  successStatus: 200,
  retry: 'repeatable',
  schema: invitationPageSchema,
});

const toCreation = (input: InvitationInput, workflowField: string): Operation<Invitation> => {
  const { workflowToken, ...fields } = parseInput('invitations.create', invitationInputSchema, input);
  return {
    ...access,
    name: 'invitations.create',
    method: 'POST',
    path: '/autodoc/invitations',
    body: { [workflowField]: workflowToken, ...fields },
    successStatus: 201,
    retry: 'after_refusal',
    isBillable: true,
    schema: invitationSchema,
  };
};

const toRetrieval = (token: string): Operation<Invitation> => ({
  ...access,
  name: 'invitations.retrieve',
  method: 'GET',
  path: `/autodoc/invitations/${toPathSegment('invitations.retrieve', token)}`,
  route,
  successStatus: 200,
  retry: 'repeatable',
  schema: invitationSchema,
});

const toResending = (token: string): Operation<Invitation> => ({
  ...access,
  name: 'invitations.resend',
  method: 'POST',
  path: `/autodoc/invitations/${toPathSegment('invitations.resend', token)}/resend`,
  route: `${route}/resend`,
  successStatus: 201,
  retry: 'after_refusal',
  isBillable: true,
  schema: invitationSchema,
});

/** The workflow invitation operations over `callOperation`. */
export const createInvitations = (callOperation: CallOperation, settings: InvitationSettings): Invitations => {
  const { workflowField, clock, lookUpDelaysMs = [1_000, 4_000] } = settings;
  const page: Invitations['page'] = async (query = {}, options) => callOperation(toListOperation(query), options);
  const pages: Invitations['pages'] = (query = {}, options) =>
    walkInvitationPages((next) => page(next, options), query);

  const create: Invitations['create'] = async (input, options = {}) => {
    const creation = toCreation(input, workflowField);
    const { reference, channel, recipient, workflowToken } = input;
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
    const waiting = followSignals(new AbortController().signal, [options.signal, options.waitSignal]);
    try {
      const answer = await sendInvitation({
        send: () => callOperation(creation, counted),
        lookUp: () => page(filters, counted),
        invitation: { reference, channel, recipient },
        maxSends: Math.min(mostSends, 1 + (options.maxRetries ?? mostSends)),
        lookUpDelaysMs,
        clock,
        signal: waiting.signal,
      });
      return { ...answer, attempts };
    } finally {
      waiting.clear();
    }
  };

  return {
    locales: async (options) => callOperation(localesOperation, options),
    page,
    pages,
    list: async function* (query, options) {
      for await (const { invitations } of pages(query, options)) yield* invitations;
    },
    create,
    retrieve: async (token, options) => callOperation(toRetrieval(token), options),
    resend: async (token, options) => callOperation(toResending(token), options),
  };
};
