import type { Database, Queryable, Transaction } from '../../src/store/database/database.js';
import type { Moment } from './kill-points.js';

/** Is told that something is about to happen, with the statements of the transaction so far, white space made one blank. */
export type Watcher = (moment: Moment, statements: readonly string[]) => void;

const tidy = (sql: string): string => sql.trim().replaceAll(/\s+/g, ' ');

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
  query: (row, sql, parameters) => {
    note(tidy(sql));
    return target.query(row, sql, parameters);
  },
  execute: (sql, parameters) => {
    note(tidy(sql));
    return target.execute(sql, parameters);
  },
});

const watchTransaction = (target: Transaction, note: (sql: string) => void): Partial<Transaction> => ({
  ...watchStatements(target, note),
  ...(target.copyIn && {
    copyIn: (sql, rows) => {
      note(tidy(sql));
      return target.copyIn?.(sql, rows) ?? Promise.resolve(0);
    },
  }),
});

/** A database that does the same and tells `watch` before statements and around commits. */
export function watchDatabase(database: Database, watch: Watcher): Database {
  const transaction: Database['transaction'] = async (work, options) => {
    const statements: string[] = [];
    const result = await database.transaction(async (inner: Transaction) => {
      const watched = override<Transaction>(
        inner,
        watchTransaction(inner, (sql) => {
          statements.push(sql);
          watch('before_statement', [sql]);
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
