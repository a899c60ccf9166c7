import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { dossierLinkSchema } from '../../../src/roster/settings.js';
import { runReconciliation } from '../../../src/runs/reconcile-run.js';
import { acceptRun } from '../../../src/runs/screening/accept-run.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import { writeReportFor } from '../../../src/runs/write-reports.js';
import type { SandboxDossier, WatchlistEntry } from '../../../src/sandbox/world.js';
import { toHoldBounds } from '../../../src/screening/settings.js';
import { type Database, readColumn, readValue } from '../../../src/store/database/database.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { exposed, names, sanctioned } from '../../helpers/held-world.js';
import { makeAcceptance, openSmallSites, type SmallSite } from '../../helpers/small-site.js';
import {
  buildSandboxDossier,
  controls,
  fileOf,
  hourMs,
  listed,
  signal,
  toCsv,
  usualScreening,
} from '../../helpers/small-world.js';

const dossierOf = (number: number, facts: Partial<SandboxDossier> = {}): SandboxDossier =>
  buildSandboxDossier(number, { name: names[number - 1] ?? '', ...facts });

const readDiscrepancies = async (database: Database): Promise<readonly string[]> => {
  const sql = `select kind || ' ' || (facts ->> 'reference') from discrepancy where state <> 'resolved'`;
  return (await readColumn(database, z.string(), sql)).toSorted();
};

/** A discrepancy of this kind for each customer from C-`first` to C-`last`. */
const standing = (kind: string, first: number, last: number): readonly string[] =>
  Array.from({ length: last - first + 1 }, (_, at) => `${kind} C-${first + at}`).sort();

const countStates = (database: Database) =>
  readValue(
    database,
    z.unknown(),
    `select jsonb_object_agg(state, customers) as states
     from (select state, count(*) as customers from customer_screening_status group by state) counted`,
  );

