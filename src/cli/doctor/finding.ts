/** One line of the doctor's report; `next` says what to do about a problem. */
export interface Finding {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  message: string;
  next: string | null;
}

/** A passed check. */
export const well = (check: string, message: string): Finding => ({ check, state: 'ok', message, next: null });

/** A warning. */
export const doubtful = (check: string, message: string, next: string): Finding => ({
  check,
  state: 'warn',
  message,
  next,
});

/** A failed check. */
export const wrong = (check: string, message: string, next: string): Finding => ({
  check,
  state: 'fail',
  message,
  next,
});
