import { z } from 'zod';
import { readMessage } from '../errors.js';
import { openDispatcher } from '../outgoing.js';
import { type CoverageGap, countAccepted, readCoverageGaps } from '../store/customers/coverage.js';
import { type CustomerStatus, readCustomerStatuses } from '../store/customers/states.js';
import {
  countWaiting,
  makeWebhooksDue,
  postponeWebhook,
  saveWebhooks,
  takeWebhookEvents,
} from '../store/customers/webhooks.js';
import {
  claimNext,
  noteAttempt,
  noteUnprepared,
  type OutboxOutcome,
  type OutboxRow,
  queueOutbox,
  toWaitMs,
} from '../store/operations/outbox.js';
import { readUnmappedNames } from '../store/roster/imports.js';
import type { CustomerState } from '../vocabulary.js';
import { buildMessage, parseWebhookSecrets, postMessage, webhookWaitMs } from '../webhooks/messages.js';
import type { AppContext } from './app-context.js';
import { chooseImportedRosters } from './coverage.js';
import { openOrganisation, type RunSession } from './session.js';

/** The statuses of customers at one moment. */
export interface StatusExport {
  rosters: readonly string[];
  /** Configured rosters without any import: the status of their customers is unknown. */
  neverImported: readonly string[];
  /** The selected customers, to be read once. */
  batches: AsyncIterable<readonly CustomerStatus[]>;
  /** The result, to be asked for after all batches are read. */
  finish(): {
    /** How many were exported, and the states of all customers in scope; `notValid` counts those without a valid screening and those whose newer record is held. */
    sums: { exported: number; inScope: number; notValid: number; states: Record<string, number> };
    /** Whether every customer in scope has a valid screening or an accepted exception. */
    isCovered: boolean;
    /** The chosen customers that no roster has in scope. */
    unknown: readonly string[];
  };
  /** Messages about columns of names that nobody searches for. */
  unmappedNames: readonly string[];
}

/** Opens an export of customer statuses; throws ConfigError for an unknown roster. */
export async function exportStatus(
  app: AppContext,
  choice: {
    /** Of this roster; by default of all that were imported or are configured. */
    roster?: string | undefined;
    /** Only these customer ids; by default all. */
    customers?: readonly string[] | undefined;
    /** In one of these states; by default in all. */
    states?: readonly CustomerState[] | undefined;
    /** With another state since this moment, or too new to be recorded. */
    changedSince?: Date | undefined;
  },
  signal: AbortSignal,
): Promise<StatusExport> {
  const { database, clock, settings } = app;
  const { imported, neverImported } = await chooseImportedRosters(app, choice.roster);
  const rosters = imported.map(({ roster }) => roster);
  const sums: ReturnType<StatusExport['finish']>['sums'] = { exported: 0, inScope: 0, notValid: 0, states: {} };
  const { states, changedSince, customers = null } = choice;
  const unknown = new Set(customers);
  const wanted: ReadonlySet<string> | null = states === undefined ? null : new Set(states);
  const isMeant = ({ state, changedAt }: CustomerStatus): boolean =>
    (wanted === null || wanted.has(state)) &&
    (changedSince === undefined || changedAt === null || changedAt >= changedSince);
  const read = async function* () {
    for await (const batch of readCustomerStatuses(database, settings.organisation, rosters, customers)) {
      signal.throwIfAborted();
      for (const { reference, state, reason, inScope, held } of batch) {
        unknown.delete(reference);
        if (!inScope) continue;
        sums.states[state] = (sums.states[state] ?? 0) + 1;
        sums.inScope += 1;
        if (reason !== null || held) sums.notValid += 1;
      }
      const meant = batch.filter(isMeant);
      sums.exported += meant.length;
      yield meant;
    }
  };
  const gaps: CoverageGap[] = [];
  const unmappedNames: string[] = [];
  for (const { rosterId } of imported) {
    gaps.push(...(await readCoverageGaps(database, rosterId, clock.now())));
    unmappedNames.push(...(await readUnmappedNames(database, rosterId)));
  }
  const finish = () => {
    const areGapsAccepted = gaps.every((gap) => gap.accepted === gap.count);
    const areScreened =
      customers === null
        ? areGapsAccepted && sums.notValid <= countAccepted(gaps)
        : sums.notValid === 0 && unknown.size === 0;
    return { sums, isCovered: areScreened && unmappedNames.length === 0, unknown: [...unknown] };
  };
  return { rosters, neverImported, unmappedNames, batches: read(), finish };
}

/** Stores the webhooks of the settings, before states are judged and in a transaction of its own. */
export const noteWebhooks = ({ run, app, write }: Pick<RunSession, 'run' | 'app' | 'write'>): Promise<void> =>
  write((transaction) => saveWebhooks(transaction, run.organisationId, app.settings.webhooks ?? []));

const minuteMs = 60_000;
const keptForMs = 7 * 24 * 60 * minuteMs;
/** Another process may repeat a message after twice the longest attempt. */
const deadlineMs = webhookWaitMs;

/** A message of this moment is given up when it fails after this. */
const toRetryEnd = (now: Date): Date => new Date(now.getTime() + keptForMs);

const messageSchema = z.object({ id: z.string(), body: z.string() });

/**
 * Sends webhooks the changes of state that they have not received, each message once in a pass; a receiver that does not accept one is left alone
 * for a growing time. The messages `again` are tried in any case, whatever their state. Gives how many messages were sent, failed and refused, and how many wait. Throws ConfigError when a secret is missing.
 */
