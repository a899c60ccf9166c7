import { access } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { flagError } from '../../errors.js';
import type { Invocation, Outcome } from '../invocation.js';
import { withWorkplace } from '../session.js';
import { writePrivately } from '../write-privately.js';

/** The options of `review import`. */
export interface LegacyImportOptions {
  apply?: true;
  partial?: true;
  reviewer?: string;
  unmatched?: string;
}

/** Says what taking over the decisions of an older system would do, and with `apply` does it. */
export async function importLegacyList(
  invocation: Invocation,
  file: string,
  options: LegacyImportOptions,
): Promise<Outcome> {
  const { importLegacy } = await import('../../runs/review/legacy.js');
  const { findUntaken, renderUntaken } = await import('../../runs/review/legacy.js');
  const { findReviewer } = await import('../../runs/review/people.js');
  const { presentLegacy } = await import('../present-legacy.js');
  const { tellDecidedStates } = await import('../tell-decided-states.js');
  return withWorkplace(invocation, {
    command: 'review import',
    needsDatabase: true,
    prepare: () => findFiles(invocation.folder, file, options.unmatched),
    work: async (workplace, { path, unmatched }) => {
      const { apply = false, partial = false } = options;
      const reviewer = await findReviewer(workplace.database, options.reviewer, !apply);
      const imported = await importLegacy(workplace, { path, reviewer, apply, partial });
      const untaken = findUntaken(imported.rows);
      // What an earlier attempt could not take is no longer true.
      const isThere = await access(unmatched).then(
        () => true,
        () => false,
      );
      if (untaken.length > 0 || isThere) await writePrivately(unmatched, renderUntaken(untaken));
      if (imported.isApplied) await tellDecidedStates(workplace, invocation);
      return presentLegacy(imported, { file, unmatched, wasApplied: apply });
    },
  });
}

/** Throws ConfigError for what only the list of an older system can be given. */
export function refuseLegacyOptions({ unmatched }: LegacyImportOptions): void {
  if (unmatched === undefined) return;
  throw flagError('--unmatched', 'goes with --legacy only');
}

function findFiles(folder: string, file: string, given: string | undefined): { path: string; unmatched: string } {
  const path = resolve(folder, file);
  const unmatched = given === undefined ? join(dirname(path), 'unmatched.csv') : resolve(folder, given);
  if (unmatched !== path) return { path, unmatched };
  const message = `${file} would be overwritten by what cannot be taken of it: name another file`;
  throw flagError('--unmatched', message);
}
