import { mkdtemp, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/load-config.js';
import { doubtful, type Finding, well, wrong } from './finding.js';

/** Why nothing can be written into a folder that is never made; null when something can. */
async function findObstacle(folder: string): Promise<string | null> {
  try {
    if (!(await stat(folder)).isDirectory()) return `${folder} is not a folder`;
  } catch {
    return `the folder ${folder} is not there`;
  }
  try {
    const trial = await mkdtemp(join(folder, '.nightscreen-doctor-'));
    await rm(trial, { recursive: true });
    return null;
  } catch {
    return `the folder ${folder} cannot be written to`;
  }
}

/**
 * Whether what is left beside the database can be written where the settings say: copies of reports, metrics, and the watchdog's note. None
 * of these folders is ever made, so each must be there.
 */
export async function checkOutputs({ settings }: Config): Promise<Finding[]> {
  const { reports, metrics, watchdog } = settings;
  const findings: Finding[] = [];
  if (reports.publishTo !== undefined) {
    const obstacle = await findObstacle(reports.publishTo);
    const next =
      'mount or make it, with the right to write for this user: until then reports are not copied (reports.publishTo)';
    findings.push(
      obstacle === null
        ? well('published reports', `${reports.publishTo} can be written`)
        : wrong('published reports', obstacle, next),
    );
  }
  if (metrics.textfile !== undefined) {
    const obstacle = await findObstacle(dirname(metrics.textfile));
    const next =
      'make it, with the right to write for this user, or set metrics.textfile to another file: until then alerts go by old figures';
    findings.push(
      obstacle === null ? well('metrics', `${metrics.textfile} can be written`) : wrong('metrics', obstacle, next),
    );
  }
  const obstacle = await findObstacle(dirname(watchdog.noteFile));
  if (obstacle !== null) {
    const message = `${obstacle}: that the database is out of reach would be mailed at each look`;
    findings.push(
      doubtful('watchdog note', message, 'set watchdog.noteFile to a file in a folder that this user may write to'),
    );
  }
  return findings;
}
