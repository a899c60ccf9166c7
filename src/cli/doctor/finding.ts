/** One line of the doctor's report; `next` says what to do about a problem. */
export interface Finding {
  check: string;
  state: 'ok' | 'warn' | 'fail';
  message: string;
  next: string | null;
}

export const well = (check: string, message: string): Finding => ({ check, state: 'ok', message, next: null });

const toProblem =
  (state: Finding['state']) =>
  (check: string, message: string, next: string): Finding => ({ check, state, message, next });

export const doubtful = toProblem('warn');

export const wrong = toProblem('fail');
