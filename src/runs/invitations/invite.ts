import { createHmac } from 'node:crypto';
import type { Client } from '../../client/client.js';
import { type Invitation, isOutcomeUnknown } from '../../client/invitations.js';
import type { Answer, CallOptions } from '../../client/operation.js';
import {
  ApiError,
  ConfigError,
  ConnectionError,
  NightscreenError,
  NotFoundError,
  PaymentRequiredError,
  RateLimitError,
  ResponseError,
  StoreError,
  usageError,
} from '../../errors.js';
import type { DossierLink } from '../../roster/settings.js';
import { isHalting, isTransient, toFailureReason } from '../../screening/screen.js';
import { DatabaseError, type Transaction } from '../../store/database/database.js';
import { assertLease, toLeaseKey } from '../../store/database/leases.js';
import { findLastSweep } from '../../store/dossiers/dossiers.js';
import {
  endFormerInvitations,
  endInvitations,
  type InvitationCandidate,
  listToFollow,
  listToRemind,
  markLeaving,
  readCandidates,
  saveFailure,
  saveIntention,
  saveShown,
} from '../../store/dossiers/invitations.js';
import { findRoster, type Organisation, readOrganisation } from '../../store/organisations.js';
import { identifyAccount } from '../account.js';
import type { AppContext } from '../app-context.js';
import { findUnreconciled } from '../reconcile-run.js';
import { type RunSession, withLease } from '../session.js';

/** Which customers are invited or reminded; without `isSent` they are only shown. */
export interface InvitingOptions {
  roster?: string | undefined;
  limit?: number | undefined;
  isSent: boolean;
  isReminder: boolean;
}

type Channel = 'email' | 'sms';
type InvitingOutcome = 'sent' | 'found' | 'unknown' | 'refused' | 'not_now';

/** A customer that is invited or reminded; `outcome` is null in a preview. */
interface Invited {
  roster: string;
  customer: string;
  discrepancy: 'customer_without_dossier';
  channel: Channel;
  outcome: Exclude<InvitingOutcome, 'not_now'> | null;
}

/** The result of inviting. It does not contain why a customer is not invited now. */
export type InvitingResult = Awaited<ReturnType<typeof inviteCustomers>>;

interface Task {
  roster: string;
  customer: string;
  channel: Channel;
  perform: (inviting: Inviting) => Promise<InvitingOutcome>;
}

interface Inviting {
  app: AppContext;
  client: Client;
  signal: AbortSignal;
  write<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
}

interface Scope {
  app: AppContext;
  organisation: Organisation;
  accountId: number;
  rosters: readonly { name: string; rosterId: number; invite: NonNullable<DossierLink['invite']> }[];
}

/** The service lists an invitation of unknown outcome within this time; before that it is not sent again. */
const listedWithinMs = 5 * 60_000;
/** If storing a mark takes longer, nothing is sent: the process was suspended, and another one may have the lease. */
const freshMs = 30_000;
const remindAfterMs = 7 * 24 * 60 * 60_000;
const mostRounds = 8;
const mostFailuresInARow = 3;

/**
 * Invites customers without a dossier to a verification, or reminds invited ones. Without `isSent` it only lists them: it calls no service and
 * stores nothing. Throws ConfigError when no roster configures invitations, missing dossiers are not proven, or a live key has no price.
 */
