import {
  ApiError,
  ConfigError,
  NightscreenError,
  NotStartedError,
  ReportError,
  RosterError,
  RunLockedError,
} from '../../errors.js';
import type { Failure } from '../../mail/build-failure.js';
import { RunHalted } from '../session/run-halted.js';

/** Work that ended in an error. */
export interface FailedWork {
  /** What was to be done, as `rescreen`. */
  task: string;
  /** Null for what concerns every roster. */
  roster: string | null;
  error: unknown;
  /** What the work was to stop for. */
  signal?: AbortSignal | undefined;
}

const refusals = [ConfigError, RosterError, RunLockedError, ApiError, RunHalted, NotStartedError];
const lookUp = 'See the runs and their states: nightscreen runs list';

/** What went wrong in words; of an error that was not meant to happen only its kind, for nobody knows what else it says. */
export function describeFailure(work: FailedWork): Pick<Failure, 'outcome' | 'reason' | 'actions'> {
  const { error } = work;
  if (isStopped(work)) return describeStop(work);
  const reason =
    error instanceof NightscreenError
      ? error.message
      : `an unexpected error (${error instanceof Error ? error.name : 'unknown'}); the log says more`;
  const isRefusal = refusals.some((type) => error instanceof type);
  return {
    outcome: isRefusal ? 'did not run' : error instanceof ReportError ? 'has no report' : 'failed',
    reason,
    actions: [lookUp, 'Check settings, key and service: nightscreen doctor'],
  };
}

/** Whether it ended because somebody asked it to, which is no fault. */
const isStopped = ({ error, signal }: FailedWork): boolean =>
  signal?.aborted === true && (error === signal.reason || (error instanceof Error && error.name === 'AbortError'));

/** Told all the same: whoever was to be screened was not, and nothing else says so. */
function describeStop({ task, signal }: FailedWork): Pick<Failure, 'outcome' | 'reason' | 'actions'> {
  const reason: unknown = signal?.reason;
  const stopped = reason instanceof NightscreenError ? reason.message : 'stopped on request';
  const came =
    task === 'rescreen' || task === 'onboard'
      ? 'before its first search: it has screened nobody, and no report will tell of it'
      : 'before it was done';
  return {
    outcome: 'was stopped',
    reason: `${stopped} ${came}`,
    actions: [
      lookUp,
      ...(task === 'rescreen' ? ['Go on with it, unless it is begun again by itself: nightscreen rescreen'] : []),
    ],
  };
}
