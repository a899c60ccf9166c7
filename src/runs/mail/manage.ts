import { ConfigError, flagError, usageError } from '../../errors.js';
import { formatTime } from '../../reports/text.js';
import type { Queryable } from '../../store/database/database.js';
import {
  dropOutbox,
  mailKinds,
  makeDue,
  noteReportSent,
  type OutboxRow,
  readOutbox,
} from '../../store/operations/outbox.js';
import type { AppContext, RunSettings } from '../app-context.js';
import { isGroupMailed, queueGroupReport, type reportGroup, type WrittenGroupReport } from '../group-report.js';
import { findReviewer } from '../review/people.js';
import { notifyStates, readWebhookKeys } from '../status.js';
import { type ReportChoice, type ReportResult, runReports } from '../write-reports.js';
import { deliverDue, findStoredMessage, queueWrittenReport, toGiveUpAt } from './deliver.js';

/** A mail, or a message to a webhook, with its state. */
export type Mail = ReturnType<typeof toMail>;

/** Mails and messages to webhooks of an organisation, oldest first: waiting, refused and given up ones, with `all` also sent and dropped ones. */
export async function listMails(
  database: Queryable,
  organisation: string,
  options: { all: boolean },
): Promise<readonly Mail[]> {
  return toMails(await readOutbox(database, organisation, { kinds: [...mailKinds, 'webhook'], ...options }));
}

const toMails = (rows: readonly OutboxRow[]): readonly Mail[] => rows.map(toMail);

/** A mail of a report has no revision, recipient, subject and Message-ID until the report is written. */
const toMail = (row: OutboxRow) => ({
  id: row.outboxId,
  kind: row.kind,
  /** Number of its run; null without one. */
  run: row.runId,
  revision: row.revision,
  /** An address, or the URL of a webhook. */
  recipient: row.destination,
  /** Null also for a webhook and for content that cannot be read. */
  subject: findStoredMessage(row.content)?.subject ?? null,
  messageId: row.messageId,
  state: row.state,
  queuedAt: row.queuedAt,
  sentAt: row.sentAt,
  /** Null when no further attempt follows. */
  nextAttemptAt: row.state === 'queued' ? row.nextAttemptAt : null,
  lastError: row.lastError,
  dropped: toDrop(row),
  attempts: row.attempts.map((one, index) => ({ attempt: index + 1, ...one })),
});

/** Who dropped it for good, and why; null when it was not dropped. */
const toDrop = ({ droppedAt: at, droppedBy: by, droppedBecause: reason }: OutboxRow) =>
  at === null || by === null || reason === null ? null : { by, reason, at };

/** A written report and its mails. */
export interface SentReport extends ReportResult {
  mails: readonly Mail[];
}

/**
 * Writes reports as `runReports` does, queues their mails for recipients without one, and sends all mail that is due. Throws ConfigError also
 * without configured mail.
 */
export async function sendReports(app: AppContext, choice: ReportChoice): Promise<readonly SentReport[]> {
  const { database, settings, clock } = app;
  if (!settings.mail) {
    throw usageError('mail', 'is not configured, so the report cannot be sent');
  }
  const reports = await runReports(app, choice, (report) => queueWrittenReport(app, report));
  const { organisation } = settings;
  const readMails = ({ runNumber: runId, revision }: ReportResult): Promise<readonly OutboxRow[]> =>
    readOutbox(database, organisation, { runId, revision });
  for (const report of reports) {
    const now = clock.now();
    const waiting = (await readMails(report)).filter(isQueued);
    await makeDue(database, organisation, toIds(waiting), { now, giveUpAt: toGiveUpAt(now) });
  }
  await deliverDue(app);
  const sent: SentReport[] = [];
  for (const report of reports) sent.push({ ...report, mails: toMails(await readMails(report)) });
  return sent;
}

/** Writes the report over all rosters, and mails it to those who chose it. Throws ConfigError without a recipient. */
export async function sendGroupReport(
  app: AppContext,
  request: Parameters<typeof reportGroup>[1],
  options: Pick<ReportChoice, 'directory' | 'chromium'>,
): Promise<WrittenGroupReport & Pick<SentReport, 'mails'>> {
  const { database, settings } = app;
  if (!isGroupMailed(settings))
    throw usageError(
      'mail.recipients',
      'has nobody for the report over all rosters: write `kinds: [group]` to one of them',
    );
  const { keyPrefix, ...written } = await queueGroupReport(app, request, options);
  await deliverDue(app);
  return { ...written, mails: toMails(await readOutbox(database, settings.organisation, { keyPrefix })) };
}

const isWebhook = ({ kind }: OutboxRow): boolean => kind === 'webhook';
const isQueued = ({ state }: OutboxRow): boolean => state === 'queued';
const toIds = (rows: readonly OutboxRow[]): readonly number[] => rows.map(({ outboxId }) => outboxId);
const refuse = (message: string): ConfigError => usageError('mail', message);

/**
 * Tries again now: the mails and messages to webhooks with these numbers, whatever their state, or all that wait, changes of state without a
 * message included. A message keeps its id and bytes, and follows older ones to the same webhook. Gives what was tried and all waiting rows of
 * its kind. Throws ConfigError, with nothing tried, for an unknown number, for a dropped row, without configured mail, and without the webhook
 * or its secret.
 */
