import { expect, it } from 'vitest';
import { z } from 'zod';
import { toAlertSeenVersion } from '../../src/runs/review/alerts.js';
import { decideAlerts } from '../../src/runs/review/decide.js';
import { findReviewer, requireAssignee } from '../../src/runs/review/people.js';
import type { Database } from '../../src/store/database/database.js';
import { migrate } from '../../src/store/database/migrate.js';
import { openDatabase } from '../../src/store/database/open-database.js';
import { sql } from '../../src/store/database/statement.js';
import { holdAlerts } from '../../src/store/review/decisions.js';
import type { DispositionVerdict } from '../../src/vocabulary.js';
import { runAsSuperuser, startPostgres } from '../helpers/database-servers.js';
import { toReviewerGrants } from '../helpers/databases.js';
import { isFullSize, makeSeededRandom, printFigure } from '../helpers/figures.js';
import { openSmallSites } from '../helpers/small-site.js';
import { listed, people } from '../helpers/small-world.js';

const races = isFullSize ? 1_000 : 100;
const reviewKey = Buffer.from('a key of the test');

/** What docs/review.md tells an operator to type, for two reviewers; a third has the rights without the role. */
const roles = `
  create role nightscreen_reviewer;
  create role ada login password 'ada' in role nightscreen_reviewer;
  create role boris login password 'boris' in role nightscreen_reviewer;
  create role eve login password 'eve'`;

it('races of two reviewers amid changing alerts lose nothing, and nobody decides in another name', async () => {
  // A server of its own: where the role of reviewers exists, only its members decide in any database.
  const server = await startPostgres();
  const owner = await openDatabase({ url: server.url }, 'tests');
  await migrate(owner);
  const site = await begin(owner);
  site.sandbox.setWorld({
    watchlist: people.map((name, index) => listed(`all${index}`, name)).concat(listed('c', 'Control Listed')),
    dossiers: [],
  });
  await site.run(await site.work());
  await runAsSuperuser(owner, roles);
  await owner.runScript(toReviewerGrants('nightscreen_reviewer', 'eve'));
  const [ada, boris, eve] = await Promise.all(
    ['ada', 'boris', 'eve'].map((login) => {
      const url = new URL(server.url);
      [url.username, url.password] = [login, login];
      return openDatabase({ url: url.href }, login);
    }),
  );
  if (!ada || !boris || !eve) throw new Error('no logins');
  try {
    await race(owner, [ada, boris]);
    await owner.execute(
      `with accepted as (
         insert into acceptance (kind, organisation_id, settings, digest, differences, accepted_by, is_attested, reason, accepted_at)
         select 'settings', 1, jsonb_set(settings, '{review,fourEyes}', '["critical", "high"]'), '', '{}', session_user, false, 'a test', now()
         from acceptance order by acceptance_id desc limit 1
         returning acceptance_id
       )
       update run set settings_id = acceptance_id from accepted`,
    );
    await raceForTwo(owner, [ada, boris]);
    expect(await requireAssignee(owner, 'ada', '--to')).toBe('ada');
    await expect(requireAssignee(ada, 'eve', '--to')).rejects.toThrow(/no login of this name is a member/);
    const alert = await decide(eve, { alertId: 1, verdict: 'inconclusive', by: 'eve' }).catch(String);
    expect(alert).toMatch(/not a member of the role nightscreen_reviewer/);
    const forged = await decide(ada, { alertId: 1, verdict: 'inconclusive', by: 'boris' }).catch(String);
    expect(forged).toMatch(/ada cannot decide in the name of boris/);
    await expect(ada.execute('update disposition set verdict = null')).rejects.toThrow(/permission denied/);
  } finally {
    await Promise.all([owner, ada, boris, eve].map((database) => database.close()));
    await server.stop();
  }
}, 300_000);

const begin = ((): ((database: Database) => ReturnType<ReturnType<typeof openSmallSites>>) => {
  let opened: Database | undefined;
  const openSite = openSmallSites(() => (opened ? Promise.resolve(opened) : Promise.reject(new Error('no database'))));
  return (database) => {
    opened = database;
    return openSite();
  };
})();

interface Attempt {
  alertId: number;
  verdict: DispositionVerdict;
  by: string;
}

/** Decides about an alert as it is now, or as it was when `seenVersion` was taken. */
const decide = (database: Database, { alertId, verdict, by }: Attempt, seenVersion?: string) =>
  database.transaction(async (transaction) => {
    const alert = (await holdAlerts(transaction, 1, [alertId])).get(alertId);
    const decision = { reason: 'a race', comment: null, origin: 'review', sheetId: null, expiresAt: null } as const;
    const seen = seenVersion ?? (alert ? toAlertSeenVersion(alert, reviewKey) : '');
    const reviewer = { name: by, isAttested: false };
    const review = { fourEyes: [], expiresAfterDays: {} };
    const [result] = await decideAlerts(
      transaction,
      { organisationId: 1, reviewKey, reviewer, now: new Date(), review },
      [{ ...decision, alertId, verdict, seenVersion: seen }],
    );
    return result;
  });