export async function inviteCustomers(app: AppContext, options: InvitingOptions, signal: AbortSignal) {
  const organisation = await readOrganisation(app.database, app.settings.organisation);
  const sweep = await findLastSweep(app.database, organisation);
  if (sweep === null) throw refuse('no sweep of the dossiers has ended yet; run `nightscreen sweep` first');
  const rosters = await listInviting(app, options.roster);
  const { accountId, isTest } = sweep;
  for (const { rosterId, name } of options.isReminder ? [] : rosters) {
    const because = await findUnreconciled(app, rosterId, accountId);
    if (because !== null) throw refuse(`it is not known now which customers of ${name} have no dossier: ${because}`);
  }
  const scope = { app, organisation, accountId, rosters };
  const common = { isSent: options.isSent, isReminder: options.isReminder, isTest };
  const plan = options.isReminder ? planReminders : planInvitations;
  if (!options.isSent) {
    const { tasks, counts } = await plan(scope, options.limit);
    const customers = tasks.map((task) => toInvited(task, null));
    return { ...common, customers, cost: toCost(app, customers), ...counts, stoppedBecause: null };
  }
  return withLease(app, toLeaseKey('invite', organisation.name), signal, async ({ lease, signal: lasting }) => {
    const client = app.client();
    const account = await identifyAccount(app, organisation, client, lasting);
    if (account.accountId !== accountId)
      throw refuse('the key belongs to another account than the last sweep; run `nightscreen sweep` first');
    const inviting: Inviting = {
      app,
      client,
      signal: lasting,
      write: (work) =>
        app.database.transaction(async (transaction) => {
          await assertLease(transaction, lease);
          return work(transaction);
        }),
    };
    const unknown = await resolveFormer(inviting, accountId);
    const { tasks, counts } = await plan(scope, options.limit);
    if (!isTest) requirePrices(app, tasks);
    const { customers, notNow, stoppedBecause } = await performAll(inviting, tasks);
    const sent = customers.filter(({ outcome }) => outcome === 'sent' || outcome === 'unknown');
    return {
      ...common,
      customers: [...unknown, ...customers],
      cost: toCost(app, sent),
      ...counts,
      notNow: counts.notNow + notNow,
      stoppedBecause,
    };
  });
}

const refuse = (message: string): ConfigError => usageError('invite', message);

async function listInviting({ database, settings }: AppContext, only: string | undefined): Promise<Scope['rosters']> {
  const found: Scope['rosters'][number][] = [];
  for (const { name, dossiers } of settings.rosters) {
    const rosterId = await findRoster(database, settings.organisation, name);
    if (dossiers?.invite !== undefined && rosterId !== null && (only === undefined || name === only))
      found.push({ name, rosterId, invite: dossiers.invite });
  }
  if (found.length > 0) return found;
  const whose = only === undefined ? 'no imported roster says' : `the roster ${only} is not imported, or does not say`;
  const message = `${whose} how its customers are invited; write \`invite: { workflow: wf_..., recipient: COLUMN, channel: { value: email } }\` below its \`dossiers\`, and list the column in columns.attributes`;
  throw new ConfigError([{ where: 'settings', path: 'rosters', message }]);
}

const toInvited = ({ roster, customer, channel }: Task, outcome: Invited['outcome']): Invited => ({
  roster,
  customer,
  discrepancy: 'customer_without_dossier',
  channel,
  outcome,
});

const priceOf = { email: 'pricePerEmail', sms: 'pricePerSms' } as const;

/** The cost of invitations; null if one of them has no price. */
function toCost({ settings }: AppContext, sent: readonly { channel: Channel }[]) {
  let amount = 0;
  for (const { channel } of sent) {
    const price = settings.budget[priceOf[channel]];
    if (price === undefined) return null;
    amount += price;
  }
  return { amount: Math.round(amount * 100) / 100, currency: settings.budget.currency };
}

function requirePrices({ settings }: AppContext, tasks: readonly Task[]): void {
  const missing = [...new Set(tasks.map(({ channel }) => priceOf[channel]))].filter(
    (name) => settings.budget[name] === undefined,
  );
  if (missing.length === 0) return;
  const message = 'is missing; a live key sends no invitation without its price';
  throw new ConfigError(missing.map((name) => ({ where: 'settings', path: `budget.${name}`, message })));
}

const toColumn = (setting: string | { value: string } | undefined): string | null =>
  typeof setting === 'string' ? setting : null;

/** The cell of a column, or the one value for all customers; undefined if empty. */
const pick = (setting: string | { value: string } | undefined, cell: string | null): string | undefined =>
  (typeof setting === 'object' ? setting.value : cell?.trim()) || undefined;

/** The address of a customer; null without a plausible one. */
function toAddress(
  { channel: channelSetting, locale }: NonNullable<DossierLink['invite']>,
  candidate: InvitationCandidate,
): { channel: Channel; recipient: string; locale: string | undefined } | null {
  const channel = pick(channelSetting, candidate.channel)?.toLowerCase();
  const recipient = candidate.recipient?.trim() ?? '';
  const looksRight = channel === 'email' ? /^[^\s@]+@[^\s@]+$/ : /^\+?[\d ().-]{6,}$/;
  if ((channel !== 'email' && channel !== 'sms') || recipient.length > 255 || !looksRight.test(recipient)) return null;
  return { channel, recipient, locale: pick(locale, candidate.locale) };
}

