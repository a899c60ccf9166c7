/** Bounds of a batch: saved when it holds `maxItems`, or `maxDelayMs` after its first item. */
export interface GroupCommitLimits {
  maxItems: number;
  maxDelayMs: number;
}

/** Saves items together in batches, one batch at a time, in order of arrival. */
export interface GroupCommit<Item> {
  /** Takes an item; waits while saving lags behind. Rejects with what made saving fail. */
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
  let timer: NodeJS.Timeout | undefined;
  let saving: Promise<void> = Promise.resolve();
  let failure: { error: unknown } | undefined;

  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    saving = saving.then(async () => {
      const items = pending;
      pending = [];
      if (items.length === 0 || failure) return;
      await save(items).catch((error: unknown) => {
        failure = { error };
      });
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
      if (pending.length >= limits.maxItems) {
        const saved = flush();
        // Callers may run ahead by one batch, not further.
        if (pending.length >= 2 * limits.maxItems) await saved;
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
