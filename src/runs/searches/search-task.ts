import type { Client } from '../../client/create-client.js';
import type { CallOptions } from '../../client/operation.js';
import { type ScreeningOutcome, screen } from '../../screening/screen.js';
import type { SearchTask } from '../../store/screenings.js';
import type { CanaryRounds } from '../canaries/canary-rounds.js';
import { type AnnounceAttempt, type AttemptNote, recordAttempts } from '../ledger/record-attempts.js';
import type { OutageWatch } from '../outages/outage-watch.js';
import type { RunSession } from '../session/run-session.js';
import type { WatchedAccount } from '../watching/watched-account.js';
import type { BadAnswers } from './bad-answers.js';
import type { FinishedSearch } from './commit-screenings.js';
import type { SearchTally } from './search-tally.js';
import type { StopSignals } from './stop-signals.js';

/** What the searches of a run need. */
export interface SearchContext {
  session: RunSession;
  client: Client;
  account: WatchedAccount;
  outage: OutageWatch;
  announceAttempt: AnnounceAttempt;
  tally: SearchTally;
  canaries: CanaryRounds;
  signals: StopSignals;
  badAnswers: BadAnswers;
}

/** A search whose first attempt is announced. */
export interface AnnouncedTask {
  task: SearchTask;
  note: AttemptNote;
}

/** Makes one search, unless the run is stopping already, and tells how far the run has come. */
export async function searchTask(
  { session, client, outage, announceAttempt, tally, signals, badAnswers }: SearchContext,
  { task, note }: AnnouncedTask,
  options: Pick<CallOptions, 'isBudgeted'> = {},
): Promise<FinishedSearch> {
  const { workplace, runId } = session;
  const { observer, finish } = recordAttempts(note, () => announceAttempt(task.requestId));
  const request = { type: task.type, name: task.name };
  const { signal, waitSignal } = signals;
  const outcome = await screen(client.aml, request, { ...options, signal, waitSignal, observer });
  const attempts = await finish();
  tally.note(outcome, attempts.attempts.filter((attempt) => attempt.outcome !== 'not_sent').length);
  if (isAnswered(outcome)) outage.noteAnswer('aml.search');
  if (outcome.kind !== 'aborted') {
    const { done, total, calls, found } = tally;
    workplace.tell({ kind: 'progress', runId, stage: 'screen', done, total, calls, found });
  }
  return { task, attempts, outcome, isMadeAgain: badAnswers.note(task.requestId, outcome) };
}

/** Whether the service itself answered, whatever it said. */
const isAnswered = (outcome: ScreeningOutcome): boolean =>
  outcome.kind === 'screened' || outcome.kind === 'halted' || (outcome.kind === 'failed' && !outcome.isTransient);
