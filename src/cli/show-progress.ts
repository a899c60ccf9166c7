import { formatCount } from '../reports/format-count.js';
import type { RunEvent } from '../runs/run-event.js';
import { describeCounts } from './describe-counts.js';
import { describeServiceEvent } from './describe-service-event.js';
import type { Terminal } from './terminal.js';

const redrawMs = 100;
const clearLine = '\r\u001b[2K';

const dim = (text: string, terminal: Terminal): string => (terminal.hasColours ? `\u001b[2m${text}\u001b[22m` : text);
const yellow = (text: string, terminal: Terminal): string =>
  terminal.hasColours ? `\u001b[33m${text}\u001b[39m` : text;

/** Tells run events to a person: one line for each finished stage, and on a screen a line in between that counts along. */
export function showProgress(terminal: Terminal, indent = ''): (event: RunEvent) => void {
  let isDrawn = false;
  let drawnAt = 0;
  const draw = (text: string): void => {
    if (!terminal.isScreen || Date.now() - drawnAt < redrawMs) return;
    terminal.writeMessage(`${clearLine}${dim(text, terminal)}`);
    isDrawn = true;
    drawnAt = Date.now();
  };
  const say = (text: string): void => {
    terminal.writeMessage(`${isDrawn ? clearLine : ''}${text}\n`);
    isDrawn = false;
  };
  return (event) => {
    switch (event.kind) {
      case 'run_started':
        if (event.resumed) say(`${indent}run ${event.runId} goes on`);
        return;
      case 'stage_started':
        return draw(`${indent}${event.stage.padEnd(9)} ...`);
      case 'progress': {
        const total = event.total === null ? '' : ` of ${formatCount(event.total)}`;
        return draw(`${indent}${event.stage.padEnd(9)} ${formatCount(event.done)}${total}`);
      }
      case 'stage_finished':
        return say(`${indent}${event.stage.padEnd(9)} ${describeCounts(event.counts)}`);
      case 'service': {
        const text = describeServiceEvent(event.event);
        return text === null ? undefined : say(`${indent}${yellow('service', terminal)}   ${text}`);
      }
      case 'warning':
        return say(`${indent}${yellow('warning', terminal)}   ${event.message}`);
      case 'run_finished':
        if (event.state === 'complete') return;
        return say(`${indent}${yellow(event.state, terminal)}  ${event.reasons.join('; ')}`);
    }
  };
}
