import { expect, it } from 'vitest';
import { describeOnChosenDatabase } from '../helpers/databases.js';
import { isFullSize } from '../helpers/full-size.js';
import { playWorld } from '../helpers/play-world.js';
import { printFigure } from '../helpers/print-figure.js';
import { openSmallSites } from '../helpers/small-site.js';

const worlds = isFullSize ? 20 : 2;
const size = isFullSize ? { customers: 300, nights: 10 } : { customers: 60, nights: 6 };
const firstSeed = 1;

describeOnChosenDatabase('random worlds, as the product and as an independent model see them', (open) => {
  const openSite = openSmallSites(open);

  it('no state is wrong, no alert and no decision is lost', { timeout: 3_600_000 }, async () => {
    const found: Record<string, number> = {};
    for (let seed = firstSeed; seed < firstSeed + worlds; seed += 1) {
      const only = process.env['WORLD_ONLY']?.split(',').map(Number);
      const { mismatches, compared } = await playWorld(await openSite(), { seed, ...size, ...(only && { only }) });
      for (const mismatch of mismatches) found[mismatch.kind] = (found[mismatch.kind] ?? 0) + 1;
      printFigure(`world ${seed}: ${JSON.stringify(compared)} ${JSON.stringify(found)}`);
      for (const { kind, customer, moment, expected, found: seen } of mismatches.slice(0, 60)) {
        printFigure(`  ${kind} ${customer} after ${moment}: expected ${expected}, found ${seen}`);
      }
    }
    expect(found).toEqual({});
  });
});
