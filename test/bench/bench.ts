import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { collect } from '../helpers/cli-process.js';
import { createDatabaseSql, type PostgresServer, startPostgres } from '../helpers/database-servers.js';
import { apiKey, BareClient, concurrency, fullRate, measureCalls, type Stub, startStub } from './bare.js';

/** What a bench found: `ratio` is what is measured over what it is measured by, `goal` the least that is good enough, or the most where the bench says so. */
export interface BenchResult {
  bench: string;
  ratio: number;
  goal: number;
  ok: boolean;
  samples: readonly object[];
}

/** How much a bench does. */
export interface BenchOrder {
  /** Tells people what it finds, in whole lines. */
  emit: (line: string) => void;
  /** Customers of each roster, ascending. */
  sizes: readonly number[];
  /** How often each size is measured; sides alternate. */
  rounds: number;
  /** What it measures on; `all` benches share one. */
  ground: Ground;
  /** Whether it is the small form, which shows only that the bench works. */
  isQuick: boolean;
}

/** One bench: measures and gives the figures. */
export type Bench = (order: BenchOrder) => Promise<BenchResult>;

/** The middle of the values; of an even number of values the mean of the two in the middle, of none NaN. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[sorted.length / 2 - 1] ?? Number.NaN)) / 2;
}

/** Minimum, median and maximum in one line. */
export function describeSpread(values: readonly number[], digits = 2): string {
  return [Math.min(...values), median(values), Math.max(...values)].map((value) => value.toFixed(digits)).join(' / ');
}

/** The power of the size with which the time grows, from the smallest size to the largest; null with one size. */
export function computeExponent(samples: readonly { customers: number; seconds: number }[]): number | null {
  const sizes = [...new Set(samples.map(({ customers }) => customers))].toSorted((one, other) => one - other);
  const [least, most] = [sizes[0] ?? 0, sizes.at(-1) ?? 0];
  if (sizes.length < 2) return null;
  const at = (size: number): number =>
    median(samples.filter(({ customers }) => customers === size).map(({ seconds }) => seconds));
  return Math.log(at(most) / at(least)) / Math.log(most / least);
}

/** Where the customers of a site are stored. */
export type Dialect = 'postgres' | 'embedded';

/** A command of the built package that came to its end. */
export interface CommandFigures {
  /** From its start to its exit. */
  seconds: number;
  /** Of all its threads. */
  cpuSeconds: number;
  /** The most memory that it held. */
  peakBytes: number;
  stdout: string;
  stderr: string;
}

const cli = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
const lookEveryMs = 20;
const ticksPerSecond = 100;

/** What Linux counts of a process: CPU time and the most memory, each as of a moment before its end. */
async function watchProcess({ pid, exitCode }: ChildProcess, figures: CommandFigures): Promise<void> {
  if (process.platform !== 'linux' || exitCode !== null) return;
  const [stat, status] = await Promise.all(
    ['stat', 'status'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8').catch(() => '')),
  );
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status ?? '') ?? [];
  // The name in brackets may hold spaces; the fields after it count from 3.
  const fields = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ');
  if (kilobytes === undefined || fields.length < 13) return;
  figures.peakBytes = Number(kilobytes) * 1_024;
  figures.cpuSeconds = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Runs a command of the built package to its end; throws its words when it ends with another exit code than 0. */
async function runCommand(
  words: readonly string[],
  folder: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandFigures> {
  const env = { PATH: process.env['PATH'] ?? '', ...environment };
  const figures: CommandFigures = { seconds: 0, cpuSeconds: 0, peakBytes: 0, stdout: '', stderr: '' };
  const begunMs = performance.now();
  const child = spawn(process.execPath, [cli, ...words], { cwd: folder, env });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const closed = once(child, 'close');
  const looking = new AbortController();
  const look = async (): Promise<void> => {
    while (!looking.signal.aborted) {
      await watchProcess(child, figures);
      await delay(lookEveryMs);
    }
  };
  const looked = look();
  const [exitCode]: (number | null)[] = await closed;
  figures.seconds = (performance.now() - begunMs) / 1_000;
  looking.abort();
  await looked;
  const said = { stdout: stdout.text(), stderr: stderr.text() };
  if (exitCode !== 0)
    throw new Error(`nightscreen ${words.join(' ')} ended with ${exitCode}: ${said.stderr.slice(-2_000)}`);
  return { ...figures, ...said };
}

/** A whole `nightscreen rescreen`. */
export interface Night {
  customers: number;
  seconds: number;
  cpuSeconds: number;
  peakBytes: number;
  /** Seconds by stage, and `close`: from the end of the stage before it to the end of the run. */
  stages: Readonly<Record<string, number>>;
}

/** The seconds of each stage by the program's own log. */
function readStages(log: string): Record<string, number> {
  const stages: Record<string, number> = {};
  let [beganMs, endedMs] = [0, 0];
  for (const line of log.split('\n')) {
    const [, time, message] = /"time":"([^"]+)".*"msg":"([a-z_]+)"/.exec(line) ?? [];
    const [, stage = ''] = /"stage":"([a-z_]+)"/.exec(line) ?? [];
    const atMs = Date.parse(time ?? '');
    if (message === 'stage_started') beganMs = atMs;
    if (message === 'stage_finished') {
      stages[stage] = (atMs - beganMs) / 1_000;
      endedMs = atMs;
    }
    if (message === 'run_finished') stages['close'] = (atMs - endedMs) / 1_000;
  }
  return stages;
}

