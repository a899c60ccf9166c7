import { expect, it } from 'vitest';
import { checkEvidence } from '../../../src/cli/doctor/database.js';
import { describeOnPostgres } from '../../helpers/databases.js';
import { decide, openSmallSites } from '../../helpers/small-site.js';

describeOnPostgres('stored evidence', (open) => {
  const begin = openSmallSites(open);

  it('is not changed by the login of the application: an answer neither, nor is it removed', async () => {
    const { database, run, work } = await begin();
    await run(await work());
    for (const statement of [
      `update response set body = replace(body, '"match":true', '"match":false')`,
      'update response set hits = 0',
      'update response set digest = digest',
      'delete from response',
      'truncate response cascade',
    ]) {
      await expect(database.runScript(statement), statement).rejects.toThrow(
        /rows of response are never changed or removed/,
      );
    }
    expect(await run(await work(), { selection: 'all' })).toMatchObject({ state: 'complete' });
  });

  it('that was changed behind the back of the guards is named by doctor --deep, which says what it cannot prove', async () => {
    const { database, run, work } = await begin();
    await run(await work());
    await decide(database, [1]);
    const check = async () =>
      (await checkEvidence(database)).map(({ state, message }) => `${state} ${message.replace(/\(.*\)/, '()')}`);
    const well = await check();
    expect(well.filter((line) => !line.startsWith('ok '))).toEqual([]);
    expect(well).toHaveLength(8);
    expect(well).toContain('ok words of dispositions with their digests: 1 compared, none differs');
    expect(well.at(-1)).toMatch(/^ok not proven by this: .*who made a disposition.*a backup was not altered/);

    const behind = async (table: string, change: string) => {
      await database.runScript(
        `alter table ${table} disable trigger user; ${change}; alter table ${table} enable trigger user`,
      );
      return (await check()).filter((line) => !line.startsWith('ok '));
    };
    expect(
      await behind('response', `update response set body = replace(body, '"match":true', '"match":false')`),
    ).toEqual([
      expect.stringMatching(/^fail answers with their keyed digests: \d of \d differ/),
      expect.stringMatching(/^fail hits and scores with the answers: \d of \d differ/),
    ]);
    await behind('response', `update response set body = replace(body, '"match":false', '"match":true')`);
    expect(await check()).toEqual(well);
    expect(await behind('response', 'update response set scores = array[0.1] where hits = 1')).toEqual([
      expect.stringMatching(/^fail hits and scores/),
    ]);
    expect(await behind('listed_party', `update listed_party set name = 'Somebody Else' where listed_id = 1`)).toEqual([
      expect.stringMatching(/^fail hits and scores/),
      expect.stringMatching(/^fail listed parties with their digests: 1 of \d differ/),
    ]);
    expect(await behind('disposition_text', `update disposition_text set reason = 'rewritten'`)).toContainEqual(
      expect.stringMatching(/^fail words of dispositions with their digests: 1 of 1 differ/),
    );
    expect(
      await behind('acceptance', `update acceptance set settings = jsonb_set(settings, '{review,autoClose}', 'true')`),
    ).toContainEqual(expect.stringMatching(/^fail accepted settings with their digests: 1 of 1 differ/));
    expect(await behind('alert', `update alert set is_true_match = true where alert_id = 1`)).toContainEqual(
      expect.stringMatching(/^fail states of alerts with their dispositions: 1 of 2 differ/),
    );
    const failed = (await check()).filter((line) => line.startsWith('fail'));
    // No digest covers who decided.
    expect(await behind('disposition', `update disposition set reviewer = 'somebody else'`)).toEqual(failed);
    await database.runScript('alter table disposition disable trigger user');
    expect(await check()).toContainEqual(
      expect.stringMatching(
        /^fail triggers that guard it are disabled: disposition.apply_disposition, disposition.judge_decided, disposition.refuse_rewriting/,
      ),
    );
  });
});
