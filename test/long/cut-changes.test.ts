import { expect, it } from 'vitest';
import { renderHtml } from '../../src/reports/html-page.js';
import type { MatchChangeFacts } from '../../src/reports/list-facts.js';
import { renderChangesCsv } from '../../src/reports/lists.js';
import { maskReport } from '../../src/reports/mask-report.js';
import { toReport } from '../../src/reports/report.js';
import { type RunFacts, readWhole } from '../../src/reports/run-facts.js';
import { renderJson } from '../../src/reports/to-report-json.js';
import { previewLines } from '../../src/store/changes.js';
import { readRunFacts } from '../../src/store/report-facts.js';
import { readRun } from '../../src/store/runs.js';
import { testDatabases } from '../helpers/databases.js';
import { joinChunks } from '../helpers/report-files.js';
import { countRekeyed, fillReportableNights } from './fill-reportable-nights.js';

const { open } = testDatabases('postgres');
const customers = previewLines / 2 + 300;
const rekeyedNight = 4;

// Beside matches under a new id: one listed party of 30 customers and one of 19, new hits that stand alone, and hits for sanctions, of
// which some come after what is held.
const mixSql = `
  with numbered as (select change_id, row_number() over (order by change_id) as n from change_record where run_id = ${rekeyedNight})
  update change_record set
    kind = case when n <= 49 then 'match_changed' when n <= 400 then 'hit_gained' else kind end,
    fields = case when n <= 49 then '{topics}'::text[] else fields end,
    severity = case when n <= 400 then 'high' when n % 50 = 0 then 'low' else severity end,
    match_id = case when n <= 30 then 'amla_one' when n <= 49 then 'amla_two' else change_record.match_id end,
    after_listed_id = case when n <= 30 then one.listed_id when n <= 49 then two.listed_id else after_listed_id end,
    after_is_hit = n between 50 and 400 or after_is_hit,
    sanction_hit = n > 400 and n % 40 = 0
  from numbered, listed_party one, listed_party two
  where one.match_id = 'amla_one' and two.match_id = 'amla_two' and numbered.change_id = change_record.change_id`;

it('changes too many to hold are told in the files and on the page as they are when they are held', async () => {
  const database = await open();
  await fillReportableNights(database, customers);
  await database.execute('alter table change_record disable trigger refuse_rewriting');
  await database.execute(
    `insert into listed_party (organisation_id, digest, match_id, name, schema, topics, birth_dates, countries)
     select 1, sha256(convert_to(id, 'UTF8')), id, 'One', 'Person', '{role.pep}', '{1961}', '{nl,be}'
     from unnest(array['amla_one', 'amla_two']) id`,
  );
  await database.execute(mixSql);
  const run = await readRun(database, rekeyedNight);
  if (run === null) throw new Error('the run is missing');
  const cut = await readRunFacts(database, run, { sweepRunIds: [], earlierRunIds: [] }, database);
  expect(cut.changes).toHaveLength(previewLines);
  expect(cut.cut.changes?.lines).toBe(countRekeyed(customers));
  const changes: MatchChangeFacts[] = [];
  for await (const batch of readWhole('changes', cut.changes, cut.cut.changes)) changes.push(...batch);
  const whole: RunFacts = { ...cut, changes, cut: { ...cut.cut, changes: null } };

  const [fromCut, fromWhole] = [toReport(cut), toReport(whole)];
  const describe = ({ changes: groups }: typeof fromCut) =>
    groups?.map(({ severity, count, sanctionHits, currentHits, singleCount, clusters }) => ({
      ...{ severity, count, sanctionHits, currentHits, singleCount },
      clusters: clusters.map((cluster) => [cluster.name, cluster.by, cluster.customers, cluster.changes]),
    }));
  expect(describe(fromCut)).toEqual(describe(fromWhole));
  expect(describe(fromCut)?.flatMap(({ clusters }) => clusters.map(([, by]) => by))).toContain('kind_of_change');
  for (const change of [(report: typeof fromCut) => report, maskReport]) {
    const [one, other] = [change(fromCut), change(fromWhole)];
    expect(await joinChunks(renderChangesCsv(one))).toBe(await joinChunks(renderChangesCsv(other)));
    expect(await joinChunks(renderHtml(one))).toBe(await joinChunks(renderHtml(other)));
    expect(await joinChunks(renderJson(one))).toBe(await joinChunks(renderJson(other)));
  }

  await database.execute(`update change_record set severity = 'info' where run_id = $1 and severity = 'high'`, [
    rekeyedNight,
  ]);
  await database.execute('delete from change_record where change_id = (select max(change_id) from change_record)');
  await expect(joinChunks(renderChangesCsv(fromCut))).rejects.toThrow('lines were written and');
}, 240_000);
