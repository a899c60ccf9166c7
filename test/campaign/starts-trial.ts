import { countCustomerCalls, type Locate, makeSite } from './site.js';
import type { Nursery } from './start-life.js';

/** What came of many starts of the same job at once. */
export interface StartsFigures {
  starts: number;
  /** How many ran to the end. */
  ran: number;
  /** How many said that another holds the job, and named the one that ran. */
  refused: number;
  /** How long the slowest of them took to say so, from its being told to start. */
  slowestMs: number;
  /** What any other said. */
  others: readonly string[];
  /** Searches beyond one for each customer. */
  surplus: number;
}

/** Starts so many processes of one job at the same moment. */
export async function runStartsTrial(nursery: Nursery, locate: Locate, starts: number): Promise<StartsFigures> {
  // So slow that the one is still running when the last of the others asks.
  const site = await makeSite(nursery, locate, { customers: 120, rate: { perSecond: 12, concurrency: 4 } });
  try {
    const lives = await nursery.beginAll(Array.from({ length: starts }, () => site.toOrder()));
    const ends = await Promise.all(
      lives.map(async ({ process: { pid }, death }) => ({ pid, told: (await death).told })),
    );
    const winner = ends.find(({ told }) => told?.kind === 'ended');
    const isRefusal = (message: string): boolean => new RegExp(`\\b${winner?.pid}\\b`).test(message);
    let refused = 0;
    let slowestMs = 0;
    const others: string[] = [];
    for (const { told } of ends) {
      if (told?.kind === 'ended') continue;
      if (told?.error === 'RunLockedError' && isRefusal(told.message)) {
        refused += 1;
        slowestMs = Math.max(slowestMs, told.afterMs);
      } else others.push(told === null ? 'died' : `${told.error}: ${told.message}`);
    }
    const ran = ends.filter(({ told }) => told?.kind === 'ended' && told.summary?.state === 'complete').length;
    return { starts, ran, refused, slowestMs, others, surplus: countCustomerCalls(site) - site.customers };
  } finally {
    await site.close();
  }
}
