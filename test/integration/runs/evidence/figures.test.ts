import { expect, it } from 'vitest';
import { renderFiguresPage } from '../../../../src/cli/commands/evidence-figures-page.js';
import { readFigures } from '../../../../src/runs/evidence-figures.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { openHeldSites } from '../../../helpers/held-world.js';
import { openSmallSites } from '../../../helpers/small-site.js';
import { dayMs, people } from '../../../helpers/small-world.js';

const toDay = (offsetMs: number): string => new Date(Date.now() + offsetMs).toISOString().slice(0, 10);
const span = (days: number) => ({ since: toDay(-days * dayMs), until: toDay(0) });

describeOnPostgres('the figures of nights', (open, databases) => {
  const openSite = openSmallSites(open);
  const { beginAfterHeld } = openHeldSites(databases);

  it('have a line for each run, and for each day before today without one, from the first night', async () => {
    const { sandbox, work, run } = await openSite();
    await run(await work({ offsetMs: -3 * dayMs }));
    sandbox.setFaults([{ name: people[2] ?? '', status: 400 }]);
    const last = await run(await work({ offsetMs: -dayMs }));
    const { lines } = await readFigures(await work(), span(9));
    expect(lines.map(({ date }) => date)).toEqual([toDay(-3 * dayMs), toDay(-2 * dayMs), toDay(-dayMs)]);
    expect(lines).toMatchObject([
      { roster: 'people', run: { state: 'complete', inScope: 6, screened: 6, shareScreened: 1, alertsOpened: 2 } },
      { roster: 'people', run: null },
      {
        run: {
          runId: last.runId,
          state: 'incomplete',
          screened: 5,
          failed: 1,
          shareScreened: 0.8333,
          controlsPassed: 4,
          controlsFailed: 0,
          hold: null,
          pack: null,
          hasPacks: false,
        },
      },
    ]);
    expect((await readFigures(await work(), { since: toDay(-dayMs), until: toDay(-dayMs) })).lines).toHaveLength(1);

    let page = '';
    for await (const chunk of renderFiguresPage(await readFigures(await work(), span(9)))) page += chunk;
    expect(page).toContain('<title>TEST: not evidence. PARTIAL: Nights from');
    // Two nights with their shares, a day between them without a run, and nothing for the seven other days.
    expect(
      [...page.matchAll(/<rect class="former"[^>]* height="([\d.]+)"/g)].map(([, height]) => Number(height)),
    ).toEqual([60, 49.9]);
    expect(page.match(/<rect [^>]*fill="none"/g)).toHaveLength(3);
    expect(page.match(/stroke-dasharray/g)).toHaveLength(1);
    expect(page).toContain('83.3 % to 100 %. 1 day without a run.');
    expect(page).toContain('no run');
    expect(page).not.toContain('<script');
  });

  it('of a held night count nobody as screened', async () => {
    const { app } = await beginAfterHeld();
    const { lines } = await readFigures(app, span(0));
    expect(lines).toMatchObject([
      { run: { hold: 'held', acceptedBy: null, screened: 0, failed: 30, shareScreened: 0 } },
    ]);
  });

  it('refuse an unknown roster and a span that ends before it begins', async () => {
    const { work, run } = await openSite();
    const app = await work();
    await run(app);
    await expect(readFigures(app, { since: toDay(0), until: toDay(-dayMs) })).rejects.toThrow('--until');
    await expect(readFigures(app, { ...span(1), roster: 'nobody' })).rejects.toThrow(
      /nobody was never imported.*people/,
    );
  });
});
