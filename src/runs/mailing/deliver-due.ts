import { attemptDelivery, type DeliveryResult, openMailer } from '../../mail/deliver.js';
import type { Mailer } from '../../mail/open-smtp.js';
import { leaveAttachments } from '../../mail/reduce-message.js';
import {
  claimNext,
  noteAttempt,
  noteUnprepared,
  type OutboxKind,
  type OutboxOutcome,
  type OutboxRow,
} from '../../store/outbox.js';
import { dropUnwritten, noteReportSent } from '../../store/outbox-reports.js';
import { readRun } from '../../store/runs.js';
import { writeReportFor } from '../reports/report-run.js';
import type { Workplace } from '../workplace.js';
import { limitSending } from './last-words.js';
import { toNextAttempt } from './mail-times.js';
import { queueWrittenReport } from './queue-report.js';
import { findStoredMessage } from './stored-message.js';

/** What in the outbox is mail. */
export const mailKinds: readonly OutboxKind[] = ['mail_report', 'mail_warning', 'mail_failure'];

/** No attempt takes longer than this; another process may take it up after twice that. */
const attemptLimitMs = 5 * 60_000;
/** A folder that is not mounted may come back; after so many attempts a mail goes without what it cannot find. */
const mostWithoutAttachment = 4;
/** A server that was out of reach so often in a row is not asked for the others. */
const mostUnreached = 2;

/** How many mails a pass got off, and how many it did not. */
export interface MailPass {
  sent: number;
  failed: number;
}

/**
 * Tries to send every mail that is due, each once; reports that are not written yet are written first. A mail that is not accepted is told
 * as a warning and keeps its reason. Once `signal` is aborted none is begun, and the one being sent has a moment left. `keyPrefix` leaves
 * out all whose keys begin otherwise. Throws MailError when the settings are at fault.
 */
export async function deliverDue(workplace: Workplace, signal?: AbortSignal, keyPrefix = ''): Promise<MailPass> {
  const { database, settings, clock, owner, secret } = workplace;
  const pass = { sent: 0, failed: 0 };
  if (!settings.mail) return pass;
  const mailer = openMailer(settings.mail, secret('SMTP_URL'));
  const except: number[] = [];
  let unreached = 0;
  try {
    while (unreached < mostUnreached && !signal?.aborted) {
      const claim = { kinds: mailKinds, owner, now: clock.now(), leaseMs: 2 * attemptLimitMs, except, keyPrefix };
      const row = await claimNext(database, claim);
      if (!row) break;
      except.push(row.outboxId);
      if (row.destination === null) {
        if (!(await makeReport(workplace, row))) pass.failed += 1;
        continue;
      }
      const result = await attempt(mailer, row, signal);
      await note(workplace, row, result);
      pass[result.kind === 'accepted' ? 'sent' : 'failed'] += 1;
      unreached = result.kind === 'failed' && result.isUnreachable ? unreached + 1 : 0;
    }
  } finally {
    mailer.close();
  }
  return pass;
}

/** One that cannot be read must not keep the others from being sent. */
async function attempt(
  mailer: Mailer,
  { content, attempts }: OutboxRow,
  stop: AbortSignal | undefined,
): Promise<DeliveryResult> {
  const message = findStoredMessage(content);
  if (message === null) return { kind: 'failed', said: 'what is stored of it cannot be read', isUnreachable: false };
  const { signal, clear } = limitSending(attemptLimitMs, stop);
  try {
    const result = await attemptDelivery(mailer, message, signal);
    if (result.kind !== 'failed' || !result.isAttachmentGone || attempts < mostWithoutAttachment) return result;
    return await attemptDelivery(mailer, leaveAttachments(message), signal);
  } finally {
    clear();
  }
}

async function note(
  { database, clock, owner, tell }: Workplace,
  row: OutboxRow,
  result: DeliveryResult,
): Promise<void> {
  const now = clock.now();
  const { outboxId, runId, revision, destination } = row;
  const { said } = result;
  const outcome: OutboxOutcome =
    result.kind === 'failed'
      ? { kind: 'failed', said, nextAttemptAt: toNextAttempt(row.attempts + 1, now) }
      : { kind: result.kind === 'accepted' ? 'sent' : 'refused', said };
  const state = await database.transaction(async (transaction) => {
    const noted = await noteAttempt(transaction, row, { owner, now }, outcome);
    if (noted !== null && runId !== null && revision !== null) await noteReportSent(transaction, runId, revision, now);
    return noted;
  });
  if (state === 'sent' || state === null) return;
  const next =
    state === 'queued' ? 'it is tried again' : `it is not tried again unless by nightscreen mail retry ${outboxId}`;
  const message = `mail ${outboxId} to ${destination} was not accepted (${said}); ${next}`;
  tell({ kind: 'warning', runId: null, code: state === 'queued' ? 'mail_waits' : 'mail_not_sent', message });
}

/** Writes the report that a mail waits for and queues the mails of it; false, with the reason noted, when that cannot be done. */
async function makeReport(workplace: Workplace, row: OutboxRow): Promise<boolean> {
  const { database, clock, owner, tell } = workplace;
  const run = row.runId === null ? null : await readRun(database, row.runId);
  // What an abandoned run found is in the next report of its roster.
  if (run === null || run.state === 'abandoned') {
    if (run) await dropUnwritten(database, run, row.queuedAt);
    return true;
  }
  try {
    if (run.state === 'running') throw new Error('the run goes on');
    await queueWrittenReport(workplace, await writeReportFor(workplace, run));
    return true;
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    const now = clock.now();
    await noteUnprepared(database, row, owner, { said, now, nextAttemptAt: toNextAttempt(3, now) });
    tell({ kind: 'warning', runId: null, code: 'mail_waits', message: `a report cannot be mailed yet: ${said}` });
    return false;
  }
}
