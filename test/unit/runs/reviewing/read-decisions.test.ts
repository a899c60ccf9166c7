import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { toAlertCode } from '../../../../src/matches/alert-code.js';
import { readReviewList } from '../../../../src/runs/review/import-list.js';

const key = Buffer.alloc(32, 7);
const toMark = (alertId: number): string => toAlertCode({ alertId, seenVersion: '0123456789' }, key);
const [one, two, three, four] = [toMark(1), toMark(2), toMark(3), toMark(4)];
const folder = await mkdtemp(join(tmpdir(), 'nightscreen-decisions-'));

async function read(...lines: readonly string[]) {
  const path = join(folder, 'list.csv');
  await writeFile(path, `${lines.join('\n')}\n`);
  return (await readReviewList(path, key, async () => [])).decisions;
}

it('an alert that is listed twice is decided by no row, whatever each says and whether it can be stored', async () => {
  const list = await read(
    'alert,disposition,reason',
    `${one},false_positive,a slip`,
    `${two},true_match,him`,
    `${one},true_match,him`,
    `${three},false_positive,not him`,
    `${three},perhaps,him`,
    `${three},true_match,`,
    `${four},false_positive,not him`,
    `${four},,`,
  );
  expect(list.filled.map(({ line, alertId }) => [line, alertId])).toEqual([
    [3, 2],
    [8, 4],
  ]);
  expect(list.faulty).toMatchObject([
    { line: 2, problem: 'the same alert as line 4' },
    { line: 4, problem: 'the same alert as line 2' },
    { line: 5, problem: 'the same alert as line 6, 7' },
    {
      line: 6,
      problem:
        'the disposition is not one of true match, false positive, inconclusive, no longer matched; the same alert as line 5, 7',
    },
    { line: 7, problem: 'the disposition has no reason; the same alert as line 5, 6' },
  ]);
  expect(list).toMatchObject({ undecided: 1, onlyReasons: 0 });
  const forgotten = await read('alert,disposition,reason', `${one},,not him`, `${two},,`);
  expect(forgotten).toMatchObject({ undecided: 2, onlyReasons: 1 });
});

it('a list with a repeated column that is read is refused, and the message says which and where', async () => {
  const twice = read('alert,disposition,reason, Disposition ', `${one},true_match,him,`);
  await expect(twice).rejects.toThrow(/has columns twice: disposition \(column 2 and column 4\)\./);
  const alerts = read('alert,reason,disposition,alert,reason', `${one},him,true_match,${two},him`);
  await expect(alerts).rejects.toThrow(/alert \(column 1 and column 4\).*reason \(column 2 and column 5\)/);
  const other = await read('alert,disposition,reason,note,note', `${one},true_match,him,a,b`);
  expect(other.filled).toHaveLength(1);
});
