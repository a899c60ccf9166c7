import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { systemClock } from '../../../src/clock.js';
import { dossierLinkSchema } from '../../../src/roster/settings.js';
import type { AppContext } from '../../../src/runs/app-context.js';
import { runImport } from '../../../src/runs/import/import-run.js';
import { type InvitingOptions, inviteCustomers } from '../../../src/runs/invitations/invite.js';
import { runReconciliation } from '../../../src/runs/reconcile-run.js';
import { runSweep } from '../../../src/runs/sweep-run.js';
import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';
import type { Fault } from '../../../src/sandbox/trouble.js';
import { type Database, readColumn } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { describeOnPostgres, readRows } from '../../helpers/databases.js';
import { showRun } from '../../helpers/show-run.js';
import { decide, findAlerts, openPreparedSites, openSmallSites, type SmallSite } from '../../helpers/small-site.js';
import type { AppContextOptions } from '../../helpers/small-world.js';
import { dayMs, minuteMs, signal } from '../../helpers/small-world.js';
import { judgeAgain } from '../../helpers/status-agreement.js';

const header = 'customer_id,type,name,email,way,birth_date';
/** C-1 and C-2 are listed. */
const rows = [
  'C-1,person,Wilhelmina Achterberg,one@example.org,email',
  'C-2,person,Oktavian Prunescu,two@example.org,email',
  'C-3,person,Tamsin Oyelaran,three@example.org,email',
  'C-4,person,Bertil Kvarnström,+4512345678,sms',
  'C-5,person,Aroha Ngata,,email',
  'C-6,person,Ciro Malvestuto,six@example.org,pigeon',
  'C-7,person,Ines Duarte,seven@example.org,email',
];

const eventRow = z.object({ customer: z.string(), events: z.array(z.string()) });
const readEvents = (database: Database): Promise<readonly z.infer<typeof eventRow>[]> =>
  database.query(
    eventRow,
    `select customer.reference as customer, array_agg(event ->> 'kind' || coalesce(' ' || (event ->> 'detail'), '') order by invitation_id, place) as events
     from invitation join customer using (customer_id), jsonb_array_elements(events) with ordinality as row (event, place)
     group by customer.reference order by 1`,
  );

const listShown = async (sandbox: Sandbox) => {
  const response = await fetch(`${sandbox.url}/autodoc/invitations?per_page=100`, {
    headers: { authorization: `Bearer ${sandbox.privateKey}` },
  });
  const page = z
    .object({
      invitations: z.array(
        z.object({ recipient: z.string(), reference: z.string(), status: z.string(), deliveryAttempts: z.number() }),
      ),
    })
    .parse(await response.json());
  return page.invitations;
};
const listRecipients = async (sandbox: Sandbox): Promise<readonly string[]> =>
  (await listShown(sandbox)).map(({ recipient }) => recipient).sort();

const countPosts = (sandbox: Sandbox): number =>
  sandbox.ledger().filter(({ method, path }) => method === 'POST' && path.startsWith('/autodoc/invitations')).length;

const posting = { path: '/autodoc/invitations', method: 'POST', times: 1 } as const;

/** A clock whose longer waits take no time. */
const hasty = (offsetMs: number) => ({
  ...systemClock,
  now: () => new Date(Date.now() + offsetMs),
  sleep: (ms: number, ending?: AbortSignal) => systemClock.sleep(ms >= 1_000 ? 5 : ms, ending),
});

