import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { readColumn } from '../../../src/store/database/database.js';
import { sql } from '../../../src/store/database/statement.js';
import { readRows, testDatabases, toReviewerGrants } from '../../helpers/databases.js';
import { seenByHand, withLogins } from '../../helpers/reviewers.js';
import { openSmallSites } from '../../helpers/small-site.js';

const dayMs = 86_400_000;

/** `seenByHand` with another value at a path; undefined removes it. */
function withSeen(path: readonly string[], value: unknown): string {
  const seen: unknown = JSON.parse(seenByHand);
  const put = (node: unknown, [key = '', ...rest]: readonly string[]): unknown => {
    const entries = typeof node === 'object' && node !== null ? node : {};
    return { ...entries, [key]: rest.length === 0 ? value : put(Reflect.get(entries, key), rest) };
  };
  return JSON.stringify(put(seen, path));
}

/** What is no record of what a reviewer has seen. */
const badSeen: readonly string[] = [
  '{}',
  '[]',
  'null',
  withSeen(['listed', 'topics'], undefined),
  withSeen(['customer', 'birthDate'], 1970),
  `{"listed": "${'x'.repeat(10_000_000)}"}`,
  '"x"',
  '7',
  '{"listed":null,"customer":null}',
  '{"listed":[],"customer":[]}',
  `[${seenByHand}]`,
  JSON.stringify({ listed: JSON.parse(seenByHand).listed }),
  withSeen(['listed', 'schema'], null),
  withSeen(['listed', 'name'], 7),
  withSeen(['listed', 'topics'], 'sanction'),
  withSeen(['listed', 'topics'], [null]),
  withSeen(['listed', 'birthDates'], [1970]),
  withSeen(['listed', 'countries'], [['us']]),
  withSeen(['listed', 'countries'], { 0: 'us' }),
  withSeen(['customer', 'birthDate'], undefined),
  withSeen(['customer', 'name'], { de: 'somebody' }),
  withSeen(['customer', 'countries'], null),
  withSeen(['customer', 'comment'], 'more'),
  withSeen(['listed', 'score'], 1),
  withSeen(['extra'], {}),
  withSeen(['listed', 'name'], 'x'.repeat(200_000)),
];

