import { afterAll, describe, expect, it } from 'vitest';
import { batchLimits } from '../../src/runs/screening/search-many.js';
import { runCrashTrial } from '../campaign/crash-trials.js';
import { Nursery } from '../campaign/site.js';
import { testDatabases } from '../helpers/databases.js';
import { makeSeededRandom, printFigure } from '../helpers/figures.js';

const concurrency = 8;

describe('kill -9 at the named points of a night', () => {
  // The embedded database's turn is in the campaign.
  const databases = testDatabases('postgres');
  const nursery = new Nursery();
  afterAll(() => nursery.close());

  it('ends in the state of an undisturbed run, with a true ledger, and repeats no more than was in flight', {
    timeout: 240_000,
  }, async () => {
    const figures = await runCrashTrial(nursery, {
      locate: databases.locate,
      customers: 250,
      rate: { perSecond: 400, concurrency },
      points: 'all',
      // At two hundred random times the campaign kills.
      randomKills: 2,
      random: makeSeededRandom(4),
      emit: () => undefined,
    });
    const { kills, repeated, mostRepeated, billedTwice, ledger } = figures;
    printFigure(
      `kill -9 ${kills} times: ${repeated} searches repeated (${billedTwice} by the run's own count), at most ${mostRepeated} a crash, ledger ${ledger.noted} for ${ledger.calls} calls`,
    );
    expect(figures).toMatchObject({ lost: 0, twice: 0, differences: [], ledger: { wrong: [] } });
    // Its count is never short of the service's. Beyond it are those that were noted and did not leave: on average fewer than a socket each.
    expect(billedTwice).toBeGreaterThanOrEqual(repeated);
    expect(billedTwice).toBeLessThanOrEqual(repeated + kills * concurrency);
    expect(mostRepeated).toBeLessThanOrEqual(concurrency + batchLimits.maxItems);
  });
});
