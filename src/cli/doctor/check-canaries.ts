import type { Config } from '../../config/load-config.js';
import { canaryKinds, findCanaryCoverage } from '../../matches/canary-kinds.js';
import { doubtful, type Finding, well } from './finding.js';

/** Says which kinds of known parties the canaries stand for, and which of them nobody would miss if the service lost them. */
export function checkCanaries({ settings: { canaries } }: Config): Finding[] {
  if (canaries.length === 0) return [];
  const { covered, missing } = findCanaryCoverage(canaries);
  const cover = `${canaries.length} cover ${covered.length} of ${canaryKinds.length} kinds`;
  if (missing.length === 0) return [well('canaries', cover)];
  const next = 'add a listed party of each kind to `canaries:`, with the `topics` for which it is listed';
  return [doubtful('canaries', `${cover}; missing: ${missing.join('; ')}`, next)];
}