describeOnPostgres('inviting customers without a dossier', (open, databases) => {
  const begin = openSmallSites(open);

  /** What it takes to screen and invite these customers. */
  const equip = async (site: SmallSite, lines: readonly string[], related: readonly string[] = []) => {
    const path = String(site.roster.csv?.path);
    const whole = lines.map((line) => (line.split(',').length < 6 ? `${line},` : line));
    await writeFile(path, [header, ...whole, ''].join('\n'));
    const partiesPath = `${path}.parties.csv`;
    await writeFile(partiesPath, ['customer_id,role,name', ...related, ''].join('\n'));
    const invite = {
      workflow: site.sandbox.workflowToken,
      recipient: 'email',
      channel: 'way',
      locale: { value: 'da' },
    };
    const rosters = [
      {
        ...site.roster,
        columns: { attributes: ['email', 'way'] },
        parties:
          related.length === 0
            ? []
            : [{ csv: { path: partiesPath, delimiter: 'auto', encoding: 'auto', header: true }, columns: {} } as const],
        dossiers: dossierLinkSchema.parse({ invite }),
      },
    ];
    const budget = { currency: 'EUR', reserveShare: 0.05, pricePerEmail: 0.05, pricePerSms: 0.2 };
    const work = ({ settings, ...options }: AppContextOptions = {}) =>
      site.work({ ...options, settings: { rosters, budget, ...settings } });
    const night = async (options: AppContextOptions = {}) => {
      const app = await work(options);
      await runSweep(app, { writeReport: false }, signal);
      return site.run(app, { roster: rosters[0] ?? site.roster });
    };
    const invited = (app: AppContext, options: Partial<InvitingOptions> = {}) =>
      inviteCustomers(app, { isSent: true, isReminder: false, ...options }, signal);
    return { ...site, path, rosters, work, night, invited };
  };
  /** A site whose customers were screened and compared with no dossiers at all. */
  const beginWith = async (lines: readonly string[], related: readonly string[] = []) => {
    const site = await equip(await begin(), lines, related);
    await site.night();
    return site;
  };
  const beginCopies = (lines: readonly string[]) => {
    const beginCopy = openPreparedSites(databases, async (site) => (await equip(site, lines)).night());
    return async () => equip(await beginCopy(), lines);
  };
  /** The same for all customers, and for C-3 alone. */
  const beginWithAll = beginCopies(rows);
  const beginWithThird = beginCopies(rows.slice(2, 3));

  it('lists the customers and the cost, and sends nothing without the option to send', async () => {
    const { database, sandbox, work, invited } = await beginWithAll();
    const app = await work();
    const before = sandbox.ledger().length;
    const shown = await invited(app, { isSent: false });
    expect(shown).toMatchObject({
      customers: [
        { customer: 'C-3', channel: 'email', discrepancy: 'customer_without_dossier', outcome: null },
        { customer: 'C-4', channel: 'sms', outcome: null },
        { customer: 'C-7', channel: 'email', outcome: null },
      ],
      cost: { amount: 0.3, currency: 'EUR' },
      alreadyInvited: 0,
      notInvitable: 2,
      notNow: 2,
    });
    expect(JSON.stringify(shown)).not.toMatch(/example|alert|C-1|C-2/);
    expect(sandbox.ledger()).toHaveLength(before);
    expect(await readEvents(database)).toEqual([]);

    expect(await invited(app, { limit: 1 })).toMatchObject({
      customers: [{ customer: 'C-3', outcome: 'sent' }],
      cost: { amount: 0.05 },
      stoppedBecause: null,
    });
    const sent = await invited(app);
    expect(sent).toMatchObject({ alreadyInvited: 1, cost: { amount: 0.25 } });
    expect(sent.customers.map(({ customer, outcome }) => `${customer} ${outcome}`)).toEqual(['C-4 sent', 'C-7 sent']);
    expect(await invited(app)).toMatchObject({ customers: [], alreadyInvited: 3 });
    expect(await listRecipients(sandbox)).toEqual(['+4512345678', 'seven@example.org', 'three@example.org']);
    const [one] = await listShown(sandbox);
    expect(one?.reference).toMatch(/^ns-[0-9a-f]{40}$/);
    expect(await readEvents(database)).toEqual(
      ['C-3', 'C-4', 'C-7'].map((customer) => ({ customer, events: ['intended', 'sending', 'sent pending'] })),
    );
    const kept = await readColumn(database, z.string(), 'select invitation::text as text from invitation');
    expect(kept.join()).not.toMatch(/example|4512345678/);
    for (const [event, sqlState] of [
      ['{"kind": "sent", "runId": 99}', '23503'],
      ['{"kind": "accepted"}', '23514'],
    ]) {
      const adding = database.execute(sql`update invitation set events = events || ${event ?? null}::text::jsonb`);
      await expect(adding).rejects.toMatchObject({ sqlState });
    }
    for (const rewrite of ['delete from invitation', `update invitation set events = '[]'`, 'truncate invitation']) {
      await expect(database.execute(rewrite)).rejects.toThrow(/never changed/);
    }
  });

  it('invites nobody who could be tipped off, and refuses it in the database as well', async () => {
    const { database, sandbox, work, night, invited } = await beginWith(
      [
        ...rows,
        'C-8,person,Kofi Mensah,eight@example.org,email',
        'C-9,person,Ludmila Havel,nine@example.org,email',
        'C-10,person,Oktavian Prunescu,ten@example.org,email',
        'C-11,person,Nora Quist,eleven@example.org,email',
        'C-12,person,Rolf Adler,twelve@example.org,email',
        'C-13,person,Sven Borg,thirteen@example.org,email',
        'C-14,person,Wilhelmina Achterberg,fourteen@example.org,email',
        'C-15,person,Control Listed,fifteen@example.org,email,1960-01-01',
        'C-16,person,Control Listed,sixteen@example.org,email,1960',
        'C-17,person,Control Listed,seventeen@example.org,email,1985-05-05',
      ],
      ['C-8,director,Oktavian Prunescu', 'C-9,director,Bertil Kvarnström'],
    );
    // C-1 and C-14 are dismissed, so that both are clear again; C-10 is dismissed, but the same person as C-2 waits.
    await decide(database, [...(await findAlerts(database, 'C-1')), ...(await findAlerts(database, 'C-14'))]);
    await decide(database, await findAlerts(database, 'C-10'));
    // C-15 and C-16 may be one person; C-17 was born on another day.
    await decide(database, [...(await findAlerts(database, 'C-16')), ...(await findAlerts(database, 'C-17'))]);
    const status = (reference: string, state: string) =>
      database.execute(
        sql`update party_state set state = ${state} where party_id in (select party_id from party join customer using (customer_id) where reference = ${reference})`,
      );
    await status('C-7', 'below_threshold');
    await status('C-11', 'truncated');
    await database.execute(`update customer set unreadable_party_since = now() where reference = 'C-12'`);
    await database.execute(
      `update discrepancy set state = 'accepted', accepted_until = '2999-01-01' where facts ->> 'reference' = 'C-13'`,
    );
    await judgeAgain(database);
    const app = await work();
    const sent = await invited(app);
    expect(new Set(sent.customers.map(({ customer }) => customer))).toEqual(
      new Set(['C-1', 'C-3', 'C-4', 'C-7', 'C-9', 'C-14', 'C-17']),
    );
    expect(sent).toMatchObject({ notNow: 7, notInvitable: 2 });
    expect(countPosts(sandbox)).toBe(7);
    const excluded = `select customer || ' ' || obstacle from invitation_exclusion order by customer`;
    expect(await readColumn(database, z.string(), excluded)).toEqual([
      'C-10 alert_waits',
      'C-11 truncated',
      'C-12 not_screened',
      'C-15 alert_waits',
      'C-16 alert_waits',
      'C-2 alert_waits',
      'C-8 alert_waits',
    ]);

    // Straight into the table, past the command.
    const insert = (reference: string, state: string) =>
      database.execute(
        sql`insert into invitation
           (account_id, roster_id, customer_id, discrepancy_id, customer_version, reference, channel, state, is_open, intended_at, sending_at)
         select missing.account_id, missing.roster_id, customer.customer_id, missing.discrepancy_id, 1, 'ns-' || customer.customer_id, 'email', ${state}, true, now(), now()
         from discrepancy missing join customer using (customer_id) where customer.reference = ${reference} and missing.kind = 'customer_without_dossier'`,
      );
    for (const customer of ['C-2', 'C-8', 'C-10', 'C-11', 'C-12', 'C-13', 'C-15', 'C-16']) {
      for (const state of ['intended', 'sending']) {
        await expect(insert(customer, state)).rejects.toMatchObject({ sqlState: '23000' });
      }
    }
    await expect(insert('C-3', 'intended')).rejects.toMatchObject({ constraint: 'invitation_once' });
    await decide(database, await findAlerts(database, 'C-3'));

    // A true match, an alert that has come since, and one who has left are not reminded.
    await decide(database, await findAlerts(database, 'C-1'), { verdict: 'true_match' });
    sandbox.advanceClock(8 * dayMs);
    const run = await night();
    const reported = (await showRun(database, 'default', run.runId)).reconciliations[0]?.invitations;
    expect(reported?.byStatus).toEqual({ sent: 7 });
    expect(reported?.excluded).toMatchObject({ alert_waits: 5, truncated: 1 });
    await status('C-7', 'truncated');
    await database.execute(`update customer set left_at = now(), left_because = 'absent' where reference = 'C-4'`);
    await judgeAgain(database);
    const later = await work({
      clock: hasty(8 * dayMs),
      settings: { screening: { ...app.settings.screening, cadenceHours: 24 * 30 } },
    });
    await database.execute(
      `update run set cadence = jsonb_set(cadence, '{hours}', '{"high": 720, "medium": 720, "low": 720}') where cadence is not null`,
    );
    // Customers who must not be reminded count as sent only.
    const last = await runReconciliation(later, { writeReport: false }, signal);
    const counted = (await showRun(database, 'default', last.runId)).reconciliations[0]?.invitations;
    expect(counted?.byStatus).toEqual({ sent: 4, sent_and_resend_eligible: 3 });
    const reminded = await invited(later, { isReminder: true });
    expect(new Set(reminded.customers.map(({ customer, outcome }) => `${customer} ${outcome}`))).toEqual(
      new Set(['C-3 sent', 'C-9 sent', 'C-17 sent']),
    );
    await expect(
      database.execute(
        `update invitation set reminded_at = now() from customer where customer.customer_id = invitation.customer_id and customer.reference = 'C-1'`,
      ),
    ).rejects.toThrow(/not invited now/);
    expect(await invited(later, { isReminder: true })).toMatchObject({ customers: [] });
    expect((await listShown(sandbox)).filter(({ deliveryAttempts }) => deliveryAttempts > 1)).toHaveLength(3);
  });

  it('sends nothing when an alert opens between the intention and the sending', async () => {
    const { database, sandbox, work, invited } = await beginWithThird();
    sandbox.setFaults([{ delayMs: 300, path: '/autodoc/invitations', method: 'GET', times: 1 }]);
    const inviting = invited(await work());
    const isIntended = async (): Promise<boolean> =>
      (await database.query(z.object({ id: z.number() }), 'select invitation_id as id from invitation')).length > 0;
    while (!(await isIntended())) await systemClock.sleep(5);
    await database.execute(
      `update party_state set state = 'truncated' where party_id in (select party_id from party join customer using (customer_id) where reference = 'C-3')`,
    );
    await judgeAgain(database);
    expect(await inviting).toMatchObject({ customers: [], notNow: 1 });
    expect(countPosts(sandbox)).toBe(0);
    expect(await readEvents(database)).toEqual([{ customer: 'C-3', events: ['intended', 'withdrawn'] }]);
  });

  it('stops at a 402 with what to do, waits through a 429, and continues from there', async () => {
    const { sandbox, work, invited } = await beginWithAll();
    sandbox.setFaults([{ ...posting, status: 402, times: 1, afterCalls: 1 }]);
    const app = await work({ clock: hasty(0) });
    const stopped = await invited(app);
    expect(stopped.stoppedBecause).toMatch(/402.*top it up, then run the same command again/);
    expect(stopped.customers.map(({ customer }) => customer)).toEqual(['C-3']);
    sandbox.setFaults([{ ...posting, status: 429, times: 3, retryAfter: '1' }]);
    expect((await invited(app)).customers.map(({ outcome }) => outcome)).toEqual(['sent', 'sent']);
    expect(await listRecipients(sandbox)).toHaveLength(3);
  });

  it.each<[string, Fault[], string]>([
    ['after it did the work', [{ ...posting, cut: 'after_work' }], 'sent'],
    ['before it did anything', [{ ...posting, cut: 'before_work' }], 'unknown'],
    [
      'after its work, and look-ups fail as well',
      [
        { ...posting, cut: 'after_work' },
        { path: posting.path, method: 'GET', status: 500, afterCalls: 1, times: 20 },
      ],
      'unknown',
    ],
  ])('never sends blindly again when the service hangs up %s', async (_, faults, outcome) => {
    const { database, sandbox, work, invited } = await beginWithThird();
    sandbox.setFaults(faults);
    const app = await work({ clock: hasty(0) });
    expect((await invited(app)).customers).toMatchObject([{ outcome }]);
    sandbox.setFaults([]);
    const wasMade = (await listShown(sandbox)).length === 1;
    // Within five minutes it may still appear.
    const soon = await invited(await work({ clock: hasty(4 * minuteMs) }));
    expect(soon.customers.map(({ outcome }) => outcome)).toEqual(wasMade ? [] : ['unknown']);
    expect(countPosts(sandbox)).toBe(1);
    const later = await invited(await work({ clock: hasty(6 * minuteMs) }));
    expect(later.customers.map(({ outcome }) => outcome)).toEqual(wasMade ? [] : ['sent']);
    const all = await listShown(sandbox);
    expect(all).toHaveLength(1);
    const references = await readRows(database, `select reference from invitation where state = 'invited'`);
    expect(references).toEqual([{ reference: all[0]?.reference }]);
  });

  it('finds what was sent before an older database was restored', async () => {
    const { database, sandbox, work, invited } = await beginWithThird();
    const app = await work();
    await invited(app);
    await database.runScript(
      'alter table invitation disable trigger user; delete from invitation; alter table invitation enable trigger user',
    );
    expect((await invited(app)).customers).toMatchObject([{ customer: 'C-3', outcome: 'found' }]);
    expect(await listShown(sandbox)).toHaveLength(1);
  });

  it('follows invitations in sweeps to their dossiers, and invites anew only after their end', async () => {
    const { database, sandbox, path, roster, rosters, work, night, invited } = await beginWithAll();
    await invited(await work());
    const referenceOf = async (recipient: string): Promise<string> =>
      (await listShown(sandbox)).find((one) => one.recipient === recipient)?.reference ?? '';
    sandbox.moveInvitation(await referenceOf('three@example.org'), { status: 'started' });
    sandbox.moveInvitation(await referenceOf('seven@example.org'), { status: 'opened' });
    sandbox.moveInvitation(await referenceOf('+4512345678'), { status: 'failed', errorMessage: 'no such number' });
    // The dossier of C-3 has the invitation's reference, and is its own all the same once the sweep has seen it.
    await runSweep(await work(), { writeReport: false }, signal);
    const first = await runReconciliation(await work(), { writeReport: false }, signal);
    const [reported] = (await showRun(database, 'default', first.runId)).reconciliations;
    expect(reported?.sums).toMatchObject({ withDossier: 1, withoutDossier: 6, withCustomer: 1, withoutCustomer: 0 });
    expect(reported?.invitations?.byStatus).toEqual({ failed: 1, opened: 1 });
    expect(await readEvents(database)).toEqual([
      { customer: 'C-3', events: ['intended', 'sending', 'sent pending', 'status started'] },
      { customer: 'C-4', events: ['intended', 'sending', 'sent pending', 'status failed'] },
      { customer: 'C-7', events: ['intended', 'sending', 'sent pending', 'status opened'] },
    ]);
    expect(await invited(await work())).toMatchObject({ customers: [], alreadyInvited: 2 });

    // A number that could not be reached is tried again once the roster has another one.
    await writeFile(path, (await readFile(path, 'utf8')).replace('+4512345678', '+4587654321'));
    await runImport(await work({ offsetMs: minuteMs }), rosters[0] ?? roster, signal);
    expect((await invited(await work({ offsetMs: minuteMs }))).customers).toMatchObject([
      { customer: 'C-4', outcome: 'sent' },
    ]);

    sandbox.advanceClock(31 * dayMs);
    await night({ offsetMs: 31 * dayMs });
    const again = await invited(await work({ offsetMs: 31 * dayMs }));
    expect(again.customers.map(({ customer, outcome }) => `${customer} ${outcome}`)).toEqual(['C-4 sent', 'C-7 sent']);
    const [, , seventh] = await readEvents(database);
    expect(seventh?.events).toEqual([
      'intended',
      'sending',
      'sent pending',
      'status opened',
      'ended expired',
      'intended',
      'sending',
      'sent pending',
    ]);
  });

  it('lets one process invite at a time', async () => {
    const { sandbox, work, invited } = await beginWithAll();
    const [one, other] = [await work(), await work()];
    const ends = await Promise.allSettled([invited(one), invited(other)]);
    expect(ends.some(({ status }) => status === 'fulfilled')).toBe(true);
    expect(await listRecipients(sandbox)).toHaveLength(3);
  });

  it('refuses without a column, without a comparison with the last sweep, and a live key without a price', async () => {
    const { database, sandbox, rosters, work, invited } = await beginWithAll();
    await expect(
      invited(await work({ settings: { rosters: rosters.map(({ dossiers: _, ...rest }) => rest) } })),
    ).rejects.toThrow(/no imported roster says how its customers are invited/);
    const other = dossierLinkSchema.parse({
      invite: { workflow: 'wf_1', recipient: 'phone', channel: { value: 'sms' } },
    });
    await expect(
      invited(await work({ settings: { rosters: rosters.map((roster) => ({ ...roster, dossiers: other })) } })),
    ).rejects.toThrow(/none of 7 customers without a dossier has a recipient in the column phone/);
    const app = await work({ settings: { budget: { currency: 'EUR', reserveShare: 0.05 } } });
    expect(await invited(app, { isSent: false })).toMatchObject({ cost: null });
    await runSweep(app, { writeReport: false }, signal);
    await expect(invited(app)).rejects.toThrow(/not compared with the last sweep/);
    await expect(invited(await work({ offsetMs: 2 * dayMs }))).rejects.toThrow(/more than 36 hours ago/);
    await runReconciliation(app, { writeReport: false }, signal);
    sandbox.setFaults([{ ...posting, status: 404, code: 'workflow_not_found' }]);
    expect((await invited(app)).stoppedBecause).toMatch(/correct rosters\[\]\.dossiers\.invite\.workflow/);
    await database.execute('update account set is_test = false');
    await database.execute("update run set mode = 'live'");
    const unpriced = await work({ settings: { budget: { currency: 'EUR', reserveShare: 0.05, pricePerSms: 1 } } });
    await expect(invited(unpriced)).rejects.toThrow(/budget.pricePerEmail: is missing/);
    expect(await listShown(sandbox)).toEqual([]);
  });
});
