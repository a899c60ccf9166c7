/** The sandbox's own clock: real time plus what it was moved ahead, so that cooldowns and expiry need no waiting. */
export interface SandboxClock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Moves the clock ahead and does what is due by then; throws when `ms` is negative or no number, since time never runs back. */
  advance(ms: number): void;
  /** Does `act` when the clock shows `atMs`. To `act` the clock shows that time, however late it comes. */
  at(atMs: number, act: () => void): void;
  /** Does what is due. */
  catchUp(): void;
  /** Forgets what was still to come. */
  stop(): void;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Creates a clock that shows the real time. */
export const createSandboxClock = (): SandboxClock => {
  let aheadMs = 0;
  let shownMs: number | undefined;
  let timer: NodeJS.Timeout | undefined;
  let agenda: { atMs: number; act: () => void }[] = [];

  const readMs = (): number => Date.now() + aheadMs;
  const setTimer = (): void => {
    clearTimeout(timer);
    const [next] = agenda;
    if (!next) return;
    timer = setTimeout(catchUp, Math.min(Math.max(next.atMs - readMs(), 0), LONGEST_TIMER_MS));
    timer.unref();
  };
  const catchUp = (): void => {
    // An act that is being done cannot start others.
    if (shownMs !== undefined) return;
    if (agenda[0] === undefined) return;
    try {
      for (let [next] = agenda; next && next.atMs <= readMs(); [next] = agenda) {
        agenda.shift();
        shownMs = next.atMs;
        next.act();
      }
    } finally {
      shownMs = undefined;
      setTimer();
    }
  };

  return {
    nowMs: () => shownMs ?? readMs(),
    advance: (ms) => {
      if (!(ms >= 0) || !Number.isFinite(ms)) throw new Error('the clock can only be moved ahead');
      aheadMs += ms;
      catchUp();
    },
    at: (atMs, act) => {
      const place = agenda.findLastIndex((earlier) => earlier.atMs <= atMs) + 1;
      agenda.splice(place, 0, { atMs, act });
      if (place === 0 && shownMs === undefined) setTimer();
    },
    catchUp,
    stop: () => {
      clearTimeout(timer);
      agenda = [];
    },
  };
};
