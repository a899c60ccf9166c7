import { subscribe } from 'node:diagnostics_channel';
import type { AttemptObserver } from '../../src/client/operation.js';
import type { Database } from '../../src/store/database/database.js';
import { findStatementPoint } from './kill-points.js';
import type { LifeOrder } from './life-order.js';
import { prepareSuddenDeath, type SuddenDeath } from './sudden-death.js';
import { watchDatabase } from './watch-database.js';

/** What a life works with so that it dies where it was told to. */
export interface Trap {
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
