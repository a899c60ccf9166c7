/** Bounds of what is not saved yet: at most `maxItems` items, none of them longer than about `maxDelayMs` before its saving begins. */
export interface GroupCommitLimits {
  maxItems: number;
  maxDelayMs: number;
}

/**
 * How much of what was answered may be unsaved. Answers not saved yet are asked for again after a crash, so they wait for a tenth of a
 * second at most before their saving begins; the count only bounds them where more than a thousand a second arrive or the database is slow.
 */
export const batchLimits: GroupCommitLimits = { maxItems: 512, maxDelayMs: 100 };

/** Saves items together in batches, one batch at a time, in order of arrival. */
export interface GroupCommit<Item> {
  /** Takes an item; waits while as many as allowed are unsaved. Rejects with what made saving fail. */
  add(item: Item): Promise<void>;
  /** Saves what is left and waits for it. */
  close(): Promise<void>;
}

/** Opens a group commit over `save`; after a failed save nothing more is saved. */
export function openGroupCommit<Item>(
  limits: GroupCommitLimits,
  save: (items: readonly Item[]) => Promise<void>,
): GroupCommit<Item> {
  let pending: Item[] = [];
  let unsaved = 0;
  let timer: NodeJS.Timeout | undefined;
  let saving: Promise<void> = Promise.resolve();
  let failure: { error: unknown } | undefined;

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    saving = saving.then(async () => {
      const items = pending;
      pending = [];
      if (items.length > 0 && !failure) {
        await save(items).catch((error: unknown) => {
          failure = { error };
        });
      }
      unsaved -= items.length;
    });
    return saving;
  };
  const throwFailure = (): void => {
    if (failure) throw failure.error;
  };

  return {
    add: async (item) => {
      throwFailure();
      pending.push(item);
      unsaved += 1;
      // Half a batch is saved while the other half is gathered.
      if (pending.length >= limits.maxItems / 2) {
        const saved = flush();
        if (unsaved >= limits.maxItems) await saved;
      } else {
        timer ??= setTimeout(flush, limits.maxDelayMs);
      }
      throwFailure();
    },
    close: async () => {
      await flush();
      throwFailure();
    },
  };
}
