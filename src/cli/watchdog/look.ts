import type { Config } from '../../config/load-config.js';
import { ConfigError, NightscreenError, RunLockedError } from '../../errors.js';
import { exitCodes } from '../exit-code.js';
import type { Invocation, Outcome } from '../invocation.js';
import { loadInvocationConfig, withWorkplace } from '../session.js';
import { withPings } from '../with-pings.js';
import { findMissingMail } from '../workplace.js';
import { presentWatch } from './present-watch.js';
import { tellReachable, tellUnreachable } from './tell-unreachable.js';

/** Longer than this no night takes: whoever holds the embedded database for longer keeps everybody from looking. */
const longestNightMs = 12 * 3_600_000;

/**
 * Looks once and tells. What keeps it from looking is an alarm as well, except wrong settings, and a command that works in the embedded
 * database: those are refused (ConfigError, RunLockedError). It never says that all is well without having looked.
 */
export async function look(invocation: Invocation): Promise<Outcome> {
  const config = loadInvocationConfig(invocation);
  const complain = (message: string): void => invocation.terminal.writeMessage(`nightscreen: ${message}\n`);
  const problems = findMissingMail(config);
  if (problems.length > 0) throw new ConfigError(problems);
  return withPings(config, 'watchdog', complain, () => lookOrTell(invocation, config, complain), listLines);
}

async function lookOrTell(
  invocation: Invocation,
  config: Config,
  complain: (message: string) => void,
): Promise<Outcome> {
  const { watch } = await import('../../scheduling/watchdog/watch.js');
  const { jobs, scheduler, watchdog } = config.settings;
  try {
    const outcome = await withWorkplace(invocation, {
      command: 'watchdog',
      prepare: () => {},
      work: async (workplace) => presentWatch(await watch(workplace, { jobs, scheduler, watchdog })),
    });
    await tellReachable(config, complain);
    return outcome;
  } catch (error) {
    if (error instanceof ConfigError || isAtWork(error)) throw error;
    const reason = error instanceof NightscreenError ? error.message : `an unexpected error (${toName(error)})`;
    const since = await tellUnreachable(config, reason, complain);
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
