import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { toFileRoster } from '../../../src/roster/settings.js';
import type { AppContext } from '../../../src/runs/app-context.js';
import { showAlerts } from '../../../src/runs/review/decide.js';
import { exportAlerts } from '../../../src/runs/review/lists.js';
import { type AssignmentRequest, assignAlerts, findReviewer } from '../../../src/runs/review/people.js';
import { reviewSettingsSchema } from '../../../src/runs/review/settings.js';
import { runScreening } from '../../../src/runs/screening-run.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/start-sandbox.js';
import type { Database } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { createLogin } from '../../helpers/database-servers.js';
import { insertDispositionsSql, readRows, testDatabases, toReviewerGrants } from '../../helpers/databases.js';
import { decideByMarks, seenByHand } from '../../helpers/reviewers.js';
import { controls, makeAppContext, people, watchlist, writeRoster } from '../../helpers/small-world.js';

/** Decides false positive about the alerts of these customers, in this order, as one list would. */
async function decideAll(app: AppContext, ...references: readonly string[]) {
  const marks: string[] = [];
  for (const reference of references) marks.push(...(await showAlerts(app, reference)).map(({ mark }) => mark));
  return (await decideByMarks(app, marks)).map(({ kind }) => kind);
}

const pathRow = z.object({ name: z.string(), settings: z.array(z.string()).nullable() });
const countRow = z.object({ count: z.number() });