describe('rows that reviewers write by SQL', () => {
  const databases = testDatabases('postgres');
  const begin = openSmallSites(databases.open);
  /** SQL: a disposition of the first alert, as the product writes it, with other values in its columns. */
  const dispose = (changed: Record<string, string> = {}): string => {
    const of = (column: string, usual: string) => changed[column] ?? usual;
    return `with words as (
        select gen_random_uuid() as salt, ${of('reason', "'another'")}::text as reason, ${of('comment', 'null')}::text as comment,
          ${of('seen', `'${seenByHand}'`)}::jsonb as seen
      ), said as (
        insert into disposition (alert_id, kind, verdict, reviewer, is_attested, decided_at, origin, text_digest, expires_at, refers_to, sheet_id, due_at)
        select ${of('alert_id', '(select min(alert_id) from alert)')}, ${of('kind', "'decided'")}, ${of('verdict', "'false_positive'")},
          ${of('reviewer', 'session_user')}, false, ${of('decided_at', 'now()')}, ${of('origin', "'review'")},
          ${of('text_digest', 'digest_disposition_text(salt, reason, comment, seen)')}, ${of('expires_at', 'null')}::timestamptz,
          ${of('refers_to', 'null')}::bigint, ${of('sheet_id', 'null')}::bigint, ${of('due_at', 'null')}::timestamptz
        from words returning disposition_id
      )
      insert into disposition_text (disposition_id, salt, reason, comment, seen) select disposition_id, salt, reason, comment, seen from said, words`;
  };
  const legacy = (changed: string): string =>
    `update alert set legacy = '{"verdict": "true_match", "reason": "him", "comment": null, "decidedBy": "B", "decidedAt": "3.2.2021", "isSample": false, "isAttested": false}'::jsonb
       || jsonb_build_object('reviewer', session_user, 'importedAt', now()) || '${changed}' where alert_id = (select min(alert_id) from alert)`;
  const assign = (columns: string, those: string): string =>
    `insert into alert_event (alert_id, kind, actor, ${columns}) select min(alert_id), 'assigned', session_user, ${those} from alert`;
  const list = (columns: string, those: string): string =>
    `insert into review_sheet (organisation_id, exported_by, ${columns}) values (1, session_user, ${those})`;

  const refused: readonly (readonly [statement: string, reason: RegExp])[] = [
    ...badSeen.map((seen) => [dispose({ seen: `'${seen}'` }), /seen_has_its_form/] as const),
    [dispose({ seen: 'null' }), /null value/],
    [dispose({ reason: "'  '" }), /is_not_blank/],
    [dispose({ reason: "repeat('x', 10000000)" }), /is_not_too_long/],
    [dispose({ reason: "E'a\\u0007b'" }), /has_no_control_characters/],
    [dispose({ comment: "E'a\\u001bb'" }), /has_no_control_characters/],
    [dispose({ comment: "repeat('x', 40000)" }), /is_not_too_long/],
    [dispose({ decided_at: "'infinity'" }), /cannot decide at a time in the future/],
    [dispose({ decided_at: "'-infinity'" }), /check constraint|before alert/],
    [dispose({ decided_at: "now() + interval '3 days'" }), /cannot decide at a time in the future/],
    [dispose({ decided_at: "now() - interval '30 days'" }), /is before alert \d+ was opened/],
    [dispose({ expires_at: "'infinity'" }), /check constraint/],
    [dispose({ alert_id: '999999' }), /foreign key/],
    [dispose({ refers_to: '1' }), /check constraint/],
    [dispose({ verdict: "'cleared'" }), /check constraint/],
    [dispose({ origin: "'policy'" }), /check constraint/],
    [dispose({ sheet_id: '999999' }), /foreign key/],
    [dispose({ text_digest: "''" }), /is never changed/],
    [legacy('{"reason": 7}'), /legacy_has_its_form/],
    [legacy('{"decidedBy": null}'), /legacy_has_its_form/],
    [legacy('{"comment": ["x"]}'), /legacy_has_its_form/],
    [legacy('{"isSample": "no"}'), /legacy_has_its_form/],
    [legacy('{"decidedBy": "\\u0007"}'), /has_no_control_characters/],
    [legacy('{"importedAt": "infinity"}'), /cannot decide at a time in the future/],
    [legacy(`{"reason": "${'x'.repeat(40_000)}"}`), /is_not_too_long/],
    [legacy('{"more": 1}'), /legacy_has_its_form/],
    [legacy(`{"importedAt": "2026-01-01${' '.repeat(40_000)}"}`), /legacy_has_its_form/],
    [`update alert set legacy = '[]'`, /in the name of|legacy_has_its_form/],
    [`update alert set assigned_to = ''`, /is_not_blank/],
    [`update alert set assigned_to = repeat('x', 10000000)`, /is_not_too_long/],
    [`update alert set assigned_to = E'a\\u0008'`, /has_no_control_characters/],
    [assign('happened_at, severity', `'infinity', 'high'`), /cannot assign at a time in the future/],
    [assign('happened_at, severity', `now(), repeat('x', 1000)`), /check constraint/],
    [assign('happened_at, severity, reasons', `now(), 'high', '{expired,null}'`), /permission denied/],
    [assign('happened_at, severity, run_id', `now(), 'high', 1`), /permission denied/],
    [assign('happened_at, severity, assigned_to', `now(), 'high', repeat('x', 201)`), /is_no_longer_than_a_name/],
    [
      `insert into acceptance (kind, run_id, is_proposal, accepted_by, is_attested, reason, accepted_at)
       values ('answers', 1, true, session_user, false, 'looked at', now())`,
      /run 1 is not held: there is nothing to accept/,
    ],
    [list('exported_at', `'infinity'`), /cannot write a list at a time in the future/],
    [list('exported_at', `now() + interval '9 days'`), /cannot write a list at a time in the future/],
    [list('exported_at, run_id, shown_ids, waiting', `now(), 1, '{}', 0`), /permission denied/],
    [list('exported_at, alert_ids', `now(), '{1,null}'`), /names alerts of another organisation, or none/],
    [list('exported_at, alert_ids', `now(), '{1,999999}'`), /names alerts of another organisation, or none/],
  ];

  /** SQL: an acceptance of the discrepancy 1 with other values. */
  const acceptDiscrepancy = (changed: Record<string, string> = {}): string => {
    const of = (column: string, usual: string) => changed[column] ?? usual;
    return `insert into discrepancy_event
      (discrepancy_id, seen_event_id, kind, severity, facts, happened_at, reviewer, reason, accepted_until${changed['run_id'] === undefined ? '' : ', run_id'})
      values (1, ${of('seen_event_id', '1')}, ${of('kind', "'accepted'")}, ${of('severity', "'low'")}, ${of('facts', "'{}'")},
        ${of('happened_at', 'now()')}, ${of('reviewer', 'session_user')}, ${of('reason', "'known'")},
        ${of('accepted_until', 'current_date + 30')}${changed['run_id'] === undefined ? '' : `, ${changed['run_id']}`})`;
  };
  const acceptances: readonly (readonly [changed: Record<string, string>, reason: RegExp])[] = [
    [{ happened_at: "'infinity'" }, /cannot decide at a time in the future/],
    [{ happened_at: "now() + interval '2 days'" }, /cannot decide at a time in the future/],
    [{ reason: "' '" }, /is_not_blank/],
    [{ reason: "E'\u0002'" }, /has_no_control_characters/],
    [{ reason: "repeat('x', 10000000)" }, /is_not_too_long/],
    [{ accepted_until: "'infinity'" }, /accepted for 180 days at most/],
    [{ accepted_until: "'-infinity'" }, /is past/],
    [{ accepted_until: 'current_date - 9' }, /is past/],
    [{ run_id: '1' }, /permission denied/],
    [{ seen_event_id: '999' }, /has changed since it was seen/],
    [{ reviewer: "'boris'" }, /in the name of boris/],
    [{ kind: "'resolved'" }, /check constraint/],
  ];

  it('are refused with a reason when a night could not read them, and taken when it can', async () => {
    const { database: owner, work, run } = await begin();
    await run(await work());
    await withLogins(owner, ['ada'], toReviewerGrants, async (ada = owner) => {
      for (const [statement, reason] of refused) {
        await expect(ada.execute(statement), statement.slice(0, 300)).rejects.toThrow(reason);
      }
      expect(await readRows(owner, 'select count(*)::integer as rows from disposition')).toEqual([{ rows: 0 }]);
      await ada.execute(dispose({ reason: "E'first line\\nsecond\\tline'" }));
      await owner.runScript(`
        insert into discrepancy (account_id, roster_id, kind, subject, severity, facts, state, opened_at) values (1, 1, 'x', 'x', 'low', '{"a": 1}', 'open', now());
        insert into discrepancy_event (discrepancy_id, run_id, kind, severity, facts, happened_at) values (1, 1, 'opened', 'low', '{"a": 1}', now())`);
      for (const [values, reason] of acceptances) {
        await expect(ada.execute(acceptDiscrepancy(values)), JSON.stringify(values)).rejects.toThrow(reason);
      }
      // What the discrepancy is, is not said by who accepts it.
      await ada.execute(acceptDiscrepancy({ severity: "'none'", facts: "'[]'" }));
      const kept = `select severity, facts from discrepancy_event where reviewer is not null`;
      expect(await readRows(owner, kept)).toEqual([{ severity: 'low', facts: { a: 1 } }]);
      const undo = (dueAt: string) =>
        ada.execute(
          dispose({
            kind: "'undone'",
            verdict: 'null',
            refers_to: '(select max(disposition_id) from disposition)',
            due_at: dueAt,
          }),
        );
      await expect(undo("'infinity'")).rejects.toThrow(/check constraint/);
      await expect(undo("'-infinity'")).rejects.toThrow(/check constraint/);
      await undo('now()');
      await ada.execute(legacy('{"comment": "a friend"}'));
      await ada.execute(assign('happened_at, severity, assigned_to', `now(), 'high', 'bea'`));
      // Whatever name is given, the list is of the login.
      await ada.execute(
        `insert into review_sheet (organisation_id, exported_at, exported_by) values (1, now(), 'report')`,
      );
      const [login = ''] = await readColumn(ada, z.string(), 'select session_user::text');
      const lists = sql`select exported_by = ${login} as "isOwn" from review_sheet where run_id is null`;
      expect(await readRows(owner, lists)).toEqual([{ isOwn: true }]);
    });
    const next = await work({ offsetMs: dayMs });
    expect(await run(next)).toMatchObject({ state: 'complete' });
  });
});
