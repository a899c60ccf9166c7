import { describe, expect, it } from 'vitest';
import { describeRun } from '../../../src/runs/describe-run.js';
import type { Database } from '../../../src/store/database/database.js';
import type { PlanSelection } from '../../../src/vocabulary.js';
import { testDatabases } from '../../helpers/databases.js';
import { openPreparedSites, searched } from '../../helpers/small-site.js';

const hourMs = 60 * 60 * 1_000;

/** Gives the first two customers an alias each, as an import does. */
const addAliases = (database: Database): Promise<void> =>
  database.runScript(`
    insert into screening_request (organisation_id, type, name)
      select 1, 'person', 'Alias Of ' || reference from customer where reference in ('C-1', 'C-2');
    update customer_version set record = jsonb_set(record, '{parties,1}',
        record #> '{parties,0}' || jsonb_build_object('role', 'alias', 'name', 'Alias Of ' || customer.reference))
      from customer where customer.customer_id = customer_version.customer_id and customer.reference in ('C-1', 'C-2');
    insert into party (customer_id, ordinal, request_id, is_current)
      select customer_id, 1, request_id, true from customer
      join screening_request request on request.name = 'Alias Of ' || customer.reference;`);

describe('customers of several parties', () => {
  /** Screened once, 30 hours ago; since then two of them have an alias. */
  const begin = openPreparedSites(testDatabases('postgres'), async ({ database, work, run }) => {
    await run(await work({ offsetMs: -30 * hourMs }));
    await addAliases(database);
  });

  it.each([
    // The names of C-1 and C-2 are due again; nobody else is new.
    ['new', 30, { planned: 2, screened: 2, skipped: 4, searches: 4 }],
    ['new', 2, { planned: 2, screened: 2, skipped: 4, searches: 2 }],
    ['due', 30, { planned: 6, screened: 6, skipped: 0, searches: 8 }],
  ] satisfies [PlanSelection, number, object][])(
    'leave the sums of a run of %s customers balanced, %i hours after the last one',
    async (selection, hours, counts) => {
      const { sandbox, work, run } = await begin();
      const app = await work({ offsetMs: (hours - 30) * hourMs });
      const summary = await run(app, { kind: 'screen', selection, importFirst: false });
      expect({ reasons: summary.reasons, counts: summary.counts }).toMatchObject({ counts });
      // Whom the selection left out is overdue or only due, and never without a reason.
      expect(summary.state).toBe(selection === 'new' && hours > 24 ? 'incomplete' : 'complete');
      expect((await describeRun(app, summary.runId)).balance).toMatchObject({ disagreements: [] });
      expect(searched(sandbox, 'Alias Of C-1')).toBe(1);
    },
  );

  it('are left unscreened as a whole by a failed party, and the sums hold', async () => {
    const { sandbox, work, run } = await begin();
    sandbox.setFaults([{ name: 'Alias Of C-1', status: 400 }]);
    const app = await work();
    const summary = await run(app, { kind: 'screen', importFirst: false });
    expect(summary).toMatchObject({ state: 'incomplete', counts: { planned: 6, screened: 5, failed: 1 } });
    const { sums, balance } = await describeRun(app, summary.runId);
    expect(sums?.states).toMatchObject({ not_screened: 0, open_alert: 2 });
    expect(balance).toMatchObject({ disagreements: [] });
  });
});