async function planInvitations({ app, organisation, accountId, rosters }: Scope, limit = Number.POSITIVE_INFINITY) {
  const counts = { alreadyInvited: 0, notInvitable: 0, notNow: 0 };
  const tasks: Task[] = [];
  let missing = 0;
  for (const { name, rosterId, invite } of rosters) {
    const columns = {
      recipient: invite.recipient,
      channel: toColumn(invite.channel),
      locale: toColumn(invite.locale),
    };
    const scope = { accountId, rosterId };
    for await (const page of readCandidates(app.database, scope, columns, app.clock.now())) {
      for (const candidate of page) {
        missing += 1;
        const address = toAddress(invite, candidate);
        if (candidate.isInvited) counts.alreadyInvited += 1;
        else if (address === null) counts.notInvitable += 1;
        else if (!candidate.isFree) counts.notNow += 1;
        else if (tasks.length < limit) {
          const reference = toReference(organisation, name, candidate);
          const { customer } = candidate;
          const { channel } = address;
          const perform: Task['perform'] = (inviting) =>
            inviteOne(inviting, accountId, candidate, { ...address, reference, workflowToken: invite.workflow });
          tasks.push({ roster: name, customer, channel, perform });
        }
      }
    }
  }
  if (missing > 0 && counts.notInvitable === missing) {
    const columns = [...new Set(rosters.map(({ invite }) => invite.recipient))].join(', ');
    throw refuse(
      `none of ${missing} customers without a dossier has a recipient in the column ${columns}. A column that is new in columns.attributes is read with the next import`,
    );
  }
  return { tasks, counts };
}

/** Reveals nothing about the customer without the key, and is the same after the restore of an older database. */
function toReference({ digestKey }: Organisation, roster: string, { customer, former }: InvitationCandidate): string {
  const facts = JSON.stringify(['customer_without_dossier', roster, customer, former]);
  return `ns-${createHmac('sha256', digestKey).update(facts).digest('hex').slice(0, 40)}`;
}

async function planReminders({ app, accountId, rosters }: Scope, limit = Number.POSITIVE_INFINITY) {
  const tasks: Task[] = [];
  const now = app.clock.now();
  const sentBefore = new Date(now.getTime() - remindAfterMs);
  for (const { name: roster, rosterId } of rosters) {
    const eligible = await listToRemind(app.database, { accountId, rosterId }, { sentBefore, now });
    for (const { invitationId, customer, channel, token } of eligible) {
      if (tasks.length >= limit || token === null) break;
      const perform: Task['perform'] = (inviting) => remind(inviting, invitationId, token);
      tasks.push({ roster, customer, channel, perform });
    }
  }
  return { tasks, counts: { alreadyInvited: 0, notInvitable: 0, notNow: 0 } };
}

/**
 * Ends invalid invitations and looks up those of unknown outcome. One that the service has is stored. One that it does not list within five
 * minutes never arrived, and its customer can be invited again. Gives those that are still unknown.
 */
async function resolveFormer(inviting: Inviting, accountId: number): Promise<readonly Invited[]> {
  const { app, client, signal, write } = inviting;
  const { clock } = app;
  const former = await write((transaction) => endFormerInvitations(transaction, accountId, clock.now()));
  const unknown: Invited[] = [];
  for (const { invitationId, reference, sendingAt, roster, customer, channel } of former) {
    const shown = await lookUpInvitation(client, reference, { signal });
    const now = clock.now();
    const isOld = sendingAt !== null && now.getTime() - sendingAt.getTime() > listedWithinMs;
    if (shown !== null)
      await write((transaction) => saveShown(transaction, invitationId, shown, { kind: 'found', now }));
    else if (isOld)
      await write((transaction) =>
        saveFailure(transaction, invitationId, { kind: 'withdrawn', detail: 'not_listed' }, now),
      );
    else unknown.push({ roster, customer, discrepancy: 'customer_without_dossier', channel, outcome: 'unknown' });
  }
  return unknown;
}

