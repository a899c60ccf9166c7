import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { formatRun } from '../../../../src/cli/present-run.js';
import { guardsSchema } from '../../../../src/roster/guards.js';
import { type RosterSettings, toFileRoster } from '../../../../src/roster/settings.js';
import { describeRun } from '../../../../src/runs/describe-run.js';
import { runImport } from '../../../../src/runs/import/import-run.js';
import { runReports } from '../../../../src/runs/write-reports.js';
import { describeOnPostgres } from '../../../helpers/databases.js';
import { decide, openSmallSites, searched } from '../../../helpers/small-site.js';

const hourMs = 60 * 60 * 1_000;
const expectCount = z.object({ count: z.number() });
const header = 'customer_id,type,name,alias';
const cleanHolder = 'C-1,joint_holder,Tamsin Oyelaran';
const partyHeader = 'customer_id,role,name';

/** A roster with a column of aliases and a file of related parties; `write` gives both new rows. */
async function openFirms() {
  const folder = await mkdtemp(join(tmpdir(), 'nightscreen-dropped-'));
  const [path, partyPath] = [join(folder, 'firms.csv'), join(folder, 'officers.csv')];
  const base = toFileRoster('firms', path);
  const { csv } = toFileRoster('firms', partyPath);
  const roster: RosterSettings = {
    ...base,
    columns: { aliases: 'alias' },
    parties: csv ? [{ csv, columns: {} }] : [],
    guards: guardsSchema.parse({ maxRejectShare: 1 }),
  };
  const write = async (rows: readonly string[], parties: readonly string[]): Promise<void> => {
    await writeFile(path, [header, ...rows, ''].join('\n'));
    await writeFile(partyPath, [partyHeader, cleanHolder, ...parties, ''].join('\n'));
  };
  return { roster, write };
}

const firm = 'C-1,entity,Alpha Foundry,';
const listedDirector = 'C-1,director,Wilhelmina Achterberg';

describeOnPostgres('a party whose source drops it', (open) => {
  const begin = openSmallSites(open);

  it('stays in scope with its open hit, also as one of two names of a customer, and imports, summaries and reports say so once', async () => {
    const { database, sandbox, work, run } = await begin();
    const { roster, write } = await openFirms();
    const others = ['C-2,person,Ciro Malvestuto,Oktavian Prunescu', 'C-3,person,Aroha Ngata,', 'C-4,entity,Delta,'];
    await write([firm, ...others, 'C-3,person,Oktavian Prunescu,'], [listedDirector]);
    await run(await work({ offsetMs: -60 * hourMs }), { roster });
    await write([firm, ...others], []);
    const second = await work({ offsetMs: -30 * hourMs });
    const summary = await run(second, { roster });
    expect(summary).toMatchObject({ state: 'complete', snapshot: { droppedParties: 2 }, counts: { hits: 2 } });
    expect(formatRun(summary)).toContain(
      '2 related parties with an open alert, a true match or a truncated list are no longer in the source',
    );
    expect(searched(sandbox, 'Wilhelmina Achterberg')).toBe(2);
    const described = await describeRun(second, summary.runId);
    expect(described.sums?.states).toMatchObject({ open_alert: 3, clear: 1 });
    expect(described.balance).toMatchObject({ disagreements: [] });
    const [report] = await runReports(second, { runId: summary.runId });
    const directory = report?.directory ?? '';
    const json: unknown = JSON.parse(await readFile(join(directory, 'report.json'), 'utf8'));
    expect(json).toMatchObject({
      droppedParties: [
        { party: { reference: 'C-1', role: 'director', name: 'Wilhelmina Achterberg' }, state: 'open_alert' },
        { party: { reference: 'C-3', role: 'conflicting_row', name: 'Oktavian Prunescu' }, state: 'open_alert' },
      ],
    });
    const page = await readFile(join(directory, 'report.html'), 'utf8');
    expect(page).toContain('No longer in the source');
    expect(page).toContain('Wilhelmina Achterberg');
    // An import without a screening drops an alias; the screening after it reports it, once. The hits stay open.
    await write([firm, 'C-2,person,Ciro Malvestuto,', 'C-3,person,Aroha Ngata,', 'C-4,entity,Delta,'], []);
    const imported = await runImport(await work({ offsetMs: -20 * hourMs }), roster, new AbortController().signal);
    expect(imported.snapshot).toMatchObject({ droppedParties: 1 });
    expect(formatRun(imported)).toContain('no longer in the source');
    const screen = async (offsetMs: number) => {
      const app = await work({ offsetMs });
      const options = { selection: 'all', kind: 'screen', importFirst: false, writeReport: true } as const;
      const screened = await run(app, { ...options, roster });
      expect((await describeRun(app, screened.runId)).sums?.states).toMatchObject({ open_alert: 3, clear: 1 });
      return JSON.parse(await readFile(join(screened.artifacts ?? '', 'report.json'), 'utf8')) as unknown;
    };
    expect(await screen(-10 * hourMs)).toMatchObject({
      droppedParties: [{ party: { role: 'alias', name: 'Oktavian Prunescu' } }],
      verdict: {
        remarks: expect.arrayContaining([
          expect.stringContaining(
            '1 related party with an open alert, a true match or a truncated list is no longer in the source',
          ),
        ]),
      },
    });
    expect(await screen(0)).toMatchObject({ droppedParties: [] });
    const countDropped = 'select sum(jsonb_array_length(dropped_parties))::integer as count from roster_import';
    expect(await database.query(expectCount, countDropped)).toEqual([{ count: 3 }]);
  });

  it('stays in scope while its alert waits, also when the service no longer reports the hit, and leaves with no_longer_matched', async () => {
    const { sandbox, database, work, run } = await begin();
    const { roster, write } = await openFirms();
    await write([firm], [listedDirector]);
    await run(await work({ offsetMs: -90 * hourMs }), { roster });
    await write([firm], []);
    sandbox.setWorld({ watchlist: [], dossiers: [] });
    const summary = await run(await work({ offsetMs: -60 * hourMs, settings: { controls: [] } }), { roster });
    expect(summary.counts).toMatchObject({ hits: 0, changes: 1 });
    const later = await run(await work({ settings: { controls: [] } }), { roster });
    expect(later.counts).toMatchObject({ searches: 3 });
    const alerts = z.object({ id: z.number(), state: z.string(), absence: z.string().nullable() });
    const read = () => database.query(alerts, 'select alert_id as id, state, absence from alert');
    expect(await read()).toMatchObject([{ state: 'open', absence: 'customer_changed' }]);
    // Decided while a run is stopped that has planned the party: its sums hold all the same.
    sandbox.setFaults([{ path: '/aml/search', status: 402, afterCalls: 1 }]);
    const stopped = await run(await work({ settings: { controls: [] } }), { roster, selection: 'all' });
    expect(stopped).toMatchObject({ state: 'stopped' });
    sandbox.setFaults([]);
    expect(await decide(database, [(await read())[0]?.id ?? 0], { verdict: 'no_longer_matched' })).toMatchObject([
      { kind: 'decided' },
    ]);
    const resumed = await run(await work({ settings: { controls: [] } }), { roster, selection: 'all' });
    expect(resumed).toMatchObject({ runId: stopped.runId, state: 'complete' });
    const before = searched(sandbox, 'Wilhelmina Achterberg');
    const last = await run(await work({ settings: { controls: [] } }), { roster, selection: 'all' });
    expect(last.counts).toMatchObject({ searches: 2 });
    expect(searched(sandbox, 'Wilhelmina Achterberg')).toBe(before);
  });
});
