import type { RunEvent } from '../../src/runs/workplace.js';
import type { TestWorkplace } from './workplace.js';

/** The same workplace, with somebody who hears each event as it is told. */
export const listenAlong = (workplace: TestWorkplace, hear: (event: RunEvent) => void): TestWorkplace => ({
  ...workplace,
  tell: (event) => {
    workplace.tell(event);
    hear(event);
  },
});
