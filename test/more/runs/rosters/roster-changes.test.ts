import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { reportJsonSchema } from '../../../../src/reports/report-json.js';
import { runImport } from '../../../../src/runs/import/import-run.js';
import { reportSpans } from '../../../../src/runs/write-reports.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { makeAcceptance, openSmallSites } from '../../../helpers/small-site.js';
import { dayMs, fileOf, makeCustomerNames, signal } from '../../../helpers/small-world.js';

const toRows = (count: number, toBirthDate: (at: number) => string): string =>
  [
    'customer_id,type,name,birth_date',
    ...makeCustomerNames(count).map((name, at) => `C-${at + 1},person,${name},${toBirthDate(at)}`),
    '',
  ].join('\n');

const born = (at: number): string => `19${50 + (at % 40)}-03-0${2 + (at % 7)}`;
const shifted = (at: number): string => (at < 15 ? `19${50 + (at % 40)}-03-0${1 + (at % 7)}` : born(at));

describeOnPostgres('changes of a roster within the bounds of its guards', (open) => {
  const begin = openSmallSites(open);

  it('are named in the report of the night, of every import since the night before, and of a span', async () => {
    const { database, roster, work, run } = await begin();
    const settings = { ...roster, guards: undefined };
    const write = (text: string) => writeFile(fileOf(roster), text);
    const rescreen = async (day: number) => {
      const summary = await run(await work({ offsetMs: (day - 8) * dayMs }), { roster: settings, writeReport: true });
      const text = await readFile(join(summary.artifacts ?? '', 'report.json'), 'utf8');
      const { verdict, rosterChanges } = reportJsonSchema.parse(JSON.parse(text));
      return { summary, news: verdict.news, rosterChanges };
    };
    await write(toRows(400, born));
    expect((await rescreen(0)).rosterChanges).toBeNull();
    await write(toRows(430, shifted));
    const second = await rescreen(1);
    expect(second.summary.state).toBe('complete');
    expect(second.rosterChanges).toMatchObject({
      known: 400,
      joined: 30,
      fields: [{ field: 'birth_date', values: 15 }],
    });
    expect(second.news).toContain(
      '30 customers joined, 7.5 % of the roster. All 15 changed birth dates are one day earlier.',
    );
    const unchanged = await rescreen(2);
    expect(unchanged.rosterChanges).toMatchObject({ joined: 0, fields: [] });
    expect(unchanged.news).not.toContain('bulk');
    // Two imports in between, of which each alone is no mass.
    for (const [count, hours] of [
      [442, 1],
      [454, 2],
    ] as const) {
      await write(toRows(count, shifted));
      const app = await work({ offsetMs: -6 * dayMs + hours * 3_600_000 });
      await runImport(app, settings, signal);
    }
    expect((await rescreen(3)).news).toContain('24 customers joined, 5.6 % of the roster.');
    // Held: the last accepted roster is screened, which has not changed.
    await write(toRows(100, born));
    const held = await rescreen(4);
    expect(held).toMatchObject({ summary: { state: 'incomplete' }, rosterChanges: null });
    expect(held.news).not.toContain('bulk');
    const app = await work({ offsetMs: -3 * dayMs });
    const acceptRoster = await makeAcceptance({ database });
    const accepted = await run(app, { roster: settings, writeReport: true, acceptRoster });
    expect(await readFile(join(accepted.artifacts ?? '', 'report.html'), 'utf8')).toContain(
      '354 customers are missing in the source, 78 % of the roster.',
    );
    const request = { since: new Date(Date.now() - 9 * dayMs), until: undefined, roster: undefined };
    const [span] = await reportSpans(app, request, {});
    const whole = reportJsonSchema.parse(
      JSON.parse(await readFile(join(span?.directory ?? '', 'report.json'), 'utf8')),
    );
    expect(whole.rosterChanges).toMatchObject({ known: 400, joined: 54, missing: 354 });
  });
});
