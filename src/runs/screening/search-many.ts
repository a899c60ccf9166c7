import type { SearchTask } from '../../store/night/screenings.js';
import { toAccountHalt } from '../halt.js';
import { commitScreenings, type FinishedSearch } from './commit.js';
import type { WatchedAccount } from './monitoring.js';
import { searchTask, type TaskContext } from './search-task.js';

/**
 * Makes the searches that `toTasks` hands out, as many at once as the settings allow, and saves their outcomes in groups. Returns how many found
 * the service out of reach; after a stop of the context's signals only what was begun is ended and saved.
 */
export async function searchMany(
  context: TaskContext,
  account: WatchedAccount,
  toTasks: (parts: { underWay: UnderWay; saveAll: () => Promise<void> }) => AsyncGenerator<SearchTask, void>,
): Promise<{ unanswered: number }> {
  const { session, signals } = context;
  const commit = openGroupCommit<FinishedSearch>(batchLimits, (finished) =>
    commitScreenings(session, account, finished),
  );
  const underWay = new UnderWay();
  const tasks = toTasks({ underWay, saveAll: commit.close });
  let unanswered = 0;
  const work = async (): Promise<void> => {
    for await (const task of tasks) {
      try {
        const finished = await searchTask(context, task);
        const { outcome } = finished;
        // Before the save, so that no further search is paid for.
        if (outcome.kind === 'halted') signals.stop(toAccountHalt(outcome.error));
        if (outcome.kind === 'failed' && outcome.isTransient) unanswered += 1;
        // After a stop hundreds of searches that were handed out have left nothing to save.
        if (hasLeftTraces(finished)) await commit.add(finished);
      } catch (error) {
        signals.stop(error);
      }
      underWay.end();
    }
  };
  const { concurrency } = session.app.settings.service.rate;
  await Promise.all(Array.from({ length: concurrency }, () => work().catch(signals.stop)));
  await commit.close();
  return { unanswered };
}

const hasLeftTraces = ({ outcome, attempts }: FinishedSearch): boolean =>
  outcome.kind !== 'aborted' || attempts.attempts.length + attempts.unsent.length > 0;

/** Counts running searches; `ended` resolves when none runs. */
class UnderWay {
  #count = 0;
  #waiting: (() => void)[] = [];

  begin(): void {
    this.#count += 1;
  }

  end(): void {
    this.#count -= 1;
    if (this.#count > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async ended(): Promise<void> {
    if (this.#count > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/**
 * Unsaved answers are searched again after a crash, so they wait at most 100 ms. The item limit, which is promised, applies
 * only above a thousand answers a second, or with a slow database.
 */
export const batchLimits = { maxItems: 512, maxDelayMs: 100 };

/**
 * Saves items by `save` in batches, one batch at a time, in order of arrival. At most `maxItems` are unsaved, each for about `maxDelayMs`. A
 * failed save ends all saving.
 */
export function openGroupCommit<Item>(limits: typeof batchLimits, save: (items: readonly Item[]) => Promise<void>) {
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
    /** Takes an item; waits while the maximum is unsaved. Rejects with the error of a failed save. */
    add: async (item: Item): Promise<void> => {
      throwFailure();
      pending.push(item);
      unsaved += 1;
      // One half of a batch is saved while the other half fills.
      if (pending.length >= limits.maxItems / 2) {
        const saved = flush();
        if (unsaved >= limits.maxItems) await saved;
      } else {
        timer ??= setTimeout(flush, limits.maxDelayMs);
      }
      throwFailure();
    },
    /** Saves the rest and waits for it. */
    close: async (): Promise<void> => {
      await flush();
      throwFailure();
    },
  };
}
