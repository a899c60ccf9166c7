import { subscribe } from 'node:diagnostics_channel';
import { Worker } from 'node:worker_threads';
import type { AttemptObserver } from '../../src/client/operation.js';
import type { Database, Queryable, Transaction } from '../../src/store/database/database.js';
import type { Sql } from '../../src/store/database/statement.js';
import type { LifeOrder } from './site.js';

/** When, in a transaction or beside it, something is about to happen. */
type Moment = 'before_commit' | 'in_commit' | 'after_commit' | 'before_statement';

/** A statement of the run by a mark of its SQL, and the moment beside it at which the process is to die. */
interface StatementPoint {
  mark: RegExp;
  moment: Moment;
}

/**
 * The points of a run that are met in the database, in the order of the flow. In a takeover and in a closing, the point is met before each
 * statement of the transaction that applies the answers.
 */
const statementPoints = {
  in_import: { mark: /(?:insert into|copy) roster_staging /, moment: 'before_commit' },
  in_merge: { mark: /insert into roster_import /, moment: 'before_commit' },
  after_import: { mark: /insert into roster_import /, moment: 'after_commit' },
  in_planning: { mark: /insert into planned \(/, moment: 'before_commit' },
  in_planning_commit: { mark: /insert into planned \(/, moment: 'in_commit' },
  in_controls: { mark: /insert into control_outcome /, moment: 'before_commit' },
  in_intent_commit: { mark: /insert into call \(/, moment: 'in_commit' },
  before_commit: { mark: /insert into batch /, moment: 'before_commit' },
  in_commit: { mark: /insert into batch /, moment: 'in_commit' },
  after_commit: { mark: /insert into batch /, moment: 'after_commit' },
  in_finishing: { mark: /^update run set .* sums = /, moment: 'before_commit' },
  in_finishing_commit: { mark: /^update run set .* sums = /, moment: 'in_commit' },
  after_finishing: { mark: /^update run set .* sums = /, moment: 'after_commit' },
  in_reporting: { mark: /^insert into report /, moment: 'after_commit' },
  after_report_files: { mark: /^update report set manifest_sha256 = /, moment: 'before_statement' },
  before_sending: { mark: /^insert into outbox .* on conflict /, moment: 'after_commit' },
  in_claim: { mark: /^with free as /, moment: 'in_commit' },
  in_chunk_end: { mark: /^update chunk set lease_key = null/, moment: 'in_commit' },
  in_takeover: { mark: /^update call set outcome = 'unknown' /, moment: 'before_statement' },
  in_closing: { mark: /^select applied_wave as applied, /, moment: 'before_statement' },
  before_noting_sent: { mark: /^update outbox set attempts = attempts \|\|/, moment: 'before_statement' },
} as const satisfies Record<string, StatementPoint>;

/** The points of a call that are met on the wire: nothing sent yet, sent, headers back, answer read and nothing stored. */
const callPoints = ['before_call', 'in_call', 'in_answer', 'after_answer'] as const;

/** A named point at which a process is to die. */
export type KillPoint = keyof typeof statementPoints | (typeof callPoints)[number];

const isStatementPoint = (point: string): point is keyof typeof statementPoints =>
  Object.hasOwn(statementPoints, point);

/** The statement that a point is met at, or undefined for a point on the wire. */
const findStatementPoint = (point: KillPoint): StatementPoint | undefined =>
  isStatementPoint(point) ? statementPoints[point] : undefined;

/** Whether the database is in the middle of a commit at a point, or about to begin one. */
export const isInDatabase = (point: KillPoint): boolean => {
  const moment = findStatementPoint(point)?.moment;
  return moment === 'before_commit' || moment === 'in_commit';
};

/** Points of a run before it is over, in the order of the flow. */
export const pointsOfRun: readonly KillPoint[] = [
  'in_import',
  'in_merge',
  'after_import',
  'in_planning',
  'in_planning_commit',
  'in_controls',
  'in_intent_commit',
  ...callPoints,
  'before_commit',
  'in_commit',
  'after_commit',
  'in_finishing',
];

/** Points of a worker, in the order of the flow. */
export const pointsOfWorker: readonly KillPoint[] = [
  'in_claim',
  'in_intent_commit',
  ...callPoints,
  'before_commit',
  'in_commit',
  'after_commit',
  'in_chunk_end',
];

/** Points after which the run itself may be over, so that only its report has to be made again. */
export const pointsOfReport: readonly KillPoint[] = ['in_finishing_commit', 'in_reporting', 'after_report_files'];

// Beside the main thread, which may be deep inside a commit of the embedded database when its time comes.
const executioner = `
  const { workerData, parentPort } = require('node:worker_threads');
  const word = new Int32Array(workerData);
  parentPort.postMessage('ready');
  Atomics.wait(word, 0, 0);
  Atomics.wait(word, 1, 0, Atomics.load(word, 0) / 1000);
  process.kill(process.pid, 'SIGKILL');
`;

/** A way to end this process as kill -9 does: at once, or so many milliseconds later whatever the main thread does meanwhile. */
interface SuddenDeath {
  now(): void;
  after(delayMs: number): void;
}

/** Prepares the end of this process. */
async function prepareSuddenDeath(): Promise<SuddenDeath> {
  const shared = new SharedArrayBuffer(8);
  const word = new Int32Array(shared);
  const worker = new Worker(executioner, { eval: true, workerData: shared });
  await new Promise((resolve) => worker.once('message', resolve));
  worker.unref();
  return {
    now: () => void process.kill(process.pid, 'SIGKILL'),
    after: (delayMs) => {
      Atomics.store(word, 0, Math.max(1, Math.round(delayMs * 1_000)));
      Atomics.notify(word, 0);
    },
  };
}

/** Is told that something is about to happen, with the statements of the transaction so far, white space made one blank. */
type Watcher = (moment: Moment, statements: readonly string[]) => void;

const tidy = (statement: string | Sql): string =>
  (typeof statement === 'string' ? statement : statement.text).trim().replaceAll(/\s+/g, ' ');

/** The same object, but for the methods given. */
const override = <T extends object>(target: T, methods: Partial<T>): T =>
  new Proxy(target, {
    get: (_target, key) => {
      const own: unknown = Reflect.get(methods, key);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });

const watchStatements = <T extends Queryable>(target: T, note: (sql: string) => void): Partial<Queryable> => ({
  query: (row, statement) => {
    note(tidy(statement));
    return target.query(row, statement);
  },
  execute: (statement) => {
    note(tidy(statement));
    return target.execute(statement);
  },
});

const watchTransaction = (target: Transaction, note: (sql: string) => void): Partial<Transaction> => ({
  ...watchStatements(target, note),
});

/** A database that does the same and tells `watch` before statements and around commits. */
function watchDatabase(database: Database, watch: Watcher): Database {
  const transaction: Database['transaction'] = async (work, options) => {
    const statements: string[] = [];
    const result = await database.transaction(async (inner: Transaction) => {
      const watched = override<Transaction>(
        inner,
        watchTransaction(inner, (sql) => {
          statements.push(sql);
          watch('before_statement', statements);
        }),
      );
      const result = await work(watched);
      watch('before_commit', statements);
      watch('in_commit', statements);
      return result;
    }, options);
    watch('after_commit', statements);
    return result;
  };
  const alone = watchStatements(database, (sql) => watch('before_statement', [sql]));
  return override<Database>(database, { ...alone, transaction });
}

/** What a life works with so that it dies where it was told to. */
interface Trap {
  watch(database: Database): Database;
  observer: AttemptObserver;
}

const harmless: Trap = { watch: (database) => database, observer: {} };

// What undici tells of a request: made, its headers written to a socket, the answer's headers read.
const channels = {
  before_call: 'undici:request:create',
  in_call: 'undici:client:sendHeaders',
  in_answer: 'undici:request:headers',
} as const;

/** Sets the trap that an order asks for; without one nothing dies. */
export async function setTrap({ death }: LifeOrder): Promise<Trap> {
  if (!death) return harmless;
  const end = await prepareSuddenDeath();
  const strike = countDown(death, end);
  const statement = findStatementPoint(death.point);
  if (statement) {
    return {
      ...harmless,
      watch: (database) =>
        watchDatabase(database, (moment, statements) => {
          if (moment === statement.moment && statements.some((sql) => statement.mark.test(sql))) strike();
        }),
    };
  }
  if (death.point === 'after_answer') {
    return {
      ...harmless,
      observer: { ended: ({ operation }) => void (operation === 'aml.search' && strike()) },
    };
  }
  for (const [point, channel] of Object.entries(channels)) {
    if (point === death.point) {
      subscribe(channel, (message) => {
        if (JSON.stringify(message, ['request', 'path']).includes('/aml/search')) strike();
      });
    }
  }
  return harmless;
}

function countDown({ point, occurrence, delayMs }: NonNullable<LifeOrder['death']>, end: SuddenDeath): () => void {
  let left = occurrence;
  return () => {
    left -= 1;
    if (left !== 0) return;
    // In a commit the process must go on into it.
    if (findStatementPoint(point)?.moment === 'in_commit') end.after(delayMs);
    else end.now();
  };
}
