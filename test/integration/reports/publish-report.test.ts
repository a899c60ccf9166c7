import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { toReport } from '../../../src/reports/report.js';
import { manifestJsonSchema, publishReport, writeReport } from '../../../src/reports/write-report.js';
import { buildEventfulFacts } from '../../helpers/eventful-run-facts.js';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'nightscreen-publish-'));
  await mkdir(join(folder, 'share'));
});

it('a later revision with fewer files leaves none of the former ones, and nothing of what others have put there is touched', async () => {
  const facts = buildEventfulFacts();
  const { rosterSource, counts } = facts;
  if (rosterSource === null || counts === null) throw new Error('the facts are of no roster');
  const ofParty = { line: 9, column: 'name', reason: 'missing_name', valueClass: 'empty', reference: 'C-9' } as const;
  const withParties = toReport({
    ...facts,
    rosterSource: { ...rosterSource, partyRejected: 1 },
    rejects: [...facts.rejects, { ...ofParty, file: 'parties: parties.csv', fields: {} }],
  });
  const share = join(folder, 'share');
  const published = await publishReport(await writeReport(withParties, join(folder, 'first')), share);
  expect(await readdir(published)).toContain('rejects-parties.csv');
  await writeFile(join(published, 'notes.txt'), 'ours');

  await publishReport(await writeReport(toReport(facts), join(folder, 'second')), share);
  const { files } = manifestJsonSchema.parse(JSON.parse(await readFile(join(published, 'manifest.json'), 'utf8')));
  expect((await readdir(published)).toSorted()).toEqual(
    [...files.map(({ name }) => name), 'manifest.json', 'notes.txt'].toSorted(),
  );
});