describe('a reviewer with SQL by hand', () => {
  const databases = testDatabases('postgres');
  let owner: Database;
  let sandbox: Sandbox;
  let ada: AppContext;
  let boris: AppContext;

  beforeAll(async () => {
    owner = await databases.open();
    sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
    const roster = toFileRoster('people', await writeRoster(people));
    const review = { ...reviewSettingsSchema.parse({}), fourEyes: ['critical' as const] };
    const base = await makeAppContext(owner, sandbox, { settings: { controls, rosters: [roster], review } });
    const options = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: false } as const;
    await runScreening(base, options, new AbortController().signal);
    await base.client().close();
    const slot = async (name: string): Promise<AppContext> => {
      const { url } = await createLogin(owner, name, toReviewerGrants);
      return { ...base, database: await databases.open({ url }) };
    };
    [ada, boris] = [await slot('ada'), await slot('boris')];
  });

  afterAll(async () => {
    await sandbox.close();
  });

  it('finds no function of ours that looks among temporary tables before those it belongs to', async () => {
    const functions = await owner.query(
      pathRow,
      `select proname as name, proconfig as settings from pg_proc
       where pronamespace = 'public'::regnamespace and (prorettype = 'trigger'::regtype or prosecdef
         or proname in ('find_four_eyes', 'find_settings_of_two', 'find_proposers', 'require_author'))`,
    );
    expect(functions.length).toBeGreaterThan(15);
    for (const { name, settings } of functions) {
      expect([name, settings]).toEqual([name, expect.arrayContaining(['search_path=pg_catalog, public, pg_temp'])]);
    }
  });

  it('can call no function of ours that has the rights of the owner', async () => {
    const open = await owner.query(
      z.object({ name: z.string(), isTrigger: z.boolean() }),
      `select proname::text as name, prorettype in ('trigger'::regtype, 'event_trigger'::regtype) as "isTrigger" from pg_proc
       where pronamespace = 'public'::regnamespace and prosecdef and has_function_privilege('public', oid, 'execute')
       order by 1`,
    );
    // Postgres calls trigger functions for a change of a row that its author may make, and refuses every other call.
    expect(open.filter(({ isTrigger }) => !isTrigger)).toEqual([]);
  });

  it('neither decides alone nor settles anybody by temporary tables that stand before the real ones', async () => {
    const alone = insertDispositionsSql(
      `select alert_id, 'decided' as kind, 'false_positive' as verdict, session_user as reviewer, false as is_attested,
         'alone' as reason, '${seenByHand}'::jsonb as seen
       from public.alert`,
    );
    const noRule = 'create temp table run as table public.run with no data';
    await expect(ada.database.runScript(`${noRule}; ${alone}`)).rejects.toThrow(/decided by two people/);
    // Nor is the key readable under which answers are stored.
    await expect(ada.database.runScript('select digest_key from public.organisation')).rejects.toThrow(
      /permission denied/,
    );
    // No state is stored that a reviewer could write: only a disposition changes an alert.
    const settle = `update public.alert set state = 'false_positive', is_true_match = false`;
    await expect(ada.database.runScript(settle)).rejects.toThrow(/permission denied/);
  });

  it('deciding holds all customers of a list in one order, so that a run and a list never wait for each other', async () => {
    const [first, second] = await Promise.all(
      ['C-1', 'C-2'].map(async (reference) => {
        const found = sql`select party_id as count from party join customer using (customer_id) where reference = ${reference}`;
        return (await owner.query(countRow, found))[0]?.count ?? 0;
      }),
    );
    const touch = (partyId = 0) => sql`update party_state set screened_at = screened_at where party_id = ${partyId}`;
    const waiting =
      'select count(*)::integer as count from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))';
    let deciding: Promise<unknown> = Promise.resolve();
    await owner.transaction(async (transaction) => {
      await transaction.execute(touch(first));
      deciding = decideAll(ada, 'C-2', 'C-1');
      while ((await transaction.query(countRow, waiting))[0]?.count === 0);
      await transaction.execute(touch(second));
    });
    expect(await deciding).toEqual(['proposed', 'proposed']);
  });

  it('sets the reported score of a match by deciding, and in no other way', async () => {
    const countReported = async () => {
      const sql = `select count(*)::integer as count from party_state
        where reported_scores = (
          select jsonb_object_agg(alert.match_id, alert.score) from alert_with_match alert where alert.party_id = party_state.party_id
        )`;
      return (await owner.query(countRow, sql))[0]?.count;
    };
    for (const change of ["reported_scores = '{}'", 'screened_at = now()']) {
      const direct = `update public.party_state set ${change}`;
      await expect(ada.database.runScript(direct)).rejects.toThrow(/permission denied/);
    }
    // Both were decided about above.
    expect(await countReported()).toBe(2);
  });

  it('tells nothing in the name of a run, and confirms nothing that shows something else', async () => {
    const events = (kind: string) =>
      ada.database.execute(
        `insert into alert_event (alert_id, kind, happened_at, severity) select alert_id, '${kind}', now(), 'low' from alert`,
      );
    for (const kind of ['opened', 'reopened', 'escalated', 'rekeyed', 'auto_closed', 'returned']) {
      await expect(events(kind)).rejects.toThrow(`cannot say that an alert is ${kind}`);
    }
    await expect(
      boris.database.execute(
        insertDispositionsSql(
          `select alert_id, 'approved' as kind, verdict, session_user as reviewer, false as is_attested, 'x' as reason,
             jsonb_set(seen, '{listed,topics}', '["crime"]') as seen, disposition_id
           from disposition_with_text limit 1`,
          'disposition_id',
        ),
      ),
    ).rejects.toThrow(/proposes something else/);
    expect(await decideAll(boris, 'C-1')).toEqual(['approved']);
  });

  it('decides about an alert that another has assigned and decides about, and neither waits for ever', async () => {
    const say = insertDispositionsSql(
      `select alert_id, 'decided' as kind, 'inconclusive' as verdict, session_user as reviewer, false as is_attested,
         'at once' as reason, '${seenByHand}'::jsonb as seen
       from alert order by alert_id limit 1`,
    );
    await ada.database.transaction(async (transaction) => {
      await transaction.execute(
        `insert into alert_event (alert_id, kind, happened_at, severity, actor)
         select alert_id, 'assigned', now(), severity, session_user from alert order by alert_id limit 1`,
      );
      await boris.database.execute(say);
      await transaction.execute(say);
    });
    const stored = `select count(*)::integer as count from disposition_text where reason = 'at once'`;
    expect(await owner.query(countRow, stored)).toEqual([{ count: 2 }]);
  });

  it('says nothing without its text, and the text of a disposition is changed by nobody and removed by the owner only', async () => {
    const [given] = await owner.query(
      z.object({ id: z.number(), reason: z.string() }),
      'select disposition_id as id, reason from disposition_text order by disposition_id limit 1',
    );
    const wordless = `insert into disposition (alert_id, kind, verdict, reviewer, is_attested, decided_at, origin, text_digest)
      select alert_id, 'decided', 'true_match', session_user, false, now(), 'review', '' from alert limit 1`;
    await expect(ada.database.runScript(wordless)).rejects.toThrow(/together with its text/);
    const change = `update disposition_text set reason = 'rewritten'`;
    await expect(ada.database.runScript(change)).rejects.toThrow(/permission denied/);
    await expect(owner.runScript(change)).rejects.toThrow(/is never changed/);
    await expect(ada.database.runScript('delete from disposition_text')).rejects.toThrow(/permission denied/);
    const moved = 'create temp table kept as select * from public.disposition_text where disposition_id =';
    await expect(
      owner.transaction(async (transaction) => {
        await transaction.execute(`${moved} ${given?.id}`);
        await transaction.execute(sql`delete from disposition_text where disposition_id = ${given?.id ?? null}`);
        const told = sql`select reason from disposition_with_text where disposition_id = ${given?.id ?? null}`;
        expect(await readRows(transaction, told)).toEqual([{ reason: 'erased' }]);
        // The same words without the salt that has left with them are no proof.
        await transaction.execute(
          `insert into disposition_text select disposition_id, gen_random_uuid(), reason, comment, seen from kept`,
        );
      }),
    ).rejects.toThrow(/is never changed/);
  });

  it('takes what an older system says once, and its words are erased by the owner only', async () => {
    const by = {
      decidedBy: 'B. Old',
      decidedAt: '3.2.2021',
      reviewer: 'ada',
      isAttested: false,
      importedAt: '2026-01-01',
    };
    const said = JSON.stringify({
      verdict: 'true_match',
      reason: 'it is him',
      comment: 'a friend',
      isSample: false,
      ...by,
    });
    const toAlert = (legacy: string) =>
      `update alert set legacy = ${legacy} where alert_id = (select min(alert_id) from alert)`;
    await ada.database.runScript(toAlert(`'${said}'::jsonb || jsonb_build_object('reviewer', session_user)`));
    const erased = toAlert(`legacy || '{"reason": "erased", "comment": null}'`);
    await expect(ada.database.runScript(erased)).rejects.toThrow(/cannot say that/);
    await expect(owner.runScript(toAlert(`legacy || '{"verdict": "false_positive"}'`))).rejects.toThrow(
      /never changed/,
    );
    await owner.runScript(erased);
    expect(await readRows(owner, `select legacy ->> 'reason' as words from alert where legacy is not null`)).toEqual([
      { words: 'erased' },
    ]);
  });

  it('assigns with the rights of a reviewer, and is told of a roster, customer or person nobody knows', async () => {
    const by = await findReviewer(ada.database, undefined);
    const adas = by.name;
    const chosen = { marks: [], customer: null, severity: null, roster: null, to: adas, by };
    const assign = (choice: Partial<AssignmentRequest>) => assignAlerts(ada, { ...chosen, ...choice });
    await expect(assign({ roster: 'poeple' })).rejects.toThrow(/roster poeple was never imported; these were: people/);
    await expect(assign({ customer: 'C-99' })).rejects.toThrow(/is C-99, but no roster has this customer/);
    expect(await assign({ roster: 'people', customer: 'C-2' })).toMatchObject({ assigned: 1 });
    const list = { roster: null, exportedBy: 'a test' };
    await expect(exportAlerts(ada, { ...list, assignee: 'adda' })).rejects.toThrow(/is adda, but no alert/);
    expect((await exportAlerts(ada, { ...list, assignee: adas })).alerts).toHaveLength(1);
  });
});
