import { it } from 'vitest';
import { describeOnPostgres } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';
import { playEvents } from '../helpers/play-events.js';

const events = isFullSize ? 10_000 : 1_500;

describeOnPostgres(`${events} random events`, (open, { dialect }) => {
  it('lost, forged, repeated and disordered, change nothing but when it is known', { timeout: 600_000 }, async () => {
    const begun = performance.now();
    const { taken, repeated, forged, lookUps } = await playEvents({ open, events, seed: 7 });
    const seconds = ((performance.now() - begun) / 1_000).toFixed(0);
    printFigure(
      `${dialect}: ${taken} taken, ${repeated} repeated, ${forged} forged, ${lookUps} look-ups, ${seconds} s`,
    );
  });
});
