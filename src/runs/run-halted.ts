import { NightscreenError } from '../errors.js';

/** A run that has to stop early and can be resumed; the message says why, for the verdict line. */
export class RunHalted extends NightscreenError {
  constructor(code: 'account' | 'outage' | 'max_searches' | 'signal', message: string, cause?: unknown) {
    super(code, message, cause === undefined ? {} : { cause });
  }
}
