/** One line of the doctor's report; `next` says what to do where something is not well. */
export interface Finding {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  message: string;
  next: string | null;
}

/** A finding that all is well. */
export const well = (check: string, message: string): Finding => ({ check, state: 'ok', message, next: null });

/** A finding that something may be wrong. */
export const doubtful = (check: string, message: string, next: string): Finding => {
  return { check, state: 'warn', message, next };
};

/** A finding that something is wrong. */
export const wrong = (check: string, message: string, next: string): Finding => {
  return { check, state: 'fail', message, next };
};
