import { expect, it } from 'vitest';
import { z } from 'zod';
import type { DispositionVerdict } from '../../src/matches/review/disposition.js';
import { decideItems } from '../../src/runs/reviewing/decide-items.js';
import { findReviewer } from '../../src/runs/reviewing/find-reviewer.js';
import { toItemStamp } from '../../src/runs/reviewing/item-stamp.js';
import type { Database } from '../../src/store/database.js';
import { holdItems } from '../../src/store/decidable-items.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/open-database.js';
import { makeSeededRandom } from '../campaign/seeded-random.js';
import { testDatabases } from '../helpers/databases.js';
import { printFigure } from '../helpers/print-figure.js';
import { openSmallSites } from '../helpers/small-site.js';
import { listed, people } from '../helpers/small-world.js';

const races = 1_000;
const digestKey = Buffer.from('a key of the test');
const databases = testDatabases('postgres');

/** What docs/review.md tells an operator to type, for two reviewers. */
const roles = `
  create role nightscreen_reviewer;
  create role ada login password 'ada' in role nightscreen_reviewer;
  create role boris login password 'boris' in role nightscreen_reviewer;
  create role eve login password 'eve';
  grant select on all tables in schema public to nightscreen_reviewer, eve;
  grant insert on disposition, review_sheet to nightscreen_reviewer, eve;
  grant update on review_item, party_state to nightscreen_reviewer, eve;`;

it('1,000 races of two reviewers amid changing items lose nothing, and nobody decides in another name', async () => {
  const location: DatabaseLocation = await databases.locate();
  const server = 'url' in location ? location.url : undefined;
  if (server === undefined) throw new Error('no server');
  const owner = await databases.open(location);
  const site = await begin(owner);
  site.sandbox.setWorld({
    watchlist: people.map((name, index) => listed(`all${index}`, name)).concat(listed('c', 'Canary Listed')),
    dossiers: [],
  });
  await site.run(await site.work());
  await owner.runScript(roles);
  const [ada, boris, eve] = await Promise.all(
    ['ada', 'boris', 'eve'].map((login) => {
      const url = new URL(server);
      [url.username, url.password] = [login, login];
      return openDatabase({ url: url.href }, login);
    }),
  );
  if (!ada || !boris || !eve) throw new Error('no logins');
  try {
    await race(owner, [ada, boris]);
    const item = await decide(eve, { itemId: 1, verdict: 'false_positive', by: 'eve' }).catch(String);
    expect(item).toMatch(/not a member of the role nightscreen_reviewer/);
    const forged = await decide(ada, { itemId: 1, verdict: 'true_match', by: 'boris' }).catch(String);
    expect(forged).toMatch(/ada cannot decide in the name of boris/);
    await expect(ada.execute('update disposition set verdict = null')).rejects.toThrow(/permission denied/);
  } finally {
    await Promise.all([ada, boris, eve].map((database) => database.close()));
    await owner.runScript(
      'drop owned by nightscreen_reviewer, ada, boris, eve; drop role ada; drop role boris; drop role eve; drop role nightscreen_reviewer',
    );
  }
}, 120_000);

const begin = ((): ((database: Database) => ReturnType<ReturnType<typeof openSmallSites>>) => {
  let opened: Database | undefined;
  const openSite = openSmallSites(() => (opened ? Promise.resolve(opened) : Promise.reject(new Error('no database'))));
  return (database) => {
    opened = database;
    return openSite();
  };
})();

interface Attempt {
  itemId: number;
  verdict: DispositionVerdict;
  by: string;
}

/** Decides about an item as it is now, or as it was when `stamp` was taken. */
const decide = (database: Database, { itemId, verdict, by }: Attempt, stamp?: string) =>
  database.transaction(async (transaction) => {
    const item = (await holdItems(transaction, [itemId])).get(itemId);
    const decision = { reason: 'a race', comment: null, origin: 'review', sheetId: null, expiresAt: null } as const;
    const seen = stamp ?? (item ? toItemStamp(item, digestKey) : '');
    const reviewer = { name: by, isAttested: false };
    const [result] = await decideItems(transaction, { digestKey, reviewer, now: new Date() }, [
      { ...decision, itemId, verdict, stamp: seen },
    ]);
    return result;
  });

const readStamp = (database: Database, itemId: number): Promise<string> =>
  database.transaction(async (transaction) => {
    const item = (await holdItems(transaction, [itemId])).get(itemId);
    return item ? toItemStamp(item, digestKey) : '';
  });

async function race(owner: Database, reviewers: readonly [Database, Database]): Promise<void> {
  const random = makeSeededRandom(1_961);
  const names = await Promise.all(reviewers.map(async (database) => (await findReviewer(database, undefined)).name));
  expect(names).toEqual(['ada', 'boris']);
  const tally: Record<string, number> = {};
  let decided = 0;
  for (let round = 0; round < races; round += 1) {
    const itemId = 1 + Math.floor(random() * people.length);
    const stamp = await readStamp(owner, itemId);
    // Both have the same list; now and then a night changes what is on it before they are done.
    const isChanged = random() < 0.2;
    const change = isChanged
      ? owner.execute(
          `update review_item set listed = jsonb_set(listed, '{topics}', to_jsonb(array['sanction', 'round.${round}'])) where item_id = $1`,
          [itemId],
        )
      : Promise.resolve(0);
    const verdicts: readonly DispositionVerdict[] =
      random() < 0.5 ? ['true_match', 'false_positive'] : ['false_positive', 'true_match'];
    const [, ...results] = await Promise.all([
      change,
      ...reviewers.map((database, index) =>
        decide(database, { itemId, verdict: verdicts[index] ?? 'inconclusive', by: names[index] ?? '' }, stamp),
      ),
    ]);
    const kinds = results.map((result) => (result?.kind === 'refused' ? result.reason : (result?.kind ?? 'nothing')));
    const winners = kinds.filter((kind) => kind === 'decided').length;
    decided += winners;
    expect(winners).toBeLessThanOrEqual(1);
    // Only what changed under their hands, or a decision that stands already, leaves both without one.
    if (!isChanged && !kinds.includes('same_already')) expect(winners).toBe(1);
    for (const kind of kinds) tally[kind] = (tally[kind] ?? 0) + 1;
  }
  const [stored] = await owner.query(
    z.object({ decisions: z.number(), astray: z.number() }),
    `select (select count(*)::integer from disposition) as decisions,
       (select count(*)::integer from review_item item
        where item.disposition_id is distinct from (
          select max(disposition_id) from disposition where disposition.item_id = item.item_id
        )) as astray`,
  );
  expect(stored).toEqual({ decisions: decided, astray: 0 });
  expect(Object.values(tally).reduce((sum, count) => sum + count, 0)).toBe(2 * races);
  printFigure(`${races} races of two reviewers: ${JSON.stringify(tally)}; ${decided} decisions stored, none lost`);
}
