import { expect, it } from 'vitest';
import { z } from 'zod';
import { toStagedRow } from '../../../src/runs/import/stage.js';
import { StagingChunk } from '../../../src/store/roster/staging.js';
import { readRows, testDatabases } from '../../helpers/databases.js';

const testDatabasesOf = { embedded: testDatabases('embedded'), postgres: testDatabases('postgres') };
const odd = [
  'Ann',
  'O\u2019Brien "Bob"',
  'back\\slash \\n \\. \\N',
  'tab\there',
  'line\nbreak\r\n',
  'Søren 名前 𝒜',
  '',
  'nul\0',
  'unit\u001fseparator',
  '\\',
];
const rows = odd.map((text, index) =>
  toStagedRow(
    {
      kind: 'customer',
      line: index + 2,
      file: index % 2 === 0 ? null : text,
      customer: {
        reference: `${index} ${text}`,
        riskTier: index % 2 === 0 ? 'low' : null,
        parties: [{ role: 'customer', type: 'person', name: text, birthDate: null, countries: ['se', 'dk'] }],
        isActive: index !== 3,
        endDate: null,
        attributes: index === 4 ? { b: text, a: text } : {},
        readings: { doubts: [], said: null },
      },
      fields: [String(index), text, text],
    },
    index + 1,
    '2026-01-01',
  ),
);

it('what goes to a server in bulk is what goes there and to the embedded database row by row', async () => {
  const [embedded, postgres] = [testDatabasesOf.embedded, testDatabasesOf.postgres];
  const [small, large] = [await embedded.open(), await postgres.open()];
  const toChunk = (runId: number, copies: boolean): StagingChunk => {
    const chunk = new StagingChunk(runId, copies);
    for (const row of rows) chunk.add(row);
    return chunk;
  };
  await toChunk(1, true).stage((work) => large.transaction(work));
  await toChunk(2, false).stage((work) => large.transaction(work));
  await toChunk(1, false).stage((work) => small.transaction(work));
  const row = z.object({ row: z.string() });
  for (const [table, length] of Object.entries({
    roster_staging: odd.length,
    roster_record: odd.length,
    roster_raw: 1,
  })) {
    const sql = (run: number): string =>
      `select (to_jsonb(staged) - 'run_id')::text as row from ${table} staged where run_id = ${run} order by to_jsonb(staged)::text collate "C"`;
    const bulk = await readRows(large, sql(1));
    expect(bulk).toHaveLength(length);
    expect(bulk).toEqual(await large.query(row, sql(2)));
    expect(bulk).toEqual(await small.query(row, sql(1)));
  }
});

it('a refusal in the middle of the bulk path is an error like any other, and the connection goes on', async () => {
  const database = await testDatabasesOf.postgres.open();
  const wrong = Buffer.from('no number\n');
  await expect(
    database.transaction(async (transaction) => {
      await transaction.copyIn?.('copy roster_staging (run_id) from stdin', [wrong, wrong]);
    }),
  ).rejects.toMatchObject({ code: 'database_error', sqlState: '22P02' });
  expect(await readRows(database, 'select 1 as one')).toEqual([{ one: 1 }]);
});
