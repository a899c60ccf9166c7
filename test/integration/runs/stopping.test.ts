import { expect, it } from 'vitest';
import { describeOnEachDatabase, readRows } from '../../helpers/databases.js';
import { listenAlong, openSmallSites, type SmallSite } from '../../helpers/small-site.js';
import type { TestAppContext } from '../../helpers/small-world.js';

const readStates = ({ database }: SmallSite) =>
  readRows(database, 'select reference, state from customer_screening_status order by reference');
const countRecorded = async ({ database }: SmallSite) =>
  (await readRows(database, 'select from customer_state_change')).length;

/** Stops a run by signal after its first answer; before that `whenSearching` may change what the database says of it. */
async function stopAmid({ run }: SmallSite, app: TestAppContext, whenSearching = async () => undefined) {
  const stopping = new AbortController();
  const stopped = listenAlong(app, (event) => {
    if (event.kind === 'stage_started' && event.stage === 'screen') {
      void whenSearching().then(() => stopping.abort(new Error('asked to stop')));
    }
  });
  return run(stopped, {}, stopping.signal).catch((error: unknown) => error);
}

describeOnEachDatabase('a run that is stopped by signal', (open) => {
  const begin = openSmallSites(open);
  const slow = { rate: { perSecond: 20, concurrency: 1 } };

  it('records no states, and when it is resumed ends as a run that was never stopped', async () => {
    const [stopped, whole] = [await begin(), await begin()];
    expect(await stopAmid(stopped, await stopped.work(slow))).toMatchObject({ state: 'stopped', exitCode: 4 });
    expect(await countRecorded(stopped)).toBe(0);
    const resumed = await stopped.run(await stopped.work());
    const undisturbed = await whole.run(await whole.work());
    expect(resumed).toMatchObject({ state: undisturbed.state });
    expect(await readStates(stopped)).toEqual(await readStates(whole));
    expect(await countRecorded(stopped)).toEqual(await countRecorded(whole));
  });

  it('is added up at its resumption where it has very many customers', async () => {
    const site = await begin();
    const { database } = site;
    const error = await stopAmid(site, await site.work(slow), async () => {
      await database.execute('update run set in_scope = in_scope + 1000000');
      return undefined;
    });
    expect(error).toMatchObject({ code: 'signal' });
    expect(await readRows(database, 'select state, sums from run')).toEqual([{ state: 'stopped', sums: null }]);
    await database.execute('update run set in_scope = in_scope - 1000000');
    const resumed = await site.run(await site.work());
    expect(resumed).toMatchObject({ state: 'complete', exitCode: 0 });
    expect(resumed.counts).toMatchObject({ planned: 6, remaining: 0 });
  });
});
