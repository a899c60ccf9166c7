import { expect, test } from 'vitest';
import { insertInto, json, rawSql, recordset, replaceInto, sql } from '../../../src/store/database/statement.js';

test('nested parts number their parameters in the order of the text', () => {
  const recent = sql`answered_at > ${new Date(0)}`;
  const mine = sql`run_id = ${7} and ${recent} and is_hit`;
  const statement = sql`select ${'a'}::text from answer where ${mine} or ${recent} limit ${null}`;
  expect(statement.text).toBe(
    'select $1::text from answer where run_id = $2 and answered_at > $3 and is_hit or answered_at > $4 limit $5',
  );
  expect(statement.values).toEqual(['a', 7, new Date(0), new Date(0), null]);
});

test('a part without parameters may stand in plain text, one with parameters may not', () => {
  expect(`${sql`select ${rawSql('party_id')}`} from party`).toBe('select party_id from party');
  expect(() => `${sql`run_id = ${7}`}`).toThrow('SQL with parameters');
});

test('rows become one parameter with the columns of all of them', () => {
  const { text, values } = insertInto('answer', [
    { runId: 1 },
    { runId: 2, madeAt: new Date(0), digest: Buffer.of(255) },
  ]);
  expect(text).toBe(
    'insert into answer (run_id, made_at, digest) select run_id, made_at, digest from jsonb_populate_recordset(null::answer, $1::text::jsonb)',
  );
  expect(values).toEqual(['[{"run_id":1},{"run_id":2,"made_at":"1970-01-01T00:00:00.000Z","digest":"\\\\xff"}]']);
  expect(recordset([{ runId: 1, madeAt: undefined }]).values).toEqual(['[{"run_id":1,"made_at":null}]']);
  expect(replaceInto('account', [{ accountId: 1, listCap: 5 }], ['account_id']).text).toMatch(
    / on conflict \(account_id\) do update set list_cap = excluded\.list_cap$/,
  );
  expect(json({ a: 1 }).text).toBe('$1::text::jsonb');
});
