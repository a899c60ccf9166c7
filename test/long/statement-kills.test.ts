import { afterAll, expect, it } from 'vitest';
import { Nursery } from '../campaign/site.js';
import { runStatementTrials } from '../campaign/statement-trials.js';
import { describeOnPostgres } from '../helpers/databases.js';
import { isFullSize, printFigure } from '../helpers/figures.js';

describeOnPostgres('kill -9 before a statement of the transaction that applies a night', (_open, databases) => {
  const nursery = new Nursery();
  afterAll(() => nursery.close());
  const { dialect, locate, locateCopy } = databases;
  // The embedded database takes several times as long to open.
  const fullStep = dialect === 'postgres' ? 1 : 3;

  it('leaves a night that the next command finishes as if nothing had happened', { timeout: 1_800_000 }, async () => {
    const { closing, takeover } = await runStatementTrials(nursery, {
      locate,
      copy: locateCopy,
      customers: 120,
      step: isFullSize ? fullStep : 30,
      emit: () => undefined,
    });
    printFigure(
      `${dialect}: ${closing.kills} kills at ${closing.statements} statements of closing, ${takeover.kills} at ${takeover.statements} of taking over`,
    );
    for (const line of [...closing.differences, ...takeover.differences]) printFigure(line);
    expect([...closing.differences, ...takeover.differences]).toEqual([]);
    expect(Math.min(closing.kills, takeover.kills)).toBeGreaterThan(0);
  });
});
