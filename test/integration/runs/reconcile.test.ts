import { writeFile } from 'node:fs/promises';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import { expect, it } from 'vitest';
import { z } from 'zod';
import type { ListedDiscrepancy } from '../../../src/reconciliation/discrepancy.js';
import { renderDiscrepancyList } from '../../../src/reports/review-list.js';
import { dossierLinkSchema, toFileRoster } from '../../../src/roster/settings.js';
import { runImport } from '../../../src/runs/import/import-run.js';
import { runReconciliation } from '../../../src/runs/reconcile-run.js';
import { listDiscrepancies } from '../../../src/runs/review/alerts.js';
import { undoDecision } from '../../../src/runs/review/decide.js';
import { exportAlerts } from '../../../src/runs/review/lists.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import type { SandboxDossier } from '../../../src/sandbox/world.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { describeOnEachDatabase, leaveSqlToPostgres } from '../../helpers/databases.js';
import { importList } from '../../helpers/reviewers.js';
import { showRun } from '../../helpers/show-run.js';
import {
  acceptChanges,
  decide,
  findAlerts,
  makeAcceptance,
  openPreparedSites,
  openSmallSites,
  type SmallSite,
} from '../../helpers/small-site.js';
import {
  buildSandboxDossier,
  dayMs,
  people,
  signal,
  toCsv,
  watchlist,
  writeRoster,
} from '../../helpers/small-world.js';

const names = [...people, 'Ludmila Havel', 'Николай Петров', 'Ines Duarte', 'Kofi Mensah'];
const dossierOf = (number: number, facts: Partial<SandboxDossier> = {}): SandboxDossier =>
  buildSandboxDossier(number, { name: names[number - 1] ?? '', ...facts });

const attendanceRow = z.object({
  kind: z.string(),
  state: z.string(),
  severity: z.string(),
  facts: z.record(z.string(), z.unknown()),
});
const readAttendance = async (database: Database): Promise<readonly string[]> => {
  const rows = await database.query(
    attendanceRow,
    `select kind, state, severity, facts from discrepancy where state <> 'resolved' order by kind, subject`,
  );
  return rows.map(
    ({ kind, state, severity, facts }) =>
      `${kind} ${facts['reference'] ?? facts['dossier'] ?? ''} ${severity} ${state}`,
  );
};