async function performAll(
  inviting: Inviting,
  tasks: readonly Task[],
): Promise<{ customers: readonly Invited[]; notNow: number; stoppedBecause: string | null }> {
  const customers: Invited[] = [];
  let notNow = 0;
  let inARow = 0;
  for (const task of tasks) {
    inviting.signal.throwIfAborted();
    try {
      const outcome = await task.perform(inviting);
      if (outcome === 'not_now') notNow += 1;
      else customers.push(toInvited(task, outcome));
      inARow = outcome === 'unknown' || outcome === 'refused' ? inARow + 1 : 0;
    } catch (error) {
      // A failed look-up stops as well; nothing was sent for this customer.
      const stoppedBecause = error instanceof Stopped ? error.message : describeStop(error);
      if (stoppedBecause === null || inviting.signal.aborted) throw error;
      return { customers, notNow, stoppedBecause };
    }
    if (inARow === mostFailuresInARow) {
      const stoppedBecause = `${inARow} in a row were refused, or their outcome is unknown`;
      return { customers, notNow, stoppedBecause };
    }
  }
  return { customers, notNow, stoppedBecause: null };
}

/** Stores the intention, looks the reference up, and sends if the service does not have it. */
async function inviteOne(
  inviting: Inviting,
  accountId: number,
  { discrepancyId, customerVersion }: InvitationCandidate,
  input: { workflowToken: string; channel: Channel; recipient: string; reference: string; locale: string | undefined },
): Promise<InvitingOutcome> {
  const { app, client, signal, write } = inviting;
  const { reference, channel, locale, ...rest } = input;
  const intended = { discrepancyId, customerVersion, reference, channel };
  const invitationId = await write((transaction) =>
    saveIntention(transaction, accountId, intended, app.clock.now()),
  ).catch(passIfForbidden);
  if (invitationId === null) return 'not_now';
  const shown = await lookUpInvitation(client, reference, { signal });
  if (shown !== null) {
    await write((transaction) => saveShown(transaction, invitationId, shown, { kind: 'found', now: app.clock.now() }));
    return 'found';
  }
  const body = { ...rest, reference, channel, ...(locale !== undefined && { locale }) };
  return dispatch(inviting, invitationId, 'sending', (options) => client.invitations.create(body, options));
}

/** The database checks the rule again a moment after the statement, and may find a new reason against it. */
function passIfForbidden(error: unknown): null {
  if (error instanceof DatabaseError && error.sqlState === '23000') return null;
  throw error;
}

/** Reads the status of the invitation, and sends it again if it is still `sent`. */
async function remind(inviting: Inviting, invitationId: number, token: string): Promise<InvitingOutcome> {
  const { app, client, signal, write } = inviting;
  const { data: shown } = await client.invitations.retrieve(token, { signal });
  await write((transaction) => saveShown(transaction, invitationId, shown, { kind: 'status', now: app.clock.now() }));
  if (shown.status !== 'sent') return 'not_now';
  return dispatch(inviting, invitationId, 'reminding', (options) => client.invitations.resend(token, options));
}

/** No other invitation can be sent now either; the message says what to do. */
class Stopped extends NightscreenError {}

/** The rule now forbids the invitation. */
class Withheld extends NightscreenError {}

/**
 * Makes a call that is repeated only if the service refused it for its pace. Right before it is sent, one transaction checks the rule again and
 * stores the attempt. Throws Stopped.
 */
