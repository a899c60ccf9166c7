import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RunSummary } from '../../src/runs/run-summary.js';
import type { LedgerEntry } from '../../src/sandbox/calls.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start-sandbox.js';
import type { SandboxWorld } from '../../src/sandbox/world.js';
import type { Database } from '../../src/store/database/database.js';
import { migrate } from '../../src/store/database/migrate.js';
import { type DatabaseLocation, openDatabase } from '../../src/store/database/open-database.js';
import { bundleProgram, type Program, quickStart } from '../helpers/cli-process.js';
import { createDatabaseSql, type PostgresServer, startPostgres } from '../helpers/database-servers.js';
import { makeSeededRandom } from '../helpers/figures.js';
import { listed, toCsv } from '../helpers/small-world.js';
import type { KillPoint } from './traps.js';

const consonants = 'bdfghjklmnprstvz';
const vowels = 'aeiou';

/** Two words of six letters drawn anew for each number, so that hardly any two of them are alike. */
export const toMemberName = (number: number): string => {
  const random = makeSeededRandom(number * 7_919 + 13);
  for (let warming = 0; warming < 4; warming += 1) random();
  const draw = (letters: string): string => letters.charAt(Math.floor(random() * letters.length));
  const toWord = (): string => {
    const word = Array.from({ length: 3 }, () => `${draw(consonants)}${draw(vowels)}`).join('');
    return `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
  };
  return `${toWord()}n ${toWord()}k`;
};

/** Control searches that pass on both nights. */
export const campaignControls = [
  { type: 'person', name: 'Control Listed', expect: 'match' },
  { type: 'person', name: 'Zzyzx Qwfpg', expect: 'none' },
] as const;

/** The service on the first night, where every twelfth is listed, or on the second, where others are and some entries have changed. */
export function makeMembersWorld(customers: number, night: 1 | 2): SandboxWorld {
  const isListed = (number: number): boolean =>
    night === 1 ? number % 12 === 0 : number % 12 === 0 ? number % 36 !== 0 : number % 36 === 5;
  const watchlist = Array.from({ length: customers }, (_, number) => number)
    .filter(isListed)
    .map((number) => {
      const topics = night === 2 && number % 24 === 0 ? ['sanction', 'role.pep'] : ['sanction'];
      return listed(`crowd${number}`, toMemberName(number), topics);
    });
  return { watchlist: [...watchlist, listed('control', 'Control Listed')], dossiers: [] };
}

/** Writes the roster of so many customers; gives its path. */
async function writeMembers(customers: number): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-crowd-')), 'crowd.csv');
  await writeFile(path, toCsv(Array.from({ length: customers }, (_, number) => toMemberName(number))));
  return path;
}

/** What one process of a campaign is to do. */
export interface LifeOrder {
  /** `report` makes the reports that the run before it left unwritten, `mail` sends what waits, as `outbox retry` does, `work` searches for runs. */
  task: 'screen' | 'report' | 'mail' | 'work';
  /** Whether workers make the searches. */
  isFleet?: boolean;
  location: DatabaseLocation;
  organisation?: string;
  service: { url: string; apiKey: string };
  roster: string;
  reports: string;
  rate: { perSecond: number; concurrency: number };
  /** Milliseconds beside the machine's clock. */
  offsetMs: number;
  /** How many times as fast as the machine's its clock runs. */
  haste?: number;
  /** How long the run waits for a service that is out of reach. */
  deadline?: string;
  /** Where mail is sent to, with the report attached; none is where it is left out. */
  smtpUrl?: string;
  /** Whether it tells of each search that it sends. */
  tellsSent?: boolean;
  /** Where it is to die by its own hand, when it comes there for the `occurrence`th time (from 1). */
  death?: { point: KillPoint; occurrence: number; delayMs: number };
}

/** What a process of a campaign tells: it has loaded everything, it has come to a stage, it has sent searches, it has ended. */
export type LifeMessage =
  | { kind: 'ready' }
  | { kind: 'stage'; stage: string; afterMs: number }
  | { kind: 'sent'; calls: Life['sent'] }
  | LifeEnd;

/** How a life ended by itself; `afterMs` counts from the order. */
type LifeEnd =
  | { kind: 'ended'; summary: RunSummary | null; afterMs: number }
  | { kind: 'failed'; error: string; message: string; afterMs: number };

/** How a life came to its end: what it told itself, or null when it was killed before it could. */
export interface Death {
  reported: LifeEnd | null;
  signal: NodeJS.Signals | null;
}

/** A process of a campaign that has its order. */
export interface Life {
  readonly process: ChildProcess;
  /** The searches that it has reported; times by the monotonic clock of the machine. */
  readonly sent: { origin: string; atMs: number }[];
  /** Resolves when the process is gone. */
  readonly death: Promise<Death>;
  /** Resolves with the milliseconds since the order when the life comes to a stage, or with null when it ends before. */
  reach(stage: string): Promise<number | null>;
}

/** Starts processes that have loaded everything and wait for their order: one is always kept ready ahead. */
export class Nursery {
  #script: Promise<Program> | undefined;
  #next: Promise<ChildProcess> | undefined;

  /** Gives a process its order. */
  async begin(order: LifeOrder): Promise<Life> {
    const child = await (this.#next ?? this.#raise());
    this.#next = this.#raise();
    this.#next.catch(() => undefined);
    return beginLife(child, order);
  }

  /** Gives so many processes orders at the same moment. */
  async beginAll(orders: readonly LifeOrder[]): Promise<readonly Life[]> {
    const children: ChildProcess[] = [];
    // A few at a time: loading is the heavy part.
    while (children.length < orders.length) {
      const few = Math.min(4, orders.length - children.length);
      children.push(...(await Promise.all(Array.from({ length: few }, () => this.#raise()))));
    }
    return orders.flatMap((order, index) => {
      const child = children[index];
      return child ? [beginLife(child, order)] : [];
    });
  }

  /** Ends the process that waits for an order that will not come. */
  async close(): Promise<void> {
    const child = await this.#next?.catch(() => undefined);
    child?.disconnect();
    await (await this.#script)?.remove();
  }

  async #raise(): Promise<ChildProcess> {
    this.#script ??= bundleProgram(new URL('./life.ts', import.meta.url));
    const { path } = await this.#script;
    const child = fork(path, { execArgv: quickStart, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    const [message]: (LifeMessage | number)[] = await Promise.race([once(child, 'message'), once(child, 'exit')]);
    if (typeof message !== 'object') throw new Error(`a process of the campaign did not start (exit ${message})`);
    return child;
  }
}

function beginLife(child: ChildProcess, order: LifeOrder): Life {
  const stages = new Map<string, number>();
  const waiting = new Set<() => void>();
  const sent: Life['sent'] = [];
  let reported: LifeEnd | null = null;
  let isOver = false;
  const wake = (): void => {
    for (const look of waiting) look();
  };
  child.on('message', (message: LifeMessage) => {
    if (message.kind === 'stage') stages.set(message.stage, message.afterMs);
    if (message.kind === 'sent') sent.push(...message.calls);
    if (message.kind === 'ended' || message.kind === 'failed') {
      reported = message;
      child.disconnect();
    }
    wake();
  });
  const death = new Promise<Death>((resolve) => {
    child.once('exit', (_code, signal) => {
      isOver = true;
      wake();
      resolve({ reported, signal });
    });
  });
  child.send(order);
  return {
    process: child,
    sent,
    death,
    reach: (stage) =>
      new Promise((resolve) => {
        const look = (): void => {
          const afterMs = stages.get(stage);
          if (afterMs === undefined && !isOver) return;
          waiting.delete(look);
          resolve(afterMs ?? null);
        };
        waiting.add(look);
        look();
      }),
  };
}

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
  campaignControls.some(({ name }) => name === searchName);

/** The second night's searches of customers. */
export const countCustomerCalls = (site: Site): number => site.calls().filter((call) => !isControl(call)).length;

const toFirst = (reports: string): string => `${reports}-first`;
/** The folder of the evidence beside those of the reports: all nights of a site have one. */
export const toEvidence = (reports: string): string => `${reports.replace(/-first$/, '')}-evidence`;
const isSearch = ({ path }: LedgerEntry): boolean => path === '/aml/search';

/** Makes a site over a new database; its processes come from `nursery`. */
export async function makeSite(nursery: Nursery, locate: Locate, size: SiteSize): Promise<Site> {
  const { customers, rate } = size;
  const sandbox = await startSandbox({ world: makeMembersWorld(customers, 1) });
  const location = await locate();
  const reports = await mkdtemp(join(tmpdir(), 'nightscreen-campaign-'));
  const roster = await writeMembers(customers);
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
      sandbox.setWorld(makeMembersWorld(customers, 2));
      first = sandbox.ledger().filter(isSearch).length;
    },
    calls: () => sandbox.ledger().filter(isSearch).slice(first),
    withDatabase: (work) => useDatabase(location, work),
    close: async () => {
      await sandbox.close();
      for (const folder of [reports, toFirst(reports), toEvidence(reports), dirname(roster)])
        await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Works on a database that no process of the campaign owns. */
export async function useDatabase<T>(location: DatabaseLocation, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase(location, 'campaign');
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Throws unless a life came to the end of a complete run. */
export function expectComplete({ reported, signal }: Death): void {
  if (reported?.kind === 'ended' && (reported.summary === null || reported.summary.state === 'complete')) return;
  const what = reported === null ? `it was ended by ${signal}` : JSON.stringify(reported);
  throw new Error(`a process of the campaign did not complete its run: ${what}`);
}

/** Lets a life go on to its end; throws unless its run is complete. */
export const finish = async (life: Promise<Life>): Promise<void> => expectComplete(await (await life).death);

/** Where a campaign gets its databases: each call of a `Locate` makes a new migrated, empty one. */
export interface Places {
  embedded: Locate;
  postgres: Locate;
  /** Stops the server of `postgres` at once; gives what starts it again. */
  crash: PostgresServer['crash'];
  close(): Promise<void>;
}

/** Starts a Postgres server. */
export async function openPlaces(): Promise<Places> {
  const server = await startPostgres();
  const folders: string[] = [];
  const makeDatabase = async (): Promise<string> => {
    const name = `campaign_${randomBytes(6).toString('hex')}`;
    const admin = await openDatabase({ url: server.superuserUrl }, 'campaign');
    await admin.execute(createDatabaseSql(name)).finally(() => admin.close());
    await migrateAt({ url: toDatabase(server.url, name) });
    return name;
  };
  return {
    embedded: async () => {
      const folder = await mkdtemp(join(tmpdir(), 'nightscreen-campaign-'));
      folders.push(folder);
      await migrateAt({ folder });
      return { folder };
    },
    postgres: async () => ({ url: toDatabase(server.url, await makeDatabase()) }),
    crash: server.crash,
    close: async () => {
      await server.stop();
      for (const folder of folders) await rm(folder, { recursive: true, force: true });
    },
  };
}

const toDatabase = (url: string, name: string): string => new URL(`/${name}`, url).href;

async function migrateAt(location: DatabaseLocation): Promise<void> {
  const database = await openDatabase(location, 'campaign');
  await migrate(database).finally(() => database.close());
}
