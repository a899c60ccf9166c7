import type { Command } from 'commander';
import type { UndoResult } from '../../runs/review/decide.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Outcome } from '../invocation.js';
import { examples } from '../options.js';
import { refusalWords } from '../present-review.js';
import { withWorkplace } from '../session.js';

/** Adds `review undo`. */
export function addUndo(review: Command, act: Act): void {
  review
    .command('undo <item>')
    .description('undo the decision or proposal that stands about an item, which then waits again')
    .requiredOption('--reason <text>', 'why')
    .option('--reviewer <name>', 'who undoes it; on Postgres the login says so')
    .addHelpText('after', examples(['review undo N4Q8ZK2M1-0C7RT5WXYA-H --reason "wrong customer"']))
    .action((item: string, options: { reason: string; reviewer?: string }) =>
      act(async (invocation) => {
        const { undoDecision } = await import('../../runs/review/decide.js');
        const { findReviewer } = await import('../../runs/review/people.js');
        const { requireText } = await import('../options.js');
        const { tellDecidedStates } = await import('../notify.js');
        return withWorkplace(invocation, {
          command: 'review undo',
          needsDatabase: true,
          prepare: () => requireText(options.reason, '--reason'),
          work: async (workplace, reason) => {
            const reviewer = await findReviewer(workplace.database, options.reviewer);
            const undone = await undoDecision(workplace, { mark: item, reviewer, reason });
            if (undone.kind === 'undone') await tellDecidedStates(workplace, invocation);
            return presentUndo(undone, item);
          },
        });
      }),
    );
}

const undoRefusalWords = {
  no_item: 'is no item of a list or of review show: a slip of the pen?',
  unknown_item: refusalWords.unknown_item,
  changed_since: 'what was to be seen has changed since: look again with review show, or review export',
  decided_since: 'somebody has decided about it since: look again with review show',
  nothing_to_undo: 'nothing was decided about it that stands',
} as const;

/** What became of undoing a decision. */
function presentUndo(result: UndoResult, mark: string): Outcome {
  const schema = 'nightscreen/review-undo/1';
  if (result.kind === 'refused') {
    const { reason } = result;
    const text = `nothing was undone: ${mark} ${reason === 'no_item' ? '' : '- '}${undoRefusalWords[reason]}\n`;
    return { exitCode: exitCodes.refused, document: { schema, undone: null, reason }, text };
  }
  if (result.kind === 'acceptance_ended') {
    const text = 'the discrepancy is no longer accepted or proposed: it stands open\n';
    return { exitCode: exitCodes.complete, document: { schema, undone: 'acceptance' }, text };
  }
  const { undone, isListed, keepsConfirmed } = result;
  const what = `${undone.isFinal ? 'the decision' : 'the proposal'} ${undone.verdict.replaceAll('_', ' ')} of ${undone.reviewer}`;
  const now = isListed
    ? 'the item waits for a decision'
    : 'the match is absent, and the item waits for a decision (no_longer_matched)';
  const still = keepsConfirmed ? '; the customer counts as confirmed until it is decided anew' : '';
  return {
    exitCode: exitCodes.complete,
    document: { schema, undone, isListed, keepsConfirmed },
    text: `${what} is undone; ${now}${still}\n`,
  };
}
