import { toRunId } from '../../store/run-id.js';
import type { RunRow } from '../../store/run-row.js';
import { quoteArgument } from '../quote-argument.js';

/** What to type so that a run takes a roster although guards hold it. */
export function toOverrideCommand(
  run: Pick<RunRow, 'kind' | 'runId' | 'startedAt' | 'resumed' | 'rosterFile' | 'selection'>,
  roster: string,
  isDelta: boolean,
): string {
  // A run that is held in its first start is closed: it is begun anew. One that was gone on with stays open.
  if (run.resumed > 0) return `nightscreen runs resume ${toRunId(run)} --accept-roster ${who}`;
  const file = run.rosterFile === null ? '' : ` ${isDelta ? '--delta' : '--file'} ${quoteArgument(run.rosterFile)}`;
  const selection = run.kind === 'screen' ? selectionFlags[run.selection ?? 'due'] : '';
  return `nightscreen ${run.kind}${file} --roster ${quoteArgument(roster)}${selection} --accept-roster ${who}`;
}

const who = '--by NAME --reason TEXT';

const selectionFlags = {
  due: ' --due',
  new: ' --new',
  all: ' --all',
  forced: ' --because-of LIST',
  dirty: ' --dirty',
} as const;