async function dispatch(
  { app, signal, write }: Inviting,
  invitationId: number,
  kind: 'sending' | 'reminding',
  call: (options: CallOptions) => Promise<Answer<Invitation>>,
): Promise<InvitingOutcome> {
  const { clock } = app;
  const leaving = async (operation: string): Promise<void> => {
    if (operation !== 'invitations.create' && operation !== 'invitations.resend') return;
    const begunMs = clock.elapsedMs();
    const isMarked = await write((transaction) => markLeaving(transaction, invitationId, kind, clock.now())).catch(
      passIfForbidden,
    );
    if (!isMarked) throw new Withheld('withheld', 'is not sent now');
    if (clock.elapsedMs() - begunMs > freshMs)
      throw new Stopped('asleep', 'the database or this machine was suspended');
  };
  const fail = (failed: 'unknown' | 'refused' | 'withdrawn', detail: string | null): Promise<void> =>
    write((transaction) => saveFailure(transaction, invitationId, { kind: failed, detail }, clock.now()));
  for (let round = 1; ; round += 1) {
    try {
      const { data } = await call({ signal, maxRetries: 0, observer: { leaving } });
      const known = kind === 'sending' ? 'sent' : 'reminded';
      await write((transaction) => saveShown(transaction, invitationId, data, { kind: known, now: clock.now() }));
      return 'sent';
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof Withheld) {
        if (kind === 'sending') await fail('withdrawn', null);
        return 'not_now';
      }
      if (!(error instanceof ApiError || error instanceof ConnectionError || error instanceof ResponseError))
        throw error;
      const reason = toFailureReason(error);
      if (isOutcomeUnknown(error)) {
        await fail('unknown', reason);
        return 'unknown';
      }
      if (isThrottle(error) && round < mostRounds) {
        await clock.sleep(Math.min(60_000, error.retryAfterMs ?? 1_000 * 2 ** (round - 1)), signal);
        continue;
      }
      await fail('refused', reason);
      const stop = describeStop(error);
      if (stop === null) return 'refused';
      throw new Stopped('stopped', stop, { cause: error });
    }
  }
}

const isThrottle = (error: unknown): error is RateLimitError =>
  error instanceof RateLimitError && error.code !== 'cooldown_active';

const again = 'run the same command again; no customer is invited twice';

/** Why other calls cannot succeed either, and what to do; null for an error of this one customer, or one of another cause than the service. */
function describeStop(error: unknown): string | null {
  if (error instanceof PaymentRequiredError)
    return `the balance of the account does not cover it (402); top it up, then ${again}`;
  if (isHalting(error)) return `the service refused the account (${error.status}); check the key, then ${again}`;
  if (isThrottle(error)) return `the service refused the pace several times (429); later ${again}`;
  if (error instanceof NotFoundError && error.code === 'workflow_not_found')
    return 'the service does not know the workflow; correct rosters[].dossiers.invite.workflow';
  if (error instanceof NightscreenError && isTransient(error))
    return `the service is out of reach: ${error.message}; later ${again}`;
  return null;
}

/**
 * Finds the invitation that the service has under a reference; null when it lists none. Throws NightscreenError `reference_not_filtered` when
 * it lists only others, because then nothing proves that there is none.
 */
async function lookUpInvitation(
  { invitations }: Pick<Client, 'invitations'>,
  reference: string,
  options: CallOptions,
): Promise<Invitation | null> {
  const { data } = await invitations.page({ reference, per_page: 100 }, options);
  const found = data.invitations.find((listed) => listed.reference === reference);
  if (found === undefined && (data.invitations.length > 0 || data.pagination.total > 0)) {
    const message = 'GET /autodoc/invitations: does not filter by reference; it lists only invitations of others';
    throw new NightscreenError('reference_not_filtered', message);
  }
  return found ?? null;
}

const mostPerSweep = 500;

/**
 * Stage of a sweep: reads the status of at most 500 invitations that may still change, the one queried longest ago first, and stores changes.
 * A failure of the service does not end the sweep. Throws only errors of the database.
 */
export async function followInvitations(session: RunSession, client: Client, accountId: number): Promise<void> {
  const { app, run, runId, signal } = session;
  const { clock, database, emit } = app;
  for (const { invitationId, reference, token } of await listToFollow(database, accountId, mostPerSweep)) {
    const save = (shown: Invitation | null): Promise<void> =>
      session.write((transaction) =>
        saveShown(transaction, invitationId, shown, { kind: 'status', runId: run.runId, now: clock.now() }),
      );
    try {
      await save(
        token === null
          ? await lookUpInvitation(client, reference, { signal })
          : (await client.invitations.retrieve(token, { signal })).data,
      );
    } catch (error) {
      if (signal.aborted || error instanceof StoreError || !(error instanceof NightscreenError)) throw error;
      if (error instanceof NotFoundError) {
        await save(null);
        continue;
      }
      const message = `not all invitations were read (${toFailureReason(error)}); the next sweep continues`;
      emit({ kind: 'warning', runId, code: 'invitations_left', message });
      break;
    }
  }
  await session.write((transaction) => endInvitations(transaction, accountId, { runId: run.runId, now: clock.now() }));
}
