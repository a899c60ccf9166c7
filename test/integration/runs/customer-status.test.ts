import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shiftedClock } from '../../../src/clock.js';
import { measureCoverage } from '../../../src/runs/coverage.js';
import { budgetSettingsSchema } from '../../../src/screening/budget.js';
import { createLogin } from '../../helpers/database-servers.js';
import { readRows, testDatabases } from '../../helpers/databases.js';
import { decide, openPreparedSites, openSmallSites } from '../../helpers/small-site.js';
import { expectAgreement, judgeAgain } from '../../helpers/status-agreement.js';

const hourMs = 60 * 60 * 1_000;

describe('the status of customers', () => {
  const databases = testDatabases('postgres');
  const openSite = openSmallSites(databases.open);
  const openScreened = openPreparedSites(databases, async ({ run, work }) => run(await work()));

  it('agrees with coverage about live answers without control searches, other facts, leavers and cadences of tiers', async () => {
    const { sandbox, run, work, database } = await openSite();
    const budget = budgetSettingsSchema.parse({ maxSearchesPerMonth: 1_000, pricePerSearch: 0.1 });
    const { screening } = (await work()).settings;
    const cadence = { high: '7d', reason: 'weekly by policy 4.2' };
    const settings = { budget, screening: { ...screening, cadence } };
    const blind = await work({ apiKey: sandbox.livePrivateKey, settings: { ...settings, controls: [] } });
    await run(blind);
    expect(await expectAgreement(blind)).toEqual({ not_screened: 4, open_alert: 2 });
    expect(await measureCoverage(blind, { list: 1 })).toMatchObject({
      isCovered: false,
      total: { inScope: 6, valid: 0, unproven: 6, states: { not_screened: 4, open_alert: 2 } },
      rosters: [{ uncovered: [{ reference: 'C-1', status: 'unproven' }] }],
    });
    const sighted = await work({ apiKey: sandbox.livePrivateKey, settings });
    await run(sighted, { selection: 'all' });
    const later = (hours: number) => ({ ...sighted, clock: shiftedClock(hours * hourMs) });
    expect(await measureCoverage(sighted, { list: 1 })).toMatchObject({ isCovered: true, total: { valid: 6 } });
    expect(await expectAgreement(later(160))).toEqual({ clear: 4, open_alert: 2 });
    expect(await measureCoverage(later(160), { list: 0 })).toMatchObject({
      isCovered: true,
      cadence: { hours: { high: 168, low: 24 } },
    });
    expect(await expectAgreement(later(172))).toEqual({ not_screened: 4, open_alert: 2 });
    expect((await measureCoverage(later(172), { list: 0 })).tiers.high.overdue).toBe(6);

    const facts = `select customer_id, 2, import_id, 'low', jsonb_set(record, '{parties,0,birthDate}', '"1980-01-01"') from customer_version`;
    await database.execute(
      `insert into customer_version (customer_id, version, import_id, risk_tier, record) ${facts} where customer_id = (select customer_id from customer where reference = 'C-3')`,
    );
    await database.execute(`update customer set version = 2 where reference = 'C-3'`);
    await database.execute(
      `update customer set left_at = now(), left_because = 'inactive' where reference in ('C-1', 'C-4')`,
    );
    await database.execute(
      `update party set is_current = false where customer_id = (select customer_id from customer where reference = 'C-2')`,
    );
    // As an import does.
    await judgeAgain(database);
    expect(await expectAgreement(sighted)).toEqual({ clear: 2, not_screened: 1, open_alert: 2 });
    expect(await expectAgreement(later(160))).toEqual({ clear: 2, not_screened: 1, open_alert: 2 });
  });

  it('of an open run shows nothing: states are those of the last run that was applied, and decisions change them at once', async () => {
    const { work, database } = await openScreened();
    const app = await work();
    // As if the night after had found nobody any more and control searches were still to come.
    await database.execute(`insert into run (organisation_id, roster_id, account_id, mode, kind, state, stage, selection, lease_key, epoch, owner,
        settings_digest, version, started_at, in_scope, cadence)
      select organisation_id, roster_id, account_id, mode, kind, 'stopped', 'planned', selection, lease_key, epoch + 1, owner, settings_digest,
        version, now(), in_scope, cadence from run`);
    await database.execute(`insert into planned (run_id, party_id, request_id, customer_version, search_order, reason)
      select 2, party_id, request_id, 1, 1, 'cadence' from party_state where party_id <= 3`);
    await database.execute(`insert into batch (run_id, worker, number, wave, committed_at) values (2, 1, 1, 1, now())`);
    await database.execute(`insert into call (run_id, request_id, worker, number, started_at, ended_at, outcome, response_id, batch)
      select 2, request_id, 1, party_id, now(), now(), 'ok', response_id, 1 from party_state where party_id <= 3`);
    await database.execute(`insert into next_state (run_id, party_id, settings_digest, state)
      select 2, party_id, settings_digest, 'clear' from party_state where party_id <= 3`);
    expect(await expectAgreement(app)).toEqual({ clear: 4, open_alert: 2 });
    await decide(database, [1], { verdict: 'true_match' });
    expect(await expectAgreement(app)).toEqual({ clear: 4, open_alert: 1, true_match: 1 });
  });

  it('gives a login with rights on the view alone what it needs, and nothing else', async () => {
    const { database } = await openScreened();
    const documented = readFileSync('docs/status.md', 'utf8').match(/^grant .* to core_banking;$/gm) ?? [];
    const toGrants = (login: string) => documented.join('').replaceAll('core_banking', login);
    const { url } = await createLogin(database, 'core_banking', toGrants);
    const blocker = await databases.open({ url });
    const seen = await readRows(
      blocker,
      `select state, mode from customer_screening_status where roster = 'people' and reference = 'C-1'`,
    );
    expect(seen).toEqual([{ state: 'open_alert', mode: 'test' }]);
    for (const statement of ['select from customer_standing', 'select judge_customers(1, 1, null, true, now())']) {
      await expect(blocker.execute(statement)).rejects.toThrow('permission denied');
    }
  });
});
