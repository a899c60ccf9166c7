import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { LeaseLostError } from '../../../src/errors.js';
import { toFileRoster } from '../../../src/roster/settings.js';
import { runScreening } from '../../../src/runs/screening-run.js';
import { startSandbox } from '../../../src/sandbox/start-sandbox.js';
import { testDatabases } from '../../helpers/databases.js';
import { printFigure } from '../../helpers/figures.js';
import { makeAppContext, people, watchlist, writeRoster } from '../../helpers/small-world.js';

const databases = testDatabases('postgres');

it('an owner whose connection was ended in a transaction while it slept is told who has taken the run over', async () => {
  const sandbox = await startSandbox({ world: { watchlist, dossiers: [] } });
  const location = await databases.locate();
  const sleeper = await makeAppContext(await databases.open(location), sandbox, {
    rate: { perSecond: 50, concurrency: 1 },
  });
  const server = await databases.open(location);
  const takeOver = async (): Promise<number> => {
    const ended = await server.transaction(async (transaction) => {
      // Whatever the owner writes now waits in its transaction.
      await transaction.query(z.object({}), 'select lease_key from lease for update');
      await delay(500);
      const waiting = await transaction.query(
        z.object({ pid: z.number() }),
        `select pid from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null and wait_event_type = 'Lock'`,
      );
      await transaction.execute(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
      );
      await transaction.execute(
        `update lease set epoch = epoch + 1, owner = 'the heir', acquired_at = now(), heartbeat_at = now(),
           expires_at = now() + interval '1 minute'`,
      );
      return waiting.length;
    });
    return ended;
  };
  let taking: Promise<number> | undefined;
  sleeper.emit = (event) => {
    if (event.kind === 'progress' && event.stage === 'screen') taking ??= takeOver();
  };
  const roster = toFileRoster('people', await writeRoster(people));
  const options = { kind: 'rescreen', roster, selection: 'due', importFirst: true, writeReport: false } as const;
  try {
    const error = await runScreening(sleeper, options, new AbortController().signal).catch((error: unknown) => error);
    expect(await taking).toBeGreaterThan(0);
    expect(error).toBeInstanceOf(LeaseLostError);
    expect(error).toMatchObject({ message: expect.stringMatching(/was taken over by the heir since/) });
    const cause = error instanceof LeaseLostError && error.cause instanceof Error ? error.cause.name : '';
    printFigure(`an owner woken with its connection ended says: ${String(error)}, because of ${cause}`);
    expect(cause).toBe('DatabaseError');
  } finally {
    await sleeper.client().close();
    await sandbox.close();
  }
});