describeOnPostgres('held nights of a roster with dossiers', (open) => {
  const begin = openSmallSites(open);

  /** Plays nights of a site, and what people do between them, at so many hours from now. */
  const equip = async (site: SmallSite) => {
    const { database, sandbox, roster } = site;
    const workAt = (hours: number) =>
      site.work({
        offsetMs: hours * hourMs,
        settings: {
          rosters: [{ ...roster, dossiers: dossierLinkSchema.parse({}) }],
          screening: { ...usualScreening, hold: toHoldBounds({ newlyOpenLeast: 5 }) },
        },
      });
    const set = (watchlist: readonly WatchlistEntry[], dossiers: readonly SandboxDossier[]) =>
      sandbox.setWorld({ watchlist: [...watchlist, listed('c', controls[0].name)], dossiers: [...dossiers] });
    const sweep = async (hours: number) => runSweep(await workAt(hours), { writeReport: false }, signal);
    const directory = await mkdtemp(join(tmpdir(), 'nightscreen-held-'));
    /** A night with its report. */
    const night = async (hours: number) => {
      const run = await site.run(await workAt(hours), { selection: 'all' });
      await writeReportFor(await workAt(hours), run.runId, directory);
      return run;
    };
    const accept = async (runId: string, hours: number) => {
      const app = await workAt(hours);
      return acceptRun(app, runId, await makeAcceptance(app), signal);
    };
    /** The stored discrepancies, after a comparison from scratch that has nothing to add to them. */
    const readSettled = async (hours: number) => {
      const stored = await readDiscrepancies(database);
      const again = await runReconciliation(await workAt(hours), { writeReport: false }, signal);
      expect(again).toMatchObject({ state: 'complete', counts: { opened: 0, resolved: 0 } });
      expect(await readDiscrepancies(database)).toEqual(stored);
      return stored;
    };
    /** The comparison in the report of a run, and its hour. */
    const readReported = async (runId: string, hours: number) => {
      const { report } = await writeReportFor(await workAt(hours), runId, directory);
      const [compared] = report.reconciliations;
      const ms = Number(compared?.reconciledAt) - Date.now();
      return { ...compared, comparedAt: Math.round(ms / hourMs) };
    };
    return { ...site, workAt, set, sweep, night, accept, readSettled, readReported };
  };

  it('are accepted three times: after a sweep, after two more, and after a later run; each compares with the dossiers of then', async () => {
    const { database, set, sweep, night, accept, readSettled, readReported, ...site } = await equip(await begin(names));
    const dossiers = Array.from({ length: 28 }, (_, index) => dossierOf(index + 1));
    set([...sanctioned, ...exposed], dossiers);
    await sweep(-20);
    expect(await night(-20)).toMatchObject({ state: 'complete' });
    const approved = [
      ...standing('approved_with_open_alert', 13, 20),
      ...standing('approved_with_sanctions_alert', 1, 12),
    ];
    const usual = [...approved, ...standing('customer_without_dossier', 29, 30)];
    expect(await readSettled(-19)).toEqual(usual);

    // The exposed are missing.
    set(sanctioned, dossiers);
    await sweep(-16);
    const first = await night(-16);
    expect(first).toMatchObject({ state: 'incomplete', counts: { screened: 0, failed: 30 } });
    expect(await accept(first.runId, -15)).toMatchObject({ state: 'complete', parties: 30, reasons: [] });
    expect(await readSettled(-15)).toEqual(usual);
    expect(await countStates(database)).toEqual({ open_alert: 20, clear: 10 });
    expect(await readReported(first.runId, -14)).toMatchObject({ newsCount: 0, comparedAt: -15 });
    await expect(accept(first.runId, -14)).rejects.toThrow(/already accepted/);

    // Before its acceptance the dossiers are swept twice more: C-13 was rejected, and C-29 has a dossier now.
    set(sanctioned.slice(6), dossiers);
    const second = await night(-12);
    expect(second).toMatchObject({ state: 'incomplete', counts: { screened: 0, failed: 30 } });
    const later = [...dossiers.filter(({ reference }) => reference !== 'C-13'), dossierOf(13, { status: 'rejected' })];
    set(sanctioned.slice(6), [...later, dossierOf(29)]);
    await sweep(-11);
    await sweep(-10);
    expect(await accept(second.runId, -9)).toMatchObject({ state: 'complete', parties: 30, reasons: [] });
    const stands = [
      ...approved.filter((one) => !one.endsWith(' C-13')),
      ...standing('customer_without_dossier', 30, 30),
      ...standing('rejected_dossier', 13, 13),
    ];
    expect(await readSettled(-9)).toEqual(stands);
    expect(await countStates(database)).toEqual({ open_alert: 20, clear: 10 });
    const reported = await readReported(second.runId, -8);
    expect(reported.news?.map(({ event, kind }) => `${kind} ${event}`)).toEqual([
      'rejected_dossier opened',
      'approved_with_open_alert resolved',
      'customer_without_dossier resolved',
    ]);
    expect(reported).toMatchObject({ comparedAt: -9, sums: { withDossier: 29, withoutDossier: 1 } });

    // Its answers are held, and the webhooks of what it has newly found. A later run screens only who is new.
    const found = names.slice(20, 28).map((name, index) => listed(`n${index}`, name));
    set(found, [...later, dossierOf(29)]);
    await sweep(-6);
    const third = await night(-6);
    expect(third).toMatchObject({ state: 'incomplete', counts: { screened: 0, failed: 30 } });
    expect(third.reasons.join()).toMatch(/6 of 6 known hits .* vanished.*8 of 30 customers are newly open/);
    await writeFile(fileOf(site.roster), toCsv([...names, 'Ludmila Havel']));
    expect(await site.run(await site.workAt(-5), { selection: 'new' })).toMatchObject({ counts: { screened: 1 } });
    expect(await accept(third.runId, -4)).toMatchObject({ state: 'complete', parties: 30, reasons: [] });
    const more = [
      ...standing('approved_with_sanctions_alert', 21, 28),
      ...standing('customer_without_dossier', 31, 31),
    ];
    const all = [...stands, ...more].sort();
    expect(await readSettled(-4)).toEqual(all);
    expect(await countStates(database)).toEqual({ open_alert: 28, clear: 3 });
    expect(await readReported(third.runId, -3)).toMatchObject({ comparedAt: -4, sums: { customers: 31 } });

    // The next night is stopped and resumed.
    await sweep(0);
    const stopped = await site.run(await site.workAt(0), { selection: 'all', maxSearches: 10 });
    expect(stopped).toMatchObject({ state: 'stopped' });
    const next = await night(0);
    expect(next).toMatchObject({ state: 'complete', counts: { screened: 31, changes: 0 } });
    expect(await readSettled(1)).toEqual(all);
    expect(await countStates(database)).toEqual({ open_alert: 28, clear: 3 });
    expect(await readReported(next.runId, 1)).toMatchObject({ newsCount: 0 });
    expect(next.runId).toBe(stopped.runId);
  });
});
