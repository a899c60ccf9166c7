import { readFile, writeFile } from 'node:fs/promises';
import { afterEach } from 'vitest';
import { z } from 'zod';
import { type RosterSettings, toFileRoster } from '../../src/roster/settings.js';
import type { AppContext, RunEvent } from '../../src/runs/app-context.js';
import { toAlertSeenVersion } from '../../src/runs/review/alerts.js';
import { type AlertDecision, decideAlerts } from '../../src/runs/review/decide.js';
import { findReviewer } from '../../src/runs/review/people.js';
import type { RunSummary } from '../../src/runs/run-summary.js';
import type { ScreeningOptions } from '../../src/runs/screening-request.js';
import { runScreening } from '../../src/runs/screening-run.js';
import { acceptSettings } from '../../src/runs/settings-acceptance.js';
import type { Acceptance } from '../../src/runs/settings-diff.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { SandboxWorld } from '../../src/sandbox/world.js';
import { type Database, readColumn } from '../../src/store/database/database.js';
import type { DatabaseLocation } from '../../src/store/database/open-database.js';
import { sql } from '../../src/store/database/statement.js';
import { readSettingsHistory } from '../../src/store/organisations.js';
import { holdAlerts } from '../../src/store/review/decisions.js';
import type { TestDatabases } from './databases.js';
import {
  type AppContextOptions,
  controls,
  fileOf,
  makeAppContext,
  people,
  type TestAppContext,
  watchlist,
  writeRoster,
} from './small-world.js';

/** Somebody's word, as the database demands it. */
export const makeAcceptance = async ({ database }: Pick<AppContext, 'database'>): Promise<Acceptance> => ({
  by: await findReviewer(database, database.dialect === 'embedded' ? 'T. Tester' : undefined),
  reason: 'the test wants it so',
});

/** Accepts the settings that a test has changed since its last run; the first run records its own. */
export async function acceptChanges(app: AppContext): Promise<void> {
  const records = await readSettingsHistory(app.database, app.settings.organisation);
  if (records.length > 0) await acceptSettings(app, await makeAcceptance(app));
}

/** A sandbox, an empty database and a small roster, with what it takes to run one over the other. */
export interface SmallSite {
  sandbox: Sandbox;
  database: Database;
  roster: RosterSettings;
  work(options?: AppContextOptions): Promise<TestAppContext>;
  /** A rescreening of who is due, unless said otherwise; settings that a test has changed are accepted first. */
  run(app: AppContext, options?: Partial<ScreeningOptions>, signal?: AbortSignal): Promise<RunSummary>;
}

type Closing = (() => Promise<void>)[];

/** What is to be closed after each test of a suite. */
function closeAfterEach(): Closing {
  const closing: Closing = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  return closing;
}

/** Gives a way to begin small sites in the tests of a suite; each is closed after its test. Call it where hooks may be registered. */
export function openSmallSites(open: () => Promise<Database>): (names?: readonly string[]) => Promise<SmallSite> {
  const closing = closeAfterEach();
  return async (names = people) => {
    const database = await open();
    return openSite({ database, roster: toFileRoster('people', await writeRoster(names)), closing });
  };
}

type Begin<Prepared> = () => Promise<SmallSite & { prepared: Prepared }>;

/** What a world begins with, other than usual. */
interface WorldFacts {
  names?: readonly string[];
  world?: SandboxWorld;
}

/**
 * Gives small sites that all begin as `prepare` leaves the first of them: each has a copy of its database, its roster as it was and a
 * sandbox of its own with `world`, of the same account. What `prepare` gives is in `prepared`. Call it where hooks may be registered.
 */
export const openPreparedSites = <Prepared>(
  databases: TestDatabases,
  prepare: (site: SmallSite) => Promise<Prepared>,
  facts: WorldFacts = {},
): Begin<Prepared> => copyWorld(databases, { ...facts, prepare, originals: new Map(), locate: databases.locate });

/** The same for a world that many suites begin with: each process of the tests plays it once, and suites open it by their databases. */
export function shareWorld<Prepared>(prepare: (site: SmallSite) => Promise<Prepared>, facts: WorldFacts = {}) {
  const originals: World<Prepared>['originals'] = new Map();
  return (databases: TestDatabases): Begin<Prepared> =>
    copyWorld(databases, { ...facts, prepare, originals, locate: databases.locateLasting });
}

interface World<Prepared> extends WorldFacts {
  prepare(site: SmallSite): Promise<Prepared>;
  locate: TestDatabases['locate'];
  originals: Map<Database['dialect'], Promise<Original<Prepared>>>;
}

/** A world that has been played, in a database that is closed. */
interface Original<Prepared> {
  location: DatabaseLocation;
  roster: RosterSettings;
  text: string;
  prepared: Prepared;
}