const readStamp = (database: Database, alertId: number): Promise<string> =>
  database.transaction(async (transaction) => {
    const alert = (await holdAlerts(transaction, 1, [alertId])).get(alertId);
    return alert ? toAlertSeenVersion(alert, reviewKey) : '';
  });

async function race(owner: Database, reviewers: readonly [Database, Database]): Promise<void> {
  const random = makeSeededRandom(1_961);
  const names = await Promise.all(reviewers.map(async (database) => (await findReviewer(database, undefined)).name));
  expect(names).toEqual(['ada', 'boris']);
  const tally: Record<string, number> = {};
  let decided = 0;
  for (let round = 0; round < races; round += 1) {
    const alertId = 1 + Math.floor(random() * people.length);
    const seenVersion = await readStamp(owner, alertId);
    // Both have the same list; now and then a night changes what is on it before they are done.
    const isChanged = random() < 0.2;
    const change = isChanged
      ? owner.execute(
          sql`with changed as (
             insert into listed_party (organisation_id, digest, match_id, name, schema, topics, birth_dates, countries)
             select organisation_id, sha256(convert_to(${`round.${round}`}, 'UTF8')), match_id, name, schema, array['sanction', ${`round.${round}`}], birth_dates, countries
             from alert join listed_party using (listed_id) where alert_id = ${alertId}
             returning listed_id
           )
           update alert set listed_id = changed.listed_id from changed where alert_id = ${alertId}`,
        )
      : Promise.resolve(0);
    const verdicts: readonly DispositionVerdict[] =
      random() < 0.5 ? ['true_match', 'false_positive'] : ['false_positive', 'true_match'];
    const [, ...results] = await Promise.all([
      change,
      ...reviewers.map((database, index) =>
        decide(database, { alertId, verdict: verdicts[index] ?? 'inconclusive', by: names[index] ?? '' }, seenVersion),
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
       (select count(*)::integer from alert
        where alert.disposition_id is distinct from (
          select max(disposition_id) from disposition where disposition.alert_id = alert.alert_id
        )) as astray`,
  );
  expect(stored).toEqual({ decisions: decided, astray: 0 });
  expect(Object.values(tally).reduce((sum, count) => sum + count, 0)).toBe(2 * races);
  printFigure(`${races} races of two reviewers: ${JSON.stringify(tally)}; ${decided} decisions stored, none lost`);
}

/** Both decide about the same alerts again and again, now and then each twice at once; where it takes two nobody ever decides alone. */
async function raceForTwo(owner: Database, reviewers: readonly [Database, Database]): Promise<void> {
  const random = makeSeededRandom(1_707);
  const names = ['ada', 'boris'] as const;
  const tally: Record<string, number> = {};
  const pick = (): DispositionVerdict => (random() < 0.5 ? 'false_positive' : 'true_match');
  for (let round = 0; round < races; round += 1) {
    const alertId = 1 + Math.floor(random() * people.length);
    const seenVersion = await readStamp(owner, alertId);
    const isAlone = random() < 0.3;
    const shared = pick();
    const attempts = [0, 1].map((turn) => {
      const who = isAlone ? 0 : turn;
      const verdict = random() < 0.5 ? shared : pick();
      // Now and then with the list from before, else as it is to be seen at that moment.
      const seen = random() < 0.5 ? seenVersion : undefined;
      return decide(reviewers[who === 0 ? 0 : 1], { alertId, verdict, by: names[who === 0 ? 0 : 1] }, seen);
    });
    for (const result of await Promise.all(attempts)) {
      const kind = result?.kind === 'refused' ? result.reason : (result?.kind ?? 'nothing');
      tally[kind] = (tally[kind] ?? 0) + 1;
    }
  }
  const [stored] = await owner.query(
    z.object({ proposed: z.number(), confirmed: z.number(), alone: z.number(), astray: z.number() }),
    `select (select count(*)::integer from disposition where kind = 'proposed') as proposed,
       (select count(*)::integer from disposition where kind = 'approved') as confirmed,
       (select count(*)::integer
        from disposition said
        left join disposition proposal on proposal.disposition_id = said.refers_to
        left join disposition_text confirmed on confirmed.disposition_id = said.disposition_id
        left join disposition_text proposed on proposed.disposition_id = proposal.disposition_id
        where said.disposition_id > (select min(disposition_id) from disposition where kind = 'proposed') and (
          -- One person restricts at once.
          said.kind = 'decided' and said.verdict <> 'true_match' or said.kind = 'approved' and (
            proposal.kind <> 'proposed' or proposal.reviewer = said.reviewer or proposal.verdict <> said.verdict
            or proposal.alert_id <> said.alert_id or proposed.seen is distinct from confirmed.seen
          )
        )) as alone,
       (select count(*)::integer from alert
        where alert.disposition_id is distinct from (
          select max(disposition_id) from disposition where disposition.alert_id = alert.alert_id
        )) as astray`,
  );
  expect(stored).toEqual({ proposed: tally['proposed'], confirmed: tally['approved'], alone: 0, astray: 0 });
  expect(stored?.confirmed).toBeGreaterThan(races / 20);
  expect(Object.values(tally).reduce((sum, count) => sum + count, 0)).toBe(2 * races);
  printFigure(`${races} races where it takes two: ${JSON.stringify(tally)}; nobody has decided alone`);
}
