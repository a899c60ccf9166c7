import type { ClientEvent } from '../client/client-event.js';
import { systemClock } from '../clock.js';
import { toVisibleText } from '../reports/text.js';
import type { RunEvent } from '../runs/workplace.js';
import { describeCounts } from './describe-counts.js';
import { describeProgress } from './describe-progress.js';
import { ProgressMeter } from './progress-meter.js';
import type { Teller } from './teller.js';
import type { Terminal } from './terminal.js';

const redrawMs = 100;
// Waiting is also progress: its seconds count on while nothing happens.
const idleRedrawMs = 1_000;
const clearLine = '\r\u001b[2K';

const occasionWords = {
  start: 'before the first search',
  resumed: 'before going on',
  periodic: 'in between',
  control: 'after trouble',
  end: 'after the last search',
} as const;

const dim = (text: string, terminal: Terminal): string => (terminal.hasColours ? `\u001b[2m${text}\u001b[22m` : text);
const yellow = (text: string, terminal: Terminal): string =>
  terminal.hasColours ? `\u001b[33m${text}\u001b[39m` : text;

/**
 * Tells run events to a person: one line for each finished stage, and on a screen a line in between that is redrawn and cut to the
 * screen's width.
 */
export function showProgress(terminal: Terminal, perSecond: number, indent = ''): Teller {
  const meter = new ProgressMeter(perSecond, systemClock.elapsedMs);
  let isDrawn = false;
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  const draw = (everyMs: number): void => {
    const nowMs = systemClock.elapsedMs();
    if (!terminal.isScreen || nowMs - drawnAtMs < everyMs) return;
    const { figures } = meter;
    if (figures === null) return;
    // A line as wide as the screen would wrap, and the next redraw would leave it standing.
    const text = describeProgress(figures, terminal.columns - indent.length - 1);
    terminal.writeMessage(`${clearLine}${indent}${dim(toVisibleText(text), terminal)}`, true);
    isDrawn = true;
    drawnAtMs = nowMs;
  };
  const erase = (): void => {
    if (isDrawn) terminal.writeMessage(clearLine, true);
    isDrawn = false;
  };
  const say = (head: string, rest: string): void => {
    erase();
    terminal.writeMessage(`${indent}${head}${toVisibleText(rest)}\n`, true);
  };
  const timer = setInterval(() => draw(idleRedrawMs), idleRedrawMs).unref();
  const tell = (event: RunEvent): void => {
    meter.note(event);
    switch (event.kind) {
      case 'run_started':
        if (event.resumed) say('', `run ${event.runId} goes on`);
        break;
      case 'progress':
        draw(redrawMs);
        break;
      case 'stage_started':
      case 'database_wait':
        draw(0);
        break;
      case 'stage_finished':
        say(
          '',
          `${event.stage.padEnd(9)} ${describeCounts(chooseCounts(event))}${event.occasion ? ` (${occasionWords[event.occasion]})` : ''}`,
        );
        break;
      case 'service': {
        const text = describeServiceEvent(event.event);
        if (text !== null) say(yellow('service', terminal), `   ${text}`);
        break;
      }
      case 'warning':
        say(yellow('warning', terminal), `   ${event.message}`);
        break;
      case 'run_finished':
        if (event.state !== 'complete') say(yellow(event.state, terminal), `  ${event.reasons.join('; ')}`);
    }
  };
  return {
    tell,
    close: () => {
      clearInterval(timer);
      erase();
    },
  };
}

const countedAlways: ReadonlySet<string> = new Set(['rows', 'customers', 'rejected', 'duplicates']);

/** Of the many things that an import counts, only those that occurred. */
function chooseCounts({ stage, counts }: Extract<RunEvent, { kind: 'stage_finished' }>): typeof counts {
  if (stage !== 'import') return counts;
  return Object.fromEntries(Object.entries(counts).filter(([name, count]) => countedAlways.has(name) || count !== 0));
}

const shortestToldMs = 5_000;

const inSeconds = (ms: number): string => `${Math.max(1, Math.round(ms / 1_000))} s`;

/** What the client met, in words for whoever watches the run; null for what is of no interest there. */
function describeServiceEvent(event: ClientEvent): string | null {
  switch (event.kind) {
    case 'outage_began':
      return `out of reach (${event.operation}); it is asked again in ${inSeconds(event.probeInMs)} and then at least every 20 s, nothing is lost`;
    case 'outage_ended':
      return `there again after ${inSeconds(event.lastedMs)} (${event.operation})`;
    case 'paused':
      return event.pauseMs < shortestToldMs ? null : `asks for a pause of ${inSeconds(event.pauseMs)}`;
    case 'rate_lowered':
      return null;
    case 'key_renewed':
      return `the key was refused and read again; the new one has the fingerprint ${event.fingerprint}`;
    case 'no_public_key':
      return `the account has no public key, so that the private key is a ${event.isTest ? 'test' : 'live'} one is taken from service.mode or its prefix`;
  }
}
