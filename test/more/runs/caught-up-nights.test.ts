import { expect, it } from 'vitest';
import { z } from 'zod';
import { presentPreview } from '../../../src/cli/commands/screen.js';
import { shiftedClock } from '../../../src/clock.js';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { previewScreening } from '../../../src/runs/preview.js';
import { listTierDueTimes, toCadence } from '../../../src/screening/cadence.js';
import { findValue } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { openSmallSites } from '../../helpers/small-site.js';
import { expectAgreement } from '../../helpers/status-agreement.js';

const hourMs = 60 * 60 * 1_000;

describeOnPostgres('a night after a catch-up', (open) => {
  const openSite = openSmallSites(open);

  it('skips whom the catch-up has screened, who are valid until the night after, which searches for all', async () => {
    const { sandbox, run, work, roster } = await openSite();
    // Nights are planned at 72, 48, 24 and 0 hours ago; that of 48 hours ago was missed.
    const startedAgo = async (hours: number) => {
      return {
        ...(await work({ offsetMs: -hours * hourMs })),
        nextRescreening: () => new Date(Date.now() - (Math.ceil(hours / 24) - 1) * 24 * hourMs),
      };
    };
    await run(await startedAgo(72));
    const caughtUp = await startedAgo(25.7);
    expect(await run(caughtUp)).toMatchObject({ state: 'complete', counts: { planned: 6 } });

    const regular = await startedAgo(24);
    const preview = await previewScreening(regular, roster, 'due');
    expect(preview).toMatchObject({ planned: 0, searches: 0, reasons: { not_due: 6 } });
    expect(presentPreview(preview).text).toContain('not_due   6  screened recently, not due yet');
    expect(await run(regular)).toMatchObject({ state: 'complete', counts: { planned: 0, skipped: 6 } });
    const asked = sandbox.ledger().length;

    // The next night is late by an hour.
    const nextNight = { ...(await startedAgo(0)), clock: shiftedClock(hourMs) };
    expect(await expectAgreement(nextNight)).toEqual({ clear: 4, open_alert: 2 });
    expect(await measureCoverage(nextNight, { list: 1 })).toMatchObject({ isCovered: true, total: { overdue: 0 } });
    expect(await expectAgreement({ ...nextNight, clock: shiftedClock(1.4 * hourMs) })).toEqual({
      not_screened: 4,
      open_alert: 2,
    });
    expect(await run(nextNight)).toMatchObject({ state: 'complete', counts: { planned: 6, screened: 6 } });
    expect(sandbox.ledger().length).toBeGreaterThan(asked + 5);
  });

  it('goes by the same grace in the plan and in the views', async () => {
    const database = await open();
    const now = new Date();
    for (const cadenceHours of [0.5, 12, 23.9, 24, 36, 168, 720]) {
      const [high] = listTierDueTimes(toCadence({ cadenceHours }), now);
      const validMs = now.getTime() - (high?.staleBefore.getTime() ?? 0);
      const ms = await findValue(
        database,
        z.number(),
        sql`select (extract(epoch from to_validity(${cadenceHours}::float8 * interval '1 hour')) * 1000)::float8 as ms`,
      );
      expect([cadenceHours, ms]).toEqual([cadenceHours, Math.round(validMs)]);
    }
  });
});
