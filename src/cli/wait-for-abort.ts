/** Resolves once the signal is aborted. */
export const waitForAbort = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) return resolve();
    // A pending promise alone does not keep the process alive.
    const keepAlive = setInterval(() => {}, 60_000);
    signal.addEventListener(
      'abort',
      () => {
        clearInterval(keepAlive);
        resolve();
      },
      { once: true },
    );
  });
