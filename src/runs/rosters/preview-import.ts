import { randomInt } from 'node:crypto';
import { toLocalTime } from '../../local-time/local-time.js';
import type { ColumnDoubts } from '../../roster/doubts.js';
import type { ChangeExample } from '../../roster/guards/judge-changes.js';
import type { GuardVerdict } from '../../roster/guards/judge-snapshot.js';
import type { RosterSettings } from '../../roster/settings.js';
import type { Transaction } from '../../store/database/database.js';
import { findRoster } from '../../store/organisations.js';
import type { SnapshotCounts } from '../../store/roster-figures.js';
import {
  countNewRequests,
  countRejectReasons,
  listStagedRejections,
  type StagedRejection,
} from '../../store/roster-staging.js';
import { toImportMode } from '../session/identify-account.js';
import type { Workplace } from '../workplace.js';
import { settleSnapshot } from './settle-snapshot.js';
import { stageRoster } from './stage-roster.js';

/** What an import would come to. */
export interface ImportPreview {
  roster: string;
  source: string;
  counts: SnapshotCounts;
  /** How many rows would be rejected, by the reason's code. */
  rejectedByReason: Readonly<Record<string, number>>;
  /** The first rows that would be rejected. */
  firstRejections: readonly StagedRejection[];
  /** The columns of which values count as unknown because they cannot be read for certain. */
  doubts: readonly ColumnDoubts[];
  /** How many different searches the new customers would need. */
  distinctSearches: number;
  /** The guards that would hold the roster; none where it would be taken. */
  heldBy: readonly GuardVerdict[];
  /** Columns that read like a fact which no column is mapped for, in words, where they do not hold it. */
  unmapped: readonly string[];
  /** Whether it is rejects of this roster that were fed back. */
  isFedBack: boolean;
  /** The first of the changes that guards found, before and after. */
  changes: readonly ChangeExample[];
}

class RollBack extends Error {}

/** One transaction does one thing after another. */
function inTurn(transaction: Transaction): <T>(work: (transaction: Transaction) => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(() => work(transaction));
    last = next.catch(() => undefined);
    return next;
  };
}

const largestNumber = 2 ** 40;
const noRoster = -1;
const mostRejections = 1_000;

/**
 * Reads, checks and judges a roster as an import does, in a transaction that is always rolled back. Throws RosterError when it cannot be
 * read.
 */
export async function previewImport(
  workplace: Workplace,
  roster: RosterSettings,
  signal: AbortSignal,
  options: { isDelta?: boolean | undefined } = {},
): Promise<ImportPreview> {
  const { database, clock, secret, settings } = workplace;
  const nothing = new RollBack('a preview changes nothing');
  let preview: ImportPreview | undefined;
  try {
    await database.transaction(
      async (transaction) => {
        // A source may keep it waiting for as long as it likes: nobody else waits for this.
        await transaction.execute("select set_config('idle_in_transaction_session_timeout', '0', true)");
        const now = clock.now();
        // A roster that nobody has imported yet is not begun here: whoever imports it meanwhile would have to wait.
        const rosterId = (await findRoster(transaction, settings.organisation, roster.name)) ?? noRoster;
        // No run has a number below zero, and no other preview this one.
        const staged = { runId: -randomInt(1, largestNumber), rosterId, isDelta: options.isDelta ?? false };
        const source = await stageRoster(roster, {
          runId: staged.runId,
          copies: database.dialect === 'postgres',
          clock,
          today: toLocalTime(now, settings.run.timezone).date,
          signal,
          secret,
          write: inTurn(transaction),
          tell: () => undefined,
        });
        const mode = toImportMode(workplace);
        const rule = { importedAt: now, leaveAfterDays: settings.screening.leaveAfterDays, mode };
        const { counts, isFirst, isFedBack, heldBy, changes } = await settleSnapshot(
          transaction,
          staged,
          roster,
          source,
          rule,
        );
        preview = {
          roster: roster.name,
          source: source.source,
          counts,
          rejectedByReason: await countRejectReasons(transaction, staged.runId),
          firstRejections: await listStagedRejections(transaction, staged.runId, mostRejections),
          doubts: source.doubts,
          distinctSearches: await countNewRequests(transaction, { ...staged, isFirst }),
          heldBy,
          unmapped: mode === 'test' ? source.unmapped : [],
          isFedBack,
          changes,
        };
        throw nothing;
        // A source may be readable once only.
      },
      { runsOnce: true },
    );
  } catch (error) {
    if (error !== nothing || preview === undefined) throw error;
  }
  if (preview === undefined) throw nothing;
  return preview;
}