export async function notifyStates(
  app: AppContext,
  { signal, again = [] }: { signal?: AbortSignal; again?: readonly number[] } = {},
) {
  const { database, clock, owner, settings } = app;
  const { organisation } = settings;
  const pass = { sent: 0, failed: 0, refused: 0 };
  const keysByUrl = readWebhookKeys(app);
  if (keysByUrl.size === 0) return { ...pass, waiting: 0 };
  const { organisationId } = await openOrganisation(app);
  if (again.length > 0) {
    const now = clock.now();
    await makeWebhooksDue(database, organisationId, again, { now, giveUpAt: toRetryEnd(now) });
  }
  await packEvents(app, organisationId);
  const dispatcher = openDispatcher({ connectTimeoutMs: deadlineMs });
  try {
    while (!signal?.aborted) {
      const limits = { now: clock.now(), leaseMs: 2 * deadlineMs, except: [] };
      const claim = { organisation, kinds: ['webhook'] as const, owner, ...limits };
      const row = await claimNext(database, claim);
      if (!row) break;
      const url = row.destination ?? '';
      const keys = keysByUrl.get(url);
      if (keys === undefined) {
        // A process with other settings may know the receiver's secret.
        await postpone(app, row, 'no webhook of this address is configured here');
        continue;
      }
      const { data: message } = messageSchema.safeParse(row.content);
      if (message === undefined) {
        await postpone(app, row, 'its stored content cannot be read');
        pass.failed += 1;
        continue;
      }
      const result = await postMessage({ url, keys, dispatcher, deadlineMs }, message, clock.now(), signal);
      await note(app, row, result);
      pass[result.kind] += 1;
    }
  } finally {
    await dispatcher.close();
  }
  return { ...pass, waiting: await countWaiting(database, organisationId) };
}

const mostChanges = 100;

/** Packs changes into messages; each message is stored in the transaction that takes its changes. */
async function packEvents({ database, clock }: AppContext, organisationId: number): Promise<void> {
  let isMore = true;
  while (isMore) {
    isMore = await database.transaction(async (transaction) => {
      const events = await takeWebhookEvents(transaction, organisationId, mostChanges);
      const [first] = events;
      if (first === undefined) return false;
      const { url } = first;
      const message = buildMessage(
        url,
        events.map(({ change }) => change),
      );
      const now = clock.now();
      await queueOutbox(transaction, [
        {
          organisationId,
          kind: 'webhook',
          destination: url,
          runId: null,
          dedupKey: message.id,
          content: message,
          queuedAt: now,
          giveUpAt: toRetryEnd(now),
        },
      ]);
      return true;
    });
  }
}

async function note(
  { database, clock, owner, emit, settings }: AppContext,
  row: OutboxRow,
  result: Awaited<ReturnType<typeof postMessage>>,
): Promise<void> {
  const now = clock.now();
  const { url, said } = { url: row.destination ?? '', ...result };
  const waitMs = result.kind === 'failed' ? Math.max(toWaitMs(row.attempts.length), result.retryAfterMs) : 0;
  const nextAttemptAt = new Date(now.getTime() + waitMs);
  const outcome: OutboxOutcome =
    result.kind === 'failed' ? { kind: 'failed', said, nextAttemptAt } : { kind: result.kind, said };
  const state = await database.transaction(async (transaction) => {
    const noted = await noteAttempt(transaction, row, { owner, now }, outcome);
    if (result.kind === 'failed') await postponeWebhook(transaction, settings.organisation, url, nextAttemptAt);
    return noted;
  });
  if (state === 'sent' || state === null) return;
  const { outboxId } = row;
  const next =
    state === 'queued'
      ? `it is tried again from ${nextAttemptAt.toISOString()}`
      : `it is not tried again unless by nightscreen outbox retry ${outboxId}`;
  const message = `message ${outboxId} with changes of state was not accepted by ${new URL(url).host} (${said}); ${next}`;
  emit({ kind: 'warning', runId: null, code: state === 'queued' ? 'webhook_waits' : 'webhook_not_sent', message });
}

/** Postpones a message that cannot be sent from here by an hour; other messages to its address stay due. */
async function postpone({ database, clock, owner }: AppContext, row: OutboxRow, said: string): Promise<void> {
  const now = clock.now();
  const nextAttemptAt = new Date(now.getTime() + 60 * minuteMs);
  await noteUnprepared(database, row, owner, { said, now, nextAttemptAt });
}

/** The signing keys of each address; throws ConfigError when a secret is missing or invalid. */
export const readWebhookKeys = ({
  settings,
  secret,
}: Pick<AppContext, 'settings' | 'secret'>): ReadonlyMap<string, readonly Buffer[]> =>
  new Map(
    (settings.webhooks ?? []).map(({ url, secretEnv }) => [url, parseWebhookSecrets(secretEnv, secret(secretEnv))]),
  );

/** Sends changes of state to webhooks after a run has ended; a failure is a warning. */
export async function sendStatesAfterRun(app: AppContext, runId: string, signal: AbortSignal): Promise<void> {
  try {
    await notifyStates(app, { signal });
  } catch (error) {
    const message = `changes of state are not sent yet (${readMessage(error)}); nightscreen outbox retry tries again`;
    app.emit({ kind: 'warning', runId, code: 'webhook_waits', message });
  }
}
