import type { Config } from '../config/load-config.js';

const turns = new Map<string, Promise<unknown>>();

/** Does work with the embedded database after all other such work of this process: its folder is opened once at a time. Postgres takes all at once. */
export async function inTurn<Result>({ settings, secret }: Config, work: () => Promise<Result>): Promise<Result> {
  if (secret('DATABASE_URL') !== undefined) return work();
  const { folder } = settings.database;
  const before = turns.get(folder) ?? Promise.resolve();
  const turn = before.then(work, work);
  turns.set(folder, turn);
  return turn;
}