export async function retryMails(
  app: AppContext,
  ids: readonly number[],
  signal?: AbortSignal,
): Promise<readonly Mail[]> {
  const { database, clock } = app;
  const { organisation } = app.settings;
  const rows = await chooseRows(app, ids);
  const [mails, webhooks] = [rows.filter((row) => !isWebhook(row)), rows.filter(isWebhook)];
  const isAll = ids.length === 0;
  const isMailMeant = isAll ? app.settings.mail !== undefined : mails.length > 0;
  const areWebhooksMeant = isAll ? readWebhookKeys(app).size > 0 : webhooks.length > 0;
  if (isAll && !isMailMeant && !areWebhooksMeant)
    throw refuse('is not configured, and neither is a webhook: there is nothing to send');
  if (isMailMeant && !app.settings.mail) throw refuse('is not configured, so no mail can be sent');
  if (!isAll && areWebhooksMeant) requireReachable(app, webhooks);
  const startedAt = clock.now();
  if (isMailMeant) {
    await makeDue(database, organisation, toIds(mails), { now: startedAt, giveUpAt: toGiveUpAt(startedAt) });
    await deliverDue(app);
  }
  if (areWebhooksMeant) await notifyStates(app, { again: toIds(webhooks), ...(signal && { signal }) });
  const kinds = [...(isMailMeant ? mailKinds : []), ...(areWebhooksMeant ? (['webhook'] as const) : [])];
  const wanted = new Set(toIds(rows));
  const after = await readOutbox(database, organisation, { kinds, all: true });
  const isNew = ({ sentAt }: OutboxRow): boolean => isAll && sentAt !== null && sentAt >= startedAt;
  return toMails(after.filter((row) => isQueued(row) || wanted.has(row.outboxId) || isNew(row)));
}

/** The rows with these numbers, or all that wait. */
async function chooseRows({ database, settings }: AppContext, ids: readonly number[]): Promise<readonly OutboxRow[]> {
  if (ids.length === 0) {
    const kinds = [...mailKinds, 'webhook'] as const;
    return (await readOutbox(database, settings.organisation, { kinds, all: false })).filter(isQueued);
  }
  const named = await readOutbox(database, settings.organisation, { outboxIds: ids });
  const missing = ids.filter((id) => !named.some(({ outboxId }) => outboxId === id));
  if (missing.length > 0) throw refuse(`there is no mail ${missing.join(', ')}; nightscreen outbox shows them`);
  const dropped = named.find(({ state }) => state === 'dropped');
  if (dropped)
    throw refuse(`${dropped.outboxId} was dropped for good by ${dropped.droppedBy}: ${dropped.droppedBecause}`);
  return named;
}

function requireReachable(app: AppContext, webhooks: readonly OutboxRow[]): void {
  const keysByUrl = readWebhookKeys(app);
  const unconfigured = webhooks.find(({ destination }) => !keysByUrl.has(destination ?? ''));
  if (unconfigured) {
    throw refuse(
      `${unconfigured.outboxId} is a message to ${unconfigured.destination}, which is no webhook in this configuration; nightscreen outbox drop ${unconfigured.outboxId} drops it`,
    );
  }
}

/**
 * Drops mails and messages to webhooks for good, all of the named ones or none: they are never tried again, and person and reason are stored; on
 * Postgres the login names the person. `evenQueued` includes those that are still tried. Gives the rows afterwards. Throws ConfigError for an
 * unknown number, for a sent or dropped one, for one that is still tried without `evenQueued`, and without a reason or a name.
 */
export async function dropMails(
  {
    database,
    clock,
    settings,
  }: Pick<AppContext, 'database' | 'clock'> & { settings: Pick<RunSettings, 'organisation'> },
  {
    ids,
    reason = '',
    by,
    evenQueued,
  }: { ids: readonly number[]; reason: string | undefined; by: string | undefined; evenQueued: boolean },
): Promise<readonly Mail[]> {
  if (reason.trim() === '') throw flagError('--reason', 'is missing: the reason is stored with the name');
  const { name } = await findReviewer(database, by);
  const at = clock.now();
  const { organisation } = settings;
  const { dialect } = database;
  const wanted = [...new Set(ids)];
  const rows = await database.transaction(async (transaction) => {
    const known = await readOutbox(transaction, organisation, { outboxIds: wanted });
    const byId = new Map(known.map((row) => [row.outboxId, row]));
    const problems = wanted.flatMap((id) => findBlocker(id, byId.get(id), evenQueued) ?? []);
    if (problems.length > 0) throw refuseToDrop(problems);
    const dropped = await dropOutbox(transaction, { dialect, organisation }, wanted, {
      by: name,
      reason: reason.trim(),
      at,
      evenQueued,
    });
    const claimed = wanted.filter((id) => !dropped.includes(id));
    if (claimed.length > 0)
      throw refuseToDrop(claimed.map((id) => `${id} is being sent at this moment: look again in a minute`));
    for (const { runId, revision } of known) {
      if (runId !== null && revision !== null) await noteReportSent(transaction, runId, revision, at);
    }
    return readOutbox(transaction, organisation, { outboxIds: wanted });
  });
  return toMails(rows);
}

function findBlocker(id: number, row: OutboxRow | undefined, evenQueued: boolean): string | null {
  if (!row) return `there is no ${id}; nightscreen outbox shows the numbers`;
  switch (row.state) {
    case 'sent':
      return `${id} was sent`;
    case 'dropped':
      return `${id} was dropped before, by ${row.droppedBy}: ${row.droppedBecause}`;
    case 'queued':
      return evenQueued
        ? null
        : `${id} is still tried, next at ${formatTime(row.nextAttemptAt)}; to drop it in any case, add --all`;
    default:
      return null;
  }
}

const refuseToDrop = (messages: readonly string[]): ConfigError =>
  new ConfigError(messages.map((message) => ({ where: 'outbox drop', path: '', message })));
