/** The longest wait that is taken at its word, a year; nobody waits that long, but nothing goes out early either. */
export const maxRetryAfterMs = 365 * 24 * 3_600_000;

// Something on the way may have joined several headers into one (RFC 9110, 5.3); a date's own comma follows its weekday.
const joint = /(?<=\d|GMT)\s*,/;

const parseOne = (text: string, nowMs: number): number =>
  /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - nowMs;

/**
 * Milliseconds that a Retry-After header asks for (RFC 9110, 10.2.3), at most a year; undefined when it is absent, past or nonsense. Of
 * several the longest is obeyed.
 */
export const parseRetryAfter = (value: string | readonly string[] | undefined, nowMs: number): number | undefined => {
  const texts = [value ?? []].flat().flatMap((text) => text.split(joint));
  const delaysMs = texts.map((text) => parseOne(text.trim(), nowMs)).filter((delayMs) => delayMs >= 0);
  return delaysMs.length === 0 ? undefined : Math.min(Math.ceil(Math.max(...delaysMs)), maxRetryAfterMs);
};

const preferredForms = /^[A-Z][a-z]+, .+ GMT$/;
const ancientForm = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** The instant of an HTTP date in any of its three forms (RFC 9110, 5.6.7), in milliseconds; NaN for anything else. */
export const parseHttpDate = (text: string): number => {
  if (preferredForms.test(text)) return Date.parse(text);
  return ancientForm.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
};
