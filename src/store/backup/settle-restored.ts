import { z } from 'zod';
import type { Transaction } from '../database.js';
import { restoredKey } from '../leases.js';
import { runIdSql } from '../run-id.js';
import { quoteName } from './describe-tables.js';

/** What is not as it was in the backup. */
export interface Settled {
  /** Mails that waited: they may have been sent since the backup. */
  heldMails: readonly number[];
  /** Messages to webhooks, and changes that are in none yet: they are sent, again where they were sent since. */
  waitingMessages: number;
  /** Runs that go on from here, by name: where they ended since the backup, their reports stand already. */
  openRuns: readonly string[];
}

const idRow = z.object({ id: z.number() });
const countRow = z.object({ count: z.number() });

/** How far a number jumps that may have been given to somebody since the backup. Of runs a person reads and types the number. */
const jump = 1_000_000;
const jumps: Readonly<Record<string, number>> = { run_run_id_seq: 1_000 };

/**
 * Sets the sequences beyond whatever was given since the backup: a run, a mail, an item or a change of state of that time has a number that
 * somebody outside knows, and must not be taken for another.
 */
export async function restoreSequences(
  transaction: Transaction,
  sequences: Readonly<Record<string, number | null>>,
): Promise<void> {
  for (const [name, last] of Object.entries(sequences)) {
    if (last === null) continue;
    await transaction.query(z.unknown(), 'select setval($1::text::regclass, $2::bigint)', [
      quoteName(name),
      last + (jumps[name] ?? jump),
    ]);
  }
}

/**
 * Sees that a restored database does nothing again on its own that was done since the backup: mails that waited are held until somebody
 * asks for them, and nobody of then holds a lease.
 */
export async function settleRestored(
  transaction: Transaction,
  tables: ReadonlySet<string>,
  createdAt: string,
): Promise<Settled> {
  // A process from before may have taken epochs that the backup does not know: all later ones are above any of those. Each taking raises an
  // epoch by one, so the milliseconds of the clock are far above.
  await transaction.execute(
    `update lease set expires_at = acquired_at,
       epoch = greatest(epoch, (extract(epoch from clock_timestamp()) * 1000)::bigint)`,
  );
  await transaction.execute(
    `insert into lease (lease_key, epoch, owner, acquired_at, heartbeat_at, expires_at)
     select $1, (extract(epoch from clock_timestamp()) * 1000)::bigint, 'restore', now(), now(), now()
     on conflict (lease_key) do nothing`,
    [restoredKey],
  );
  const openRuns = await listOpenRuns(transaction);
  if (!tables.has('outbox')) return { heldMails: [], waitingMessages: 0, openRuns };
  await transaction.execute('update outbox set claimed_by = null, claimed_until = null where claimed_by is not null');
  const held = await transaction.query(
    idRow,
    `update outbox set state = 'given_up', last_error = $1
     where state = 'queued' and kind <> 'webhook' returning outbox_id as id`,
    [`held by the restore of a backup of ${createdAt}: it may have been sent since`],
  );
  const [waiting] = await transaction.query(
    countRow,
    `select (select count(*) from outbox where state = 'queued')
       ${tables.has('webhook_event') ? '+ (select count(*) from webhook_event)' : ''} as count`,
  );
  return {
    heldMails: held.map(({ id }) => id).toSorted((one, other) => one - other),
    waitingMessages: waiting?.count ?? 0,
    openRuns,
  };
}

async function listOpenRuns(transaction: Transaction): Promise<string[]> {
  // Those that another of the kind has followed are not gone on with.
  const rows = await transaction.query(
    z.object({ name: z.string() }),
    `select ${runIdSql('run')} as name from run
     where state in ('running', 'stopped') and not exists (
       select from run as later
       where later.kind = run.kind and later.roster_id is not distinct from run.roster_id and later.run_id > run.run_id
     )
     order by run_id`,
  );
  return rows.map(({ name }) => name);
}
