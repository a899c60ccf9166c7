import type { Config } from '../../config/load-config.js';
import { doubtful, type Finding, wrong } from './finding.js';

/**
 * Whether there is a roster that a night could screen; nothing is said where there is. `imported`: the rosters that were ever given as
 * files, by which an installation without any of its own may be meant so.
 */
export function checkConfigured({ settings, file }: Config, imported: readonly string[]): Finding[] {
  if (settings.rosters.length > 0) return [];
  const write = `write \`rosters:\` into ${file ?? 'nightscreen.config.yaml'} (nightscreen.config.example.yaml shows how)`;
  const find = 'or name the file that has them with --config or NIGHTSCREEN_CONFIG';
  if (settings.jobs.rescreen?.enabled === false) {
    return [doubtful('rosters', 'none is configured, and the job rescreen is switched off', `${write}, ${find}`)];
  }
  if (imported.length > 0) {
    const message = `none is configured, so no night screens ${imported.join(', ')} again, imported from files`;
    return [doubtful('rosters', message, `${write}, ${find}, or start \`nightscreen onboard --file FILE\` by hand`)];
  }
  const next = `${write}, ${find}; only \`nightscreen onboard --file FILE\` and \`nightscreen demo\` need none`;
  return [wrong('rosters', 'none is configured: `rescreen` is refused, and the scheduler screens nobody', next)];
}
