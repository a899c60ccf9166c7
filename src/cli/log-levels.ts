import type { Logger } from 'pino';

const changingSignal = 'SIGUSR2';
const loudest = 'debug';
/** What a logger that is configured to say everything is turned down to. */
const usual = 'info';

/** The levels of this process's loggers, which a signal changes. */
export interface LogLevels {
  /** Takes a logger under its hand: while the signal says so it says everything, else what it was made to say. */
  attach(logger: Logger): void;
  detach(logger: Logger): void;
  stop(): void;
}

/** Turns each SIGUSR2 into more words (level debug), and the next one into as many as are configured (info where that is debug). */
export function listenForLogLevels(): LogLevels {
  const configured = new Map<Logger, string>();
  let isTurned = false;
  const choose = (level: string): string => {
    if (!isTurned) return level;
    return level === loudest ? usual : loudest;
  };
  const turn = (): void => {
    isTurned = !isTurned;
    for (const [logger, level] of configured) {
      logger.level = choose(level);
      logger.warn({ now: logger.level }, 'log_level');
    }
  };
  process.on(changingSignal, turn);
  return {
    attach: (logger) => {
      configured.set(logger, logger.level);
      logger.level = choose(logger.level);
    },
    detach: (logger) => {
      configured.delete(logger);
    },
    stop: () => {
      process.off(changingSignal, turn);
      configured.clear();
    },
  };
}
