import type { Config } from '../../config/load-config.js';
import { ConfigError, NightscreenError, RunLockedError } from '../../errors.js';
import type { Workplace } from '../../runs/workplace.js';
import { exitCodes } from '../exit-code.js';
import type { Invocation, Outcome } from '../invocation.js';
import { loadInvocationConfig, withWorkplace } from '../session.js';
import { withPings } from '../with-pings.js';
import { findMissingMail } from '../workplace.js';
import { goByDatabaseClock } from './go-by-database-clock.js';
import { presentWatch } from './present-watch.js';
import { tellReachable, tellUnreachable } from './tell-unreachable.js';
import { withinLimit } from './within-limit.js';

/** Longer than this no night takes: whoever holds the embedded database for longer keeps everybody from looking. */
const longestNightMs = 12 * 3_600_000;

/** A database on a server that has not said by then how things are does not answer. */
const longestLookMs = 5 * 60_000;

/**
 * Looks once and tells. What keeps it from looking is an alarm as well, except wrong settings, and a command that works in the embedded
 * database: those are refused (ConfigError, RunLockedError). It never says that all is well without having looked. A database on a server
 * has `limitMs` to answer.
 */
export async function look(invocation: Invocation, limitMs = longestLookMs): Promise<Outcome> {
  const config = loadInvocationConfig(invocation);
  const complain = (message: string): void => invocation.notify({ level: 'warn', code: 'not_told', message });
  const problems = findMissingMail(config);
  if (problems.length > 0) throw new ConfigError(problems);
  const listener = { complain, signal: invocation.signal };
  return withPings(
    config,
    'watchdog',
    listener,
    () => lookOrTell(invocation, config, { complain, limitMs }),
    listLines,
  );
}

async function lookOrTell(
  invocation: Invocation,
  config: Config,
  { complain, limitMs }: { complain: (message: string) => void; limitMs: number },
): Promise<Outcome> {
  const { watch } = await import('../../scheduling/watchdog/watch.js');
  const { signal } = invocation;
  const { jobs, scheduler, watchdog } = config.settings;
  const lookInto = async (opened: Workplace, noteLooked: () => void): Promise<Outcome> => {
    const workplace = await goByDatabaseClock(opened);
    return presentWatch(await watch(workplace, { jobs, scheduler, watchdog }, { signal, noteLooked }));
  };
  const open = (noteLooked: () => void): Promise<Outcome> =>
    withWorkplace(invocation, {
      command: 'watchdog',
      queryTimeoutMs: limitMs,
      // An empty one of its own would have nothing to tell, on a host that was given no DATABASE_URL above all.
      needsDatabase: true,
      prepare: () => {},
      work: (opened) => lookInto(opened, noteLooked),
    });
  try {
    // The embedded database is waited for while jobs work in it, and answers by this process.
    const isEmbedded = config.secret('DATABASE_URL') === undefined;
    const outcome = isEmbedded ? await open(() => {}) : await withinLimit(limitMs, signal, open);
    await tellReachable(config, { complain, signal });
    return outcome;
  } catch (error) {
    if (error instanceof ConfigError || isAtWork(error) || signal.aborted) throw error;
    const reason = error instanceof NightscreenError ? error.message : `an unexpected error (${toName(error)})`;
    const since = await tellUnreachable(config, reason, { complain, signal });
    return {
      exitCode: exitCodes.incomplete,
      document: {
        schema: 'nightscreen/watchdog/1',
        at: new Date().toISOString(),
        isAlarm: true,
        canLook: false,
        reason,
        since: since.toISOString(),
      },
      text: `ALARM  the watchdog cannot look: ${reason}\n       -> nightscreen doctor\n1 alarm: nothing could be watched\n`,
    };
  }
}

const toName = (error: unknown): string => (error instanceof Error ? error.name : 'unknown');

const isAtWork = (error: unknown): boolean =>
  error instanceof RunLockedError && (error.heldMs === null || error.heldMs < longestNightMs);

const listLines = ({ exitCode, text }: Outcome) => ({ exitCode, lines: text.trimEnd().split('\n') });
