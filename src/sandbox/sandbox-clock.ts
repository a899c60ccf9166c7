/** The sandbox's own clock: real time plus what it was moved ahead, so that cooldowns and expiry need no waiting. */
export interface SandboxClock {
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** Moves the clock ahead; throws when `ms` is negative or no number, since time never runs back. */
  advance(ms: number): void;
}

/** Creates a clock that shows the real time. */
export const createSandboxClock = (): SandboxClock => {
  let aheadMs = 0;
  return {
    nowMs: () => Date.now() + aheadMs,
    advance: (ms) => {
      if (!(ms >= 0) || !Number.isFinite(ms)) throw new Error('the clock can only be moved ahead');
      aheadMs += ms;
    },
  };
};
