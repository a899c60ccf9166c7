import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LedgerEntry } from '../../src/sandbox/ledger.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { Database } from '../../src/store/database/database.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';
import { campaignCanaries, makeCrowdWorld, writeCrowd } from './crowd.js';
import type { LifeOrder } from './life-order.js';
import type { Death, Life, Nursery } from './start-life.js';

const dayMs = 24 * 60 * 60 * 1_000;

/** Where the databases of a trial come from. */
export type Locate = () => Promise<DatabaseLocation>;

/** How large a site is and how fast it asks. */
export interface SiteSize {
  customers: number;
  rate: { perSecond: number; concurrency: number };
}

/** A service of its own, a database and a roster; its first night is over once `playFirstNight` is. */
export interface Site {
  readonly location: DatabaseLocation;
  readonly sandbox: Sandbox;
  readonly customers: number;
  readonly concurrency: number;
  readonly reports: string;
  /** When the second night began. */
  readonly since: Date;
  toOrder(others?: Partial<LifeOrder>): LifeOrder;
  playFirstNight(): Promise<void>;
  /** The searches of the second night, control searches included. */
  calls(): readonly LedgerEntry[];
  /** Works on the site's database while no process of the campaign owns it. */
  withDatabase<T>(work: (database: Database) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Whether a search is one of the controls. */
export const isControl = ({ searchName }: LedgerEntry): boolean =>
  campaignCanaries.some(({ name }) => name === searchName);

/** The second night's searches of customers. */
export const countCustomerCalls = (site: Site): number => site.calls().filter((call) => !isControl(call)).length;

const toFirst = (reports: string): string => `${reports}-first`;
const isSearch = ({ path }: LedgerEntry): boolean => path === '/aml/search';

/** Makes a site over a new database; its processes come from `nursery`. */
export async function makeSite(nursery: Nursery, locate: Locate, size: SiteSize): Promise<Site> {
  const { customers, rate } = size;
  const sandbox = await startSandbox({ world: makeCrowdWorld(customers, 1) });
  const location = await locate();
  const reports = await mkdtemp(join(tmpdir(), 'nightscreen-campaign-'));
  const roster = await writeCrowd(customers);
  let first = 0;
  const toOrder: Site['toOrder'] = (others = {}) => ({
    task: 'screen',
    location,
    service: { url: sandbox.url, apiKey: sandbox.privateKey },
    roster,
    reports,
    rate,
    offsetMs: 0,
    ...others,
  });
  return {
    location,
    sandbox,
    customers,
    concurrency: rate.concurrency,
    reports,
    since: new Date(),
    toOrder,
    playFirstNight: async () => {
      const fast = { perSecond: 5_000, concurrency: 16 };
      const life = await nursery.begin(toOrder({ offsetMs: -dayMs, rate: fast, reports: toFirst(reports) }));
      expectComplete(await life.death);
      sandbox.setWorld(makeCrowdWorld(customers, 2));
      first = sandbox.ledger().filter(isSearch).length;
    },
    calls: () => sandbox.ledger().filter(isSearch).slice(first),
    withDatabase: async (work) => {
      const database = await openDatabase(location, 'campaign');
      try {
        return await work(database);
      } finally {
        await database.close();
      }
    },
    close: async () => {
      await sandbox.close();
      for (const folder of [reports, toFirst(reports), dirname(roster)])
        await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Throws unless a life came to the end of a complete run. */
export function expectComplete({ told, signal }: Death): void {
  if (told?.kind === 'ended' && (told.summary === null || told.summary.state === 'complete')) return;
  const what = told === null ? `it was ended by ${signal}` : JSON.stringify(told);
  throw new Error(`a process of the campaign did not complete its run: ${what}`);
}

/** Lets a life go on to its end; throws unless its run is complete. */
export const finish = async (life: Promise<Life>): Promise<void> => expectComplete(await (await life).death);
