import { readFileSync } from 'node:fs';

/**
 * Gives the most memory, in bytes, that this process has held since its program began. What `getrusage` tells holds the process that
 * started it as well: on Linux a program inherits the highest mark of the one it was forked from.
 */
export function readPeakBytes(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1_024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  if (kilobytes === undefined) throw new Error('/proc/self/status does not tell the most memory held');
  return Number(kilobytes) * 1_024;
}
