import { describe, expect, it } from 'vitest';
import { renderHtml } from '../../../src/reports/html-page.js';
import { toReport } from '../../../src/reports/report.js';
import type { HistoryFacts } from '../../../src/reports/run-facts.js';
import { readReportJson } from '../../helpers/report-files.js';
import { buildHistory, buildRunFacts, buildTrendPoint } from '../../helpers/run-facts.js';

async function toHtml(history: Partial<HistoryFacts>): Promise<string> {
  let page = '';
  for await (const chunk of renderHtml(toReport(buildRunFacts(history)))) page += chunk;
  return page;
}

describe('how a run went', () => {
  it('stands in report.json as it was stored', async () => {
    const history = buildHistory();
    const document = await readReportJson(toReport(buildRunFacts(history)));
    expect(document).toMatchObject({ health: history.health, settled: history.settled });
    expect(document.trend.map(({ runId }) => runId)).toEqual(history.trend.map(({ runId }) => runId));
  });

  it('is told in words: rate against its limit, retries, breaks, cost', async () => {
    const page = await toHtml(buildHistory());
    expect(page).toContain('9.4 calls a second while searching; the limit is 10');
    expect(page).toContain('3 calls repeated after a call without an answer');
    expect(page).toContain(
      '2 breaks of more than a minute without a call, 15 min in all; the longest took 13 min 20 s',
    );
    expect(page).toContain('475 calls that may be billed: 47.50 EUR');
    expect(page).toContain('40 false positives, 1 true match');
  });

  it('leaves out what is not known instead of showing it empty', async () => {
    const page = await toHtml({ health: null, settled: null, trend: [buildTrendPoint()] });
    for (const id of ['trend', 'settled', 'groups']) expect(page).not.toContain(`id="${id}"`);
    expect(page).not.toContain('Outages and pauses');
  });
});

describe('the trend', () => {
  it('draws a bar for each figure that is known, the last one apart, and tells all of them in a table', async () => {
    const unknown = { waiting: null };
    const page = await toHtml({ trend: [buildTrendPoint(unknown), buildTrendPoint({ notScreened: 7 })] });
    expect(page.match(/<svg role="img"/g)).toHaveLength(6);
    // Nobody was unscreened in the first run, and how many alerts waited is not known: neither has a bar.
    expect(page.match(/class="former"/g)).toHaveLength(4);
    expect(page.match(/class="now"/g)).toHaveLength(6);
    expect(page).toContain('Not screened of the last 2 runs, oldest first: 0 to 7.');
    expect(page).toContain('<summary>The figures of these runs</summary>');
  });
});
