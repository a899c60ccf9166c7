/** Tells a listener of an event; what it throws is a warning of the process and disturbs nobody. */
export const tellSafely = <T extends { kind: string }>(listener: (event: T) => unknown, event: T): void => {
  // Without the error, whose text is not ours and may name a customer.
  const warn = (): void =>
    process.emitWarning(`a listener failed to hear of the event ${event.kind}`, {
      type: 'NightscreenWarning',
      code: 'listener_failed',
    });
  try {
    const heard = listener(event);
    // A function that waits fits the type too, and an unheard rejection ends the process.
    if (heard instanceof Promise) heard.catch(warn);
  } catch {
    warn();
  }
};
