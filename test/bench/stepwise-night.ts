import { toFileRoster } from '../../src/roster/settings.js';
import { runImport } from '../../src/runs/import/import-run.js';
import { openImportedRoster } from '../../src/runs/roster-scope.js';
import type { RunSummary } from '../../src/runs/run-summary.js';
import { finishScreening } from '../../src/runs/screening/close.js';
import { commitScreenings } from '../../src/runs/screening/commit.js';
import { planScreenings } from '../../src/runs/screening/plan.js';
import { batchLimits } from '../../src/runs/screening/screen-tasks.js';
import { withLease, withRun } from '../../src/runs/session.js';
import type { Database } from '../../src/store/database/database.js';
import { noteInFlight } from '../../src/store/ledger.js';
import { ensureAccount } from '../../src/store/organisations.js';
import { setRunAccount, setRunStage } from '../../src/store/runs.js';
import { readSearchTasks } from '../../src/store/screenings.js';
import { makeAppContext } from '../helpers/small-world.js';
import { answerSearch } from './made-answers.js';
import { storeScreenings } from './store-screenings.js';

/** Whether changes are found, stored and made items of, or answers only stored. */
export type NightKind = 'judged' | 'stored';

/** Does one step of a night, when it is its turn, and times it. */
export type TimeStep = <T>(step: string, work: () => Promise<T>) => Promise<T>;

const dayMs = 24 * 60 * 60 * 1_000;
const isOn = new AbortController().signal;
const nowhere = { url: 'http://127.0.0.1:9', privateKey: 'private_test_nobody' };

/** A whole run, except that answers are made here and not asked for: plan, work list, ledger, saving in batches, closing; each a step. */
export async function playNight(
  database: Database,
  rosterPath: string,
  { kind, night, step }: { kind: NightKind; night: number; step: TimeStep },
): Promise<RunSummary> {
  const made = await makeAppContext(database, nowhere, { offsetMs: night * dayMs });
  const app = { ...made, emit: () => undefined };
  const roster = toFileRoster('bench', rosterPath);
  try {
    if (night === 0) await step('import', () => runImport(app, roster, isOn));
    const scope = await openImportedRoster(app, roster.name);
    const { organisationId } = scope.organisation;
    const identity = { publicKey: 'public_bench', isTest: true, baseUrl: nowhere.url };
    const { accountId } = await ensureAccount(database, organisationId, identity, app.clock.now());
    const request = { ...scope, kind: 'screen', mode: 'test', selection: 'due' } as const;
    const account = { accountId, isTest: true, listCap: null };
    const commit = kind === 'judged' ? commitScreenings : storeScreenings;
    return await withLease(app, scope.leaseKey, isOn, (held) =>
      withRun(app, held, request, async (session) => {
        const { runId } = session.run;
        await session.write((transaction) => setRunAccount(transaction, runId, accountId));
        await step('plan', () => planScreenings(session, { rosterId: scope.rosterId, accountId, selection: 'due' }));
        const chunks = readSearchTasks(database, runId, batchLimits.maxItems / 2);
        for (;;) {
          const chunk = await step('work list', () => chunks.next());
          if (chunk.done) break;
          const now = app.clock.now();
          const ids = chunk.value.map(({ requestId }) => requestId);
          const noted = await step('ledger', () =>
            session.write((transaction) => noteInFlight(transaction, runId, ids, now)),
          );
          const finished = chunk.value.map((task) => answerSearch(task, noted.get(task.requestId) ?? 0, night, now));
          await step('save', () => commit(session, account, finished));
        }
        await session.write((transaction) => setRunStage(transaction, runId, 'screened'));
        return step('close', () => finishScreening(session, null, { isReported: false }));
      }),
    );
  } finally {
    await app.client().close();
  }
}
