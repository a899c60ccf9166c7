import { expect, it } from 'vitest';
import { describeOnEachDatabase } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';
import { playWorld } from '../helpers/play-world.js';
import { openSmallSites } from '../helpers/small-site.js';

const size = isFullSize ? { customers: 300, nights: 10 } : { customers: 40, nights: 7 };
// The few worlds have stopped, killed, abandoned, held, accepted and resumed nights among them.
const fewSeeds = { postgres: [13, 14, 3], embedded: [21] };

describeOnEachDatabase(
  'random worlds, to the product and to an independent model of states and alerts',
  (open, { dialect }) => {
    const openSite = openSmallSites(open);
    const count = dialect === 'postgres' ? 20 : 4;
    const seeds = isFullSize ? Array.from({ length: count }, (_, index) => index + 1) : fewSeeds[dialect];

    it('no state is wrong, no alert and no decision is lost', { timeout: 4 * 3_600_000 }, async () => {
      const found: Record<string, number> = { state: 0, alert: 0, decision: 0 };
      const total: Record<string, number> = {};
      for (const seed of seeds) {
        const { mismatches, compared } = await playWorld(await openSite(), { seed, losesLists: true, ...size });
        for (const [name, count] of Object.entries(compared)) total[name] = (total[name] ?? 0) + count;
        for (const { kind } of mismatches) found[kind] = (found[kind] ?? 0) + 1;
        // What is wrong once is wrong on all later nights: the first of each customer is enough, and `only` plays it alone.
        const first = new Map(mismatches.toReversed().map((mismatch) => [mismatch.customer, mismatch]));
        for (const { kind, customer, moment, expected, found: seen } of first.values()) {
          printFigure(`world ${seed}, ${customer} after ${moment}, ${kind}: expected ${expected}, found ${seen}`);
        }
      }
      const shown = Object.entries(found).map(([kind, count]) => `${kind} ${count}`);
      printFigure(`${seeds.length} random worlds (${dialect}), ${JSON.stringify(total)}: wrong ${shown.join(', ')}`);
      expect(found).toEqual({ state: 0, alert: 0, decision: 0 });
    });
  },
);
