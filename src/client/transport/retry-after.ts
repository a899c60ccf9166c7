/** The longest wait that a service may ask for; anything above it is taken as this. */
export const maxRetryAfterMs = 3_600_000;

/** Milliseconds that a Retry-After header asks for, at most an hour; undefined when it is absent, past or nonsense. */
export const parseRetryAfter = (value: string | undefined, nowMs: number): number | undefined => {
  const text = value?.trim() ?? '';
  const delayMs = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - nowMs;
  return delayMs >= 0 ? Math.min(Math.ceil(delayMs), maxRetryAfterMs) : undefined;
};

/** The instant of an HTTP date in milliseconds; NaN for anything else. */
export const parseHttpDate = (text: string): number =>
  /^[A-Z][a-z]+, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