describeOnEachDatabase('a comparison of roster, screenings and dossiers', (open, databases) => {
  leaveSqlToPostgres(
    databases,
    'without a complete and recent sweep',
    'that matches no customer with any',
    'finds references that several share',
    'reports a roster whose last import',
    'is accepted in a list',
  );
  const begin = openSmallSites(open);
  const settingsOf = (site: SmallSite, link: object = {}) => ({
    rosters: [{ ...site.roster, dossiers: dossierLinkSchema.parse(link) }],
  });

  /** Plays nights of a site: a sweep of the dossiers, and a screening that compares them with the customers. */
  const equip = (site: SmallSite, dossiers: readonly SandboxDossier[]) => {
    site.sandbox.setWorld({ watchlist, dossiers });
    const night = async (changes: { offsetMs?: number; isSwept?: boolean } = {}) => {
      const app = await site.work({ settings: settingsOf(site), offsetMs: changes.offsetMs ?? 0 });
      if (changes.isSwept !== false) await runSweep(app, { writeReport: false }, signal);
      return { app, run: await site.run(app) };
    };
    /** The same without a screening. */
    const compare = async (dossiers: readonly SandboxDossier[], offsetMs = 0) => {
      site.sandbox.setWorld({ watchlist, dossiers });
      const app = await site.work({ settings: settingsOf(site), offsetMs });
      await runSweep(app, { writeReport: false }, signal);
      return runReconciliation(app, { writeReport: false }, signal);
    };
    return { ...site, night, compare };
  };
  const beginWith = async (dossiers: readonly SandboxDossier[]) => equip(await begin(names), dossiers);
  /** Without dossiers of C-2, C-3 and C-10. */
  const compared = [
    dossierOf(9, { status: 'rejected' }),
    ...[5, 6, 7, 8].map((number) => dossierOf(number)),
    dossierOf(1),
    dossierOf(4, { name: 'Another' }),
  ];
  const copyCompared = openPreparedSites(databases, (site) => equip(site, compared).night({ offsetMs: -3 * dayMs }), {
    names,
  });
  const beginCompared = async () => equip(await copyCompared(), compared);

  it('is part of the night: each kind is found once, stays, changes, is resolved and comes back', async () => {
    const dossiers = [
      // C-1 and C-2 are listed: approved all the same.
      dossierOf(1),
      dossierOf(2, { name: 'PRUNESCU, Oktavian' }),
      dossierOf(3, { status: 'rejected' }),
      dossierOf(4, { name: 'Somebody Else' }),
      dossierOf(5, { type: 'kyb' }),
      dossierOf(6, { reference: ' c-6 ' }),
      buildSandboxDossier(61, { reference: 'C-6', status: 'open', name: 'Ciro Malvestuto' }),
      dossierOf(7, { status: 'archived' }),
      dossierOf(8, { name: 'Nikolai Petrov' }),
      dossierOf(9, { status: 'needs_attention' }),
      buildSandboxDossier(99, { name: 'Nobody Known' }),
    ];
    const { database, night, compare } = await beginWith(dossiers);
    const first = await night({ offsetMs: -2 * dayMs });
    expect(first.run).toMatchObject({ state: 'complete' });
    const found = [
      'approved_with_sanctions_alert C-1 critical open',
      'approved_with_sanctions_alert C-2 critical open',
      'archived_dossier C-7 medium open',
      'customer_without_dossier C-10 medium open',
      'dossier_needs_attention C-9 medium open',
      'dossier_without_customer C-99 medium open',
      'name_conflict C-4 high open',
      'rejected_dossier C-3 high open',
      'several_dossiers C-6 medium open',
      'type_conflict C-5 medium open',
    ];
    expect(await readAttendance(database)).toEqual(found);
    const [reported] = (await showRun(database, 'default', first.run.runId)).reconciliations;
    expect(reported?.sums).toEqual({
      customers: 10,
      withDossier: 9,
      withoutDossier: 1,
      notExpected: 0,
      ambiguousCustomers: 0,
      dossiers: 11,
      withCustomer: 10,
      withoutCustomer: 1,
      ambiguousDossiers: 0,
      ofOtherRosters: 0,
      notCompared: 9,
    });
    expect(reported?.newsCount).toBe(found.length);

    // The same dossiers again: no news, and no row of a discrepancy is written.
    const second = await compare(dossiers, -dayMs);
    expect(await readAttendance(database)).toEqual(found);
    expect((await showRun(database, 'default', second.runId)).reconciliations[0]).toMatchObject({
      newsCount: 0,
      news: [],
    });

    await decide(database, await findAlerts(database, 'C-1'), { verdict: 'true_match' });
    await decide(database, await findAlerts(database, 'C-2'));
    const mended = [
      ...[1, 2, 5, 6, 7, 8].map((number) => dossierOf(number)),
      dossierOf(3, { status: 'approved' }),
      dossierOf(4, { name: 'Somebody Other' }),
      dossierOf(9, { status: 'rejected' }),
      dossierOf(10),
    ];
    const third = await compare(mended);
    expect(await readAttendance(database)).toEqual([
      'approved_with_true_match C-1 critical open',
      'name_conflict C-4 high open',
      'rejected_dossier C-9 high open',
    ]);
    const news = (await showRun(database, 'default', third.runId)).reconciliations[0]?.news ?? [];
    expect(news.filter(({ event }) => event !== 'resolved').map(({ event, kind }) => `${event} ${kind}`)).toEqual([
      'opened approved_with_true_match',
      'changed name_conflict',
      'opened rejected_dossier',
    ]);
    expect(news.filter(({ event }) => event === 'resolved')).toHaveLength(9);

    // C-1 loses its dossier, and C-3 its approval again.
    const worse = [
      ...mended.filter(({ reference }) => reference !== 'C-1' && reference !== 'C-3'),
      dossierOf(3, { status: 'rejected' }),
    ];
    const fourth = await compare(worse, dayMs);
    const again = (await showRun(database, 'default', fourth.runId)).reconciliations[0]?.news ?? [];
    expect(again.map(({ event, kind }) => `${event} ${kind}`)).toEqual([
      'returned rejected_dossier',
      'opened customer_without_dossier',
      'resolved approved_with_true_match',
    ]);
    const events = z.object({ kinds: z.array(z.string()) });
    const history = await database.query(
      events,
      `select array_agg(event.kind order by event_id) as kinds from discrepancy_event event join discrepancy using (discrepancy_id)
       where discrepancy.kind = 'rejected_dossier' and event.facts ->> 'reference' = 'C-3'`,
    );
    expect(history).toEqual([{ kinds: ['opened', 'resolved', 'returned'] }]);
  });

  it('without a complete and recent sweep opens no missing dossier and resolves nothing', async () => {
    const { database, night } = await beginCompared();
    const before = await readAttendance(database);
    expect(before).toContain('customer_without_dossier C-2 medium open');
    await database.execute(`update dossier set gone_at = now() where reference = 'C-5'`);
    const { run } = await night({ isSwept: false });
    expect(run).toMatchObject({ state: 'incomplete', exitCode: 3 });
    expect(run.reasons.join()).toMatch(/reconciled without proof: the last sweep ended at .*, more than 36 hours ago/);
    expect(await readAttendance(database)).toEqual(before);
  });

  it('that matches no customer with any dossier stores nothing and says so', async () => {
    const { database, night, work, ...site } = await beginWith(
      [1, 2, 3, 4, 5].map((number) => dossierOf(number, { reference: `KYC-${number}` })),
    );
    const { run } = await night();
    expect(run.reasons.join()).toContain('not reconciled: it joins none of 10 customers with any of 5 dossiers');
    expect(await readAttendance(database)).toEqual([]);
    const app = await work({ settings: settingsOf({ ...site, database, work }) });
    await expect(runReconciliation(app, { writeReport: false }, signal)).rejects.toThrow(/joins none/);
    const mapped = await work({ settings: settingsOf({ ...site, database, work }, { reference: { prefix: 'kyc-' } }) });
    await expect(runReconciliation(mapped, { writeReport: false }, signal)).rejects.toThrow(/joins none/);
    const pattern = { reference: { pattern: '^KYC-(.+)$' } };
    await writeFile(String(site.roster.csv?.path), toCsv(names).replaceAll('C-', ''));
    const renamed = await work({ settings: settingsOf({ ...site, database, work }, pattern), offsetMs: dayMs });
    await site.run(renamed);
    expect(await runReconciliation(renamed, { writeReport: false }, signal)).toMatchObject({
      kind: 'reconcile',
      state: 'complete',
      counts: { withDossier: 5 },
    });
  });

  it('finds references that several share, and what has changed since a dossier was approved', async () => {
    const site = await begin();
    const { database, sandbox } = site;
    const write = (rows: readonly string[]) =>
      writeFile(String(site.roster.csv?.path), `customer_id,type,name,segment,kyc\n${rows.join('\n')}\n`);
    const columns = { attributes: ['segment', 'kyc'] };
    const rosters = [
      {
        ...site.roster,
        columns,
        dossiers: dossierLinkSchema.parse({
          customerColumn: 'kyc',
          expect: { where: { segment: 'a' } },
          staleAfter: '90d',
        }),
      },
    ];
    const row = (id: number, name: string, facts = 'a', kyc = `K${id}`) => `C-${id},person,${name},${facts},${kyc}`;
    const rest = [
      row(2, 'Two Dossierless'),
      row(3, 'Three Unexpected', 'b'),
      row(4, 'Four Shared', 'a', 'S'),
      row(5, 'Five Shared', 'a', ' s '),
      row(6, 'Six Cut Off'),
      row(7, 'Seven Gone'),
      row(8, 'Eight Twice', 'a', 'T'),
      row(9, 'Nine Twice', 'a', 'T'),
      row(10, 'Ten Stale'),
    ];
    const one = (number: number, reference: string, facts: Partial<SandboxDossier> = {}) =>
      buildSandboxDossier(number, {
        reference,
        name: '',
        updated_at: new Date(Date.now() + dayMs).toISOString(),
        ...facts,
      });
    const dossiers = [
      one(1, 'k1', { name: 'One Before', completed_at: '2020-01-01T00:00:00Z' }),
      one(4, 'S'),
      one(6, 'K6'),
      one(7, 'K7', { status: 'open' }),
      one(10, 'K10', { status: 'completed', updated_at: '2020-01-01T00:00:00Z' }),
      one(11, 'K11'),
      one(12, 'B-1'),
    ];
    sandbox.setWorld({ watchlist, dossiers });
    const roster = rosters[0] ?? site.roster;
    await write([row(1, 'One Before'), ...rest]);
    await site.run(await site.work({ settings: { rosters }, offsetMs: -2 * dayMs }), { roster });
    await write([row(1, 'One After'), ...rest, row(11, 'Eleven New')]);
    const today = await site.work({ settings: { rosters } });
    await acceptChanges(today);
    await runImport(today, roster, signal);
    const other = await writeRoster(['Other Person']);
    await writeFile(other, 'customer_id,type,name\nB-1,person,Other Person\n');
    await runImport(today, toFileRoster('others', other), signal);
    await database.execute(`update customer set left_at = now(), left_because = 'absent' where reference = 'C-7'`);
    await database.execute(
      `update party_state set state = 'truncated'
       where party_id in (select party_id from party join customer using (customer_id) where reference = 'C-6')`,
    );
    const later = await site.work({ settings: { rosters }, offsetMs: 2 * dayMs });
    await runSweep(later, { writeReport: false }, signal);
    await database.execute('update account set is_test = false');
    const say = (dossier: SandboxDossier | undefined, name: string, birthDate: string | null) =>
      database.execute(
        sql`insert into dossier_record (account_id, dossier_id, kind, record_id, run_id, asked_at, fetched_at, body, name, birth_date, country)
         select 1, ${dossier?.id ?? ''}, 'entity', 'entity_' || ${name}::text, max(run_id), now(), now(), '{}', ${name}::text, ${birthDate}, 'dk' from run`,
      );
    await say(dossiers[0], 'After One', '1980-01-01');
    await say(dossiers[2], 'Another Person', null);
    await database.execute(
      `update customer_version set record = jsonb_set(record, '{parties,0,birthDate}', '"1981"') where record -> 'parties' -> 0 ->> 'name' = 'One After'`,
    );
    const live = await runReconciliation(later, { writeReport: false }, signal);
    expect(live).toMatchObject({
      state: 'complete',
      counts: { customers: 10, ambiguous: 4, notExpected: 1, withoutDossier: 1 },
    });
    expect(await readAttendance(database)).toEqual(
      [
        'approved_before_name_change C-1 medium open',
        'approved_with_truncated_answer C-6 medium open',
        'birth_date_conflict C-1 medium open',
        'customer_without_dossier C-2 medium open',
        'duplicate_reference  medium open',
        'left_with_open_dossier C-7 medium open',
        'name_conflict C-1 high open',
        'never_screened C-11 medium open',
        `shared_dossier ${dossiers[1]?.id} medium open`,
        'stale_dossier C-10 medium open',
        ...dossiers.slice(0, 6).map(() => 'test_dossier'),
        'verified_name_not_searched C-6 medium open',
      ].map((line) => (line === 'test_dossier' ? expect.stringMatching(/^test_dossier .* critical open$/) : line)),
    );
    const [reported] = (await showRun(database, 'default', live.runId)).reconciliations;
    expect(reported?.sums).toMatchObject({
      dossiers: 7,
      withCustomer: 5,
      withoutCustomer: 0,
      ambiguousDossiers: 1,
      ofOtherRosters: 1,
    });
  });

  it('reports a roster whose last import is below its control total, held or not', async () => {
    const site = await beginCompared();
    const { database } = site;
    const stands = async () => (await readAttendance(database)).filter((line) => line.startsWith('roster_incomplete'));
    const compare = async (total: string, offsetMs: number) => {
      const rows = toCsv(names).trimEnd().split('\n');
      const stated = rows.map((row, index) => `${row},${index === 0 ? 'total' : total}`);
      await writeFile(String(site.roster.csv?.path), `${stated.join('\n')}\n`);
      const [roster] = settingsOf(site).rosters;
      const reported = { ...(roster ?? site.roster), controlTotal: { column: 'total' } };
      const app = await site.work({ settings: { rosters: [reported] }, offsetMs });
      const run = await site.run(app, { roster: reported });
      return run.state;
    };
    expect(await stands()).toEqual([]);
    expect(await compare('12', -2.6 * dayMs)).toBe('incomplete');
    expect(await stands()).toEqual(['roster_incomplete  high open']);
    expect(await compare('10', -2.4 * dayMs)).toBe('complete');
    expect(await stands()).toEqual([]);
  });

  it('is accepted in a list with a day and a reason, never what is critical, and comes back in time or with other facts', async () => {
    const { database, compare, work, ...site } = await beginCompared();
    const app = await work({ settings: settingsOf({ ...site, database, work }), offsetMs: -3 * dayMs });
    const { by: reviewer } = await makeAcceptance({ database });
    const day = (days: number): string => new Date(app.clock.now().getTime() + days * dayMs).toISOString().slice(0, 10);
    const listNow = async () => (await exportAlerts(app, { roster: null, exportedBy: 'test' })).discrepancies.listed;
    const take = async (fill: (one: ListedDiscrepancy) => readonly [until: string, reason: string], apply = true) => {
      const listed = await listNow();
      const rows = parse([...renderDiscrepancyList(listed)].join(''), { bom: true, columns: true });
      const filled = z
        .array(z.record(z.string(), z.string()))
        .parse(rows)
        .map((row, index) => {
          const [accept_until, reason] = fill(listed[index] ?? expect.unreachable());
          return { ...row, accept_until, reason };
        });
      return importList(app, stringify(filled, { header: true }), { apply });
    };
    const nameOf = ({ kind, facts }: ListedDiscrepancy): string => `${kind} ${String(facts['reference'])}`;
    const refusals: readonly (readonly [name: string, until: string, reason: string, because: string])[] = [
      ['approved_with_sanctions_alert C-1', day(30), 'no', 'critical'],
      ['customer_without_dossier C-2', day(181), 'no', 'too_long'],
      ['customer_without_dossier C-2', day(-1), 'no', 'past_day'],
    ];
    for (const [name, until, reason, because] of refusals) {
      const tried = await take((one) => (nameOf(one) === name ? [until, reason] : ['', '']));
      expect(tried).toMatchObject({ isApplied: false, discrepancies: { rows: [{ result: { reason: because } }] } });
    }
    const faulty = await take((one) => (nameOf(one).endsWith('C-2') ? ['31.12.2026', ''] : ['', '']));
    expect(faulty).toMatchObject({ isApplied: false, discrepancies: { faulty: [{ customer: 'C-2' }] } });

    const days: Readonly<Record<string, string>> = {
      'customer_without_dossier C-2': day(180),
      'customer_without_dossier C-3': day(2),
      'name_conflict C-4': day(30),
    };
    const fill = (one: ListedDiscrepancy) => {
      const until = days[nameOf(one)];
      return until === undefined ? (['', ''] as const) : ([until, 'known to compliance'] as const);
    };
    expect(await take(fill, false)).toMatchObject({ isApplied: false });
    expect((await listNow()).every(({ acceptance }) => acceptance === null)).toBe(true);
    const before = await listNow();
    expect((await take(fill)).discrepancies?.rows.map(({ result }) => result.kind)).toEqual(Array(3).fill('accepted'));
    // The same list again, and one from before.
    expect((await take(fill)).discrepancies?.rows.map(({ result }) => result.kind)).toEqual(
      Array(3).fill('same_already'),
    );
    const [stale] = before.filter((one) => nameOf(one) === 'name_conflict C-4');
    const outdated = `discrepancy,accept_until,reason\n${stale?.mark},${day(9)},longer\n`;
    expect(await importList(app, outdated)).toMatchObject({
      discrepancies: { rows: [{ result: { reason: 'discrepancy_changed' } }] },
    });

    const status = async () => (await readAttendance(database)).filter((line) => line.includes('accepted'));
    await compare(compared, -dayMs);
    expect(await status()).toEqual([
      'customer_without_dossier C-2 medium accepted',
      'customer_without_dossier C-3 medium accepted',
      'name_conflict C-4 high accepted',
    ]);
    expect((await listNow()).find((one) => nameOf(one) === 'name_conflict C-4')).toMatchObject({
      seen: 2,
      acceptance: { isFinal: true, reviewer: reviewer.name, reason: 'known to compliance', until: day(30) },
    });
    const last = await compare([...compared.slice(0, -1), dossierOf(4, { name: 'A Third' })]);
    expect(await status()).toEqual(['customer_without_dossier C-2 medium accepted']);
    const reported = (await showRun(database, 'default', last.runId)).reconciliations[0];
    expect(reported?.news.map(({ event, kind }) => `${event} ${kind}`)).toEqual([
      'changed name_conflict',
      'acceptance_ended customer_without_dossier',
    ]);

    const accepted = (await listNow()).find((one) => one.acceptance !== null);
    const undo = { mark: String(accepted?.mark), reviewer, reason: 'a mistake' };
    expect(await undoDecision(app, undo)).toEqual({ kind: 'acceptance_ended' });
    expect(await undoDecision(app, undo)).toEqual({ kind: 'refused', reason: 'changed_since' });
    expect(await status()).toEqual([]);
    // What stood when the run closed stays as it was.
    const atClose = await listDiscrepancies(database, app.settings.organisation, {
      runId: Number(last.runId.split('-').at(-1)),
    });
    expect(atClose?.listed.filter(({ acceptance }) => acceptance !== null).map(nameOf)).toEqual([
      'customer_without_dossier C-2',
    ]);
  });
});
