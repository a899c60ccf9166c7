import { countNoun, formatCount } from '../reports/text.js';
import type { ProgressFigures, Wait } from './progress-meter.js';

/** A span in words that stay short: `45 s`, `12 min`, `3 h 20 min`, `5 d 2 h`. */
export function describeSpan(seconds: number): string {
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

function describeWait(wait: Wait): string {
  switch (wait.kind) {
    case 'outage':
      return `service out of reach for ${describeSpan(wait.seconds)}`;
    case 'pause':
      return `pause, ${describeSpan(wait.seconds)} more`;
    case 'database':
      return `waits for the database for ${describeSpan(wait.seconds)}`;
    case 'rate':
      return 'waits for the rate';
    case 'answers':
      return 'waits for answers';
  }
}

/** One line about how far a run has come, what matters most first; what goes beyond `width` is left out. */
export function describeProgress(figures: ProgressFigures, width: number): string {
  const { stage, done, total, callsPerSecond, limitPerSecond, rowsPerSecond, waitingFor, found, secondsLeft } = figures;
  const parts = [
    `${stage.padEnd(9)} ${done === 0 && total === null ? '...' : formatCount(done)}${total === null ? '' : ` of ${formatCount(total)}`}`,
    ...(rowsPerSecond === null ? [] : [`${formatCount(rowsPerSecond)} rows per s`]),
    ...(callsPerSecond === null ? [] : [`${callsPerSecond.toFixed(1)}/${limitPerSecond} per s`]),
    ...(secondsLeft === null ? [] : [`${describeSpan(secondsLeft)} left`]),
    ...(found === null ? [] : [`${countNoun(found.matches, 'match', 'matches')}, ${countNoun(found.hits, 'hit')}`]),
    ...(waitingFor === null ? [] : [describeWait(waitingFor)]),
  ];
  // What holds the run up is worth more than how fast it would be.
  const ordered =
    waitingFor !== null && isTrouble(waitingFor) ? [parts[0], parts.at(-1), ...parts.slice(1, -1)] : parts;
  // Half a word says nothing: what does not fit is left out whole.
  let line = '';
  for (const part of ordered) {
    const longer = line === '' ? (part ?? '') : `${line}  ${part}`;
    if (longer.length > width && line !== '') continue;
    line = longer;
  }
  return line.slice(0, Math.max(0, width));
}

const isTrouble = ({ kind }: Wait): boolean => kind === 'outage' || kind === 'pause' || kind === 'database';
