import type { Command } from 'commander';
import { examples } from '../examples.js';
import type { Act } from '../invocation.js';
import { presentUndo } from '../present-undo.js';
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
        const { requireText } = await import('../require-text.js');
        const { tellDecidedStates } = await import('../tell-decided-states.js');
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