function copyWorld<Prepared>(databases: TestDatabases, facts: World<Prepared>): Begin<Prepared> {
  const { names = people, world, prepare, locate, originals } = facts;
  const closing = closeAfterEach();
  // The ports of the sandboxes differ, and an address that has changed is a change of settings.
  const same = { closing, world, baseUrl: 'http://sandbox.test/v1' };
  const makeOriginal = async (): Promise<Original<Prepared>> => {
    const location = await locate();
    const database = await databases.open(location);
    const roster = toFileRoster('people', await writeRoster(names));
    const prepared = await prepare(await openSite({ ...same, database, roster }));
    await database.close();
    return { location, roster, text: await readFile(fileOf(roster), 'utf8'), prepared };
  };
  return async () => {
    const original = originals.get(databases.dialect) ?? makeOriginal();
    originals.set(databases.dialect, original);
    const { location, roster, text, prepared } = await original;
    await writeFile(fileOf(roster), text);
    const database = await databases.openCopy(location);
    const site = await openSite({ ...same, database, roster });
    await database.execute(sql`update account set public_key = ${site.sandbox.publicKey}`);
    return { ...site, prepared };
  };
}

const dayMs = 24 * 60 * 60 * 1_000;
const nights = new Map<number, ReturnType<typeof shareWorld<RunSummary>>>();

/** Gives small sites after a complete first night so many days ago, with two open alerts; `prepared` is its summary. */
export function openSitesAfterNight(databases: TestDatabases, daysAgo = 1): Begin<RunSummary> {
  const night =
    nights.get(daysAgo) ?? shareWorld(async ({ work, run }) => run(await work({ offsetMs: -daysAgo * dayMs })));
  nights.set(daysAgo, night);
  return night(databases);
}

async function openSite({
  database,
  roster,
  closing,
  world = { watchlist, dossiers: [] },
  ...facts
}: {
  database: Database;
  roster: RosterSettings;
  closing: Closing;
  world?: SandboxWorld | undefined;
  baseUrl?: string;
}): Promise<SmallSite> {
  const sandbox = await startSandbox({ world });
  closing.push(() => sandbox.close());
  return {
    sandbox,
    database,
    roster,
    work: async (options = {}) => {
      const settings = { controls, rosters: [roster], ...options.settings };
      const app = await makeAppContext(database, sandbox, { ...facts, ...options, settings });
      closing.push(() => app.client().close());
      return app;
    },
    run: async (app, options = {}, signal = new AbortController().signal) => {
      await acceptChanges(app);
      return runScreening(
        app,
        { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: false, ...options },
        signal,
      );
    },
  };
}

/** The searches that have reached the service. */
export const listSearches = (sandbox: Sandbox) => sandbox.ledger().filter(({ path }) => path === '/aml/search');

/** How often the service was asked about a name. */
export const searched = (sandbox: Sandbox, name: string): number =>
  sandbox.ledger().filter((call) => call.searchName === name).length;

/** What keeps the codes of alerts that a test decides about. */
export const reviewKey = Buffer.from('a key of the test');
const alone = { fourEyes: [], expiresAfterDays: {} };

/** The alerts of a customer, by their numbers. */
export const findAlerts = (database: Database, reference: string): Promise<readonly number[]> =>
  readColumn(
    database,
    z.number(),
    sql`select alert_id as id from alert join party using (party_id) join customer using (customer_id)
     where reference = ${reference} order by alert_id`,
  );

/** Decides about alerts as somebody would who has just looked at them; the decision is stored once `before` is over. */
export async function decide(
  database: Database,
  alertIds: readonly number[],
  { now = new Date(), before, ...facts }: Partial<AlertDecision> & { now?: Date; before?: Promise<void> } = {},
) {
  const reviewer = await findReviewer(database, database.dialect === 'embedded' ? 'R. Reviewer' : undefined);
  return database.transaction(async (transaction) => {
    const alerts = await holdAlerts(transaction, 1, alertIds);
    const decisions = [...alerts.values()].map((alert): AlertDecision => {
      const seenVersion = toAlertSeenVersion(alert, reviewKey);
      const decision = {
        verdict: 'false_positive',
        reason: 'another birth date',
        comment: null,
        origin: 'review',
        sheetId: null,
      } as const;
      return { alertId: alert.alertId, ...decision, seenVersion, expiresAt: null, ...facts };
    });
    const context = { organisationId: 1, reviewKey, reviewer, now, review: alone };
    const results = await decideAlerts(transaction, context, decisions);
    await before;
    return results;
  });
}

/** So many names that nobody has and that no search takes for one another; always the same. */
export function makeOddNames(count: number): string[] {
  let state = 20261121;
  const pick = (choices: string): string => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return choices.charAt((state >>> 8) % choices.length);
  };
  const makeWord = (): string => {
    const syllables = Array.from({ length: 4 }, () => `${pick('bdfgklmnprstvz')}${pick('aeiou')}`);
    const word = `${syllables.join('')}${pick('lnrstx')}`;
    return word.charAt(0).toUpperCase() + word.slice(1);
  };
  return Array.from({ length: count }, () => `${makeWord()} ${makeWord()}`);
}

/** The same workplace, with somebody who hears each event as it is told. */
export const listenAlong = (app: TestAppContext, hear: (event: RunEvent) => void): TestAppContext => ({
  ...app,
  emit: (event) => {
    app.emit(event);
    hear(event);
  },
});
