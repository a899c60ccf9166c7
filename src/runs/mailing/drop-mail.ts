import { ConfigError, flagError } from '../../errors.js';
import { dropOutbox, type OutboxRow, readOutbox } from '../../store/outbox.js';
import { noteReportSent } from '../../store/outbox-reports.js';
import { findReviewer } from '../reviewing/find-reviewer.js';
import type { Workplace } from '../workplace.js';
import { type Mail, toMails } from './list-mail.js';

/** What is put aside, why and by whom; on Postgres the login says who. */
export interface DropRequest {
  ids: readonly number[];
  reason: string | undefined;
  by: string | undefined;
  /** Also what is still being tried. */
  evenQueued: boolean;
}

/**
 * Puts mails and messages to webhooks aside for good, all of those that are named or none: they are never tried again, and who did it and why
 * is kept. Gives them as they stand then. Throws ConfigError for a number that there is not, for what was sent or put aside before, for what
 * is still being tried unless that is wanted, and where a reason or a name is missing.
 */
export async function dropMails(
  { database, clock }: Pick<Workplace, 'database' | 'clock'>,
  { ids, reason = '', by, evenQueued }: DropRequest,
): Promise<readonly Mail[]> {
  if (reason.trim() === '')
    throw flagError('--reason', 'is missing: what is put aside is kept with who did it and why');
  const { name } = await findReviewer(database, by, false, '--by');
  const at = clock.now();
  const wanted = [...new Set(ids)];
  const rows = await database.transaction(async (transaction) => {
    const known = await readOutbox(transaction, wanted);
    const problems = wanted.flatMap(
      (id) =>
        findObstacle(
          id,
          known.find(({ outboxId }) => outboxId === id),
          evenQueued,
        ) ?? [],
    );
    if (problems.length > 0) throw refuse(problems);
    const dropped = await dropOutbox(transaction, database, wanted, {
      by: name,
      reason: reason.trim(),
      at,
      evenQueued,
    });
    const held = wanted.filter((id) => !dropped.includes(id));
    if (held.length > 0) throw refuse(held.map((id) => `${id} is being sent at this moment: look again in a minute`));
    for (const { runId, revision } of known) {
      if (runId !== null && revision !== null) await noteReportSent(transaction, runId, revision, at);
    }
    return readOutbox(transaction, wanted);
  });
  return toMails(database, rows);
}

/** Why something of the outbox cannot be put aside, in words; null when it can. */
function findObstacle(id: number, row: OutboxRow | undefined, evenQueued: boolean): string | null {
  if (!row) return `there is no ${id}; nightscreen mail list shows what there is`;
  switch (row.state) {
    case 'sent':
      return `${id} was sent`;
    case 'dropped':
      return `${id} was put aside before, by ${row.droppedBy}: ${row.droppedBecause}`;
    case 'queued':
      return evenQueued
        ? null
        : `${id} is still being tried, next at ${row.nextAttemptAt.toISOString()}; to put it aside all the same, add --even-queued`;
    default:
      return null;
  }
}

const refuse = (messages: readonly string[]): ConfigError =>
  new ConfigError(messages.map((message) => ({ where: 'mail drop', path: '', message })));