/** A roster with a database and a configuration of its own. */
export class Site {
  readonly folder: string;
  readonly customers: number;
  /** Its database on the server; null where it is embedded. */
  readonly database: string | null;
  readonly #environment: Readonly<Record<string, string>>;

  constructor(
    { folder, customers, database }: Pick<Site, 'folder' | 'customers' | 'database'>,
    environment: Readonly<Record<string, string>>,
  ) {
    this.folder = folder;
    this.customers = customers;
    this.database = database;
    this.#environment = environment;
  }

  run(words: readonly string[]): Promise<CommandFigures> {
    return runCommand(words, this.folder, this.#environment);
  }

  /** Writes the report of the latest night; gives the seconds of its stages. */
  async report(into: string): Promise<Readonly<Record<string, number>>> {
    return readStages((await this.run(['report', '--json', '--out', into])).stderr);
  }

  /** Imports, screens everybody, and reports. */
  async rescreen(): Promise<Night> {
    const { stdout, stderr, ...figures } = await this.run(['rescreen', '--json']);
    const [, screened] = /"screened":(\d+)/.exec(stdout) ?? [];
    if (Number(screened) !== this.customers)
      throw new Error(`${screened} of ${this.customers} were screened: ${stdout}`);
    return { customers: this.customers, ...figures, stages: readStages(stderr) };
  }
}

/** What benches of whole commands run against: a durable Postgres server, the stub, a bare loop, and folders that are removed in the end. */
export class Ground {
  readonly stub: Stub;
  readonly bare: BareClient;
  readonly #postgres: PostgresServer;
  readonly #folder: string;
  #databases = 0;

  private constructor(stub: Stub, postgres: PostgresServer, folder: string) {
    this.stub = stub;
    this.bare = new BareClient(stub.url);
    this.#postgres = postgres;
    this.#folder = folder;
  }

  /** Lends a ground to `work`. */
  static async use<T>(work: (ground: Ground) => Promise<T>): Promise<T> {
    const stub = await startStub();
    const ground = new Ground(
      stub,
      await startPostgres({ isDurable: true }),
      await mkdtemp(join(tmpdir(), 'nightscreen-bench-')),
    );
    try {
      return await work(ground);
    } finally {
      stub.close();
      await ground.bare.close();
      await ground.#postgres.stop();
      await rm(ground.#folder, { recursive: true, force: true });
    }
  }

  /** Makes a roster whose customers are all due in each night; `service` is the stub unless another one is given. */
  async openSite(
    dialect: Dialect,
    customers: number,
    { perSecond = fullRate, windows = 1, service = { url: this.stub.url, privateKey: apiKey } } = {},
  ): Promise<Site> {
    const folder = await mkdtemp(join(this.#folder, 'site-'));
    await pipeline(Readable.from(listRows(customers)), createWriteStream(join(folder, 'roster.csv')));
    const database = dialect === 'postgres' ? await this.createDatabase() : null;
    const url = database === null ? {} : { DATABASE_URL: this.toUrl(database) };
    const site = new Site(
      { folder, customers, database },
      { NIGHTSCREEN_API_KEY: service.privateKey, NIGHTSCREEN_BASE_URL: service.url, ...url },
    );
    await writeFile(
      join(folder, 'nightscreen.config.yaml'),
      `service: { rate: { perSecond: ${perSecond}, concurrency: ${concurrency} } }
screening: { cadenceHours: 0.0001 }
evidence: { details: { maxPerRun: 0 } }
sweep: { windows: ${windows} }
rosters: [{ name: bench, csv: { path: ./roster.csv } }]
`,
    );
    return site;
  }

  /** Creates an empty database; gives its name. */
  async createDatabase(): Promise<string> {
    this.#databases += 1;
    const name = `bench_${this.#databases}`;
    await this.query(createDatabaseSql(name));
    return name;
  }

  /** Removes a site with its database. */
  async closeSite({ folder, database }: Site): Promise<void> {
    if (database !== null) await this.query(`drop database ${database} with (force)`);
    await rm(folder, { recursive: true, force: true });
  }

  /** Queries the server of all sites that are on Postgres: a database of theirs by its owner, or else as the superuser. */
  async query<Row extends pg.QueryResultRow>(text: string, database?: string): Promise<Row[]> {
    const connectionString = database === undefined ? this.#postgres.superuserUrl : this.toUrl(database);
    const client = new pg.Client({ connectionString });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Searches per second of the bare validated loop over as many names. */
  async measureBare(searches: number): Promise<number> {
    const { perSecond } = await measureCalls(searches, (number) => this.bare.search(toName(number)));
    return perSecond;
  }

  /** The URL of one of the server's databases. */
  toUrl(database: string): string {
    return new URL(`/${database}`, this.#postgres.url).href;
  }
}

const toName = (number: number): string => `Customer Number ${number}`;

function* listRows(customers: number): Generator<string> {
  yield 'customer_id,type,name\n';
  for (let number = 0; number < customers; number += 1) yield `C-${number},person,${toName(number)}\n`;
}
