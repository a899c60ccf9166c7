const heard = new WeakMap<AbortSignal, { callbacks: Set<() => void>; listener: () => void }>();

/**
 * Calls `callback` once when the signal is aborted, which must not have happened yet; gives a way to let go. However many ask, a signal has
 * one listener: adding one looks through all that are there, which a hundred thousand waiting callers would notice.
 */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  const known = heard.get(signal) ?? listenTo(signal);
  // A wrapper, so that one function that asks twice is called twice.
  const entry = (): void => callback();
  known.callbacks.add(entry);
  return () => {
    known.callbacks.delete(entry);
    if (known.callbacks.size > 0 || heard.get(signal) !== known) return;
    heard.delete(signal);
    signal.removeEventListener('abort', known.listener);
  };
};

const listenTo = (signal: AbortSignal): { callbacks: Set<() => void>; listener: () => void } => {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    heard.delete(signal);
    for (const callback of callbacks) callback();
  };
  const known = { callbacks, listener };
  heard.set(signal, known);
  signal.addEventListener('abort', listener, { once: true });
  return known;
};
