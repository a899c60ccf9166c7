import { chmod, rename, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { countNoun } from '../../reports/format-count.js';
import { findCurrentUser } from '../current-user.js';
import { examples } from '../examples.js';
import { exitCodes } from '../exit-code.js';
import type { Act } from '../invocation.js';
import { presentImportedDecisions, presentItemHistories } from '../present-review.js';
import { withWorkplace } from '../session.js';
import { addAssign } from './review-assign.js';
import { addDelegate } from './review-delegate.js';
import { addUndo } from './review-undo.js';

const defaultFile = 'review.csv';

interface ExportOptions {
  out?: string;
  roster?: string;
  assignee?: string;
  proposals?: true;
  notMine?: true;
}

function addExport(review: Command, act: Act): void {
  review
    .command('export')
    .description('write a working list of what waits for a decision, to be filled in and imported')
    .option('--out <file>', `the file to write (default: ${defaultFile})`)
    .option('--roster <name>', 'only this roster')
    .option('--assignee <name>', 'only what this person answers for, also while standing in for somebody')
    .option('--proposals', 'only what waits for a second person to confirm')
    .option('--not-mine', 'without what the login has proposed, which others have to confirm')
    .addHelpText('after', examples(['review export', 'review export --roster retail --out today.csv']))
    .action((options: ExportOptions) =>
      act(async (invocation) => {
        const { exportItems } = await import('../../runs/reviewing/export-items.js');
        const { findLogin } = await import('../../store/find-login.js');
        const { renderWorkingList } = await import('../../reports/working-list.js');
        return withWorkplace(invocation, {
          command: 'review export',
          prepare: () => resolve(invocation.folder, options.out ?? defaultFile),
          work: async (workplace, file) => {
            const login = options.notMine ? await findLogin(workplace.database) : null;
            const { sheetId, items } = await exportItems(workplace, {
              roster: options.roster ?? null,
              exportedBy: findCurrentUser(),
              assignee: options.assignee ?? null,
              onlyProposals: options.proposals ?? false,
              notProposedBy: login,
            });
            await writePrivately(file, [...renderWorkingList(items)].join(''));
            return {
              exitCode: exitCodes.complete,
              document: { schema: 'nightscreen/review-export/1', sheetId, items: items.length, file },
              text: `${countNoun(items.length, 'item')} to decide: ${file}\nfill in decision (true_match, false_positive, inconclusive) and reason, then: nightscreen review import ${file}\n`,
            };
          },
        });
      }),
    );
}

/** Names of customers are for their owner's eyes only, and nobody finds half a list. */
async function writePrivately(file: string, text: string): Promise<void> {
  const part = `${file}.part`;
  await writeFile(part, text, { mode: 0o600 });
  await chmod(part, 0o600);
  await rename(part, file);
}

function addImport(review: Command, act: Act): void {
  review
    .command('import <file>')
    .description('say what the decisions of a working list would do, and with --apply store them')
    .option('--apply', 'store them, all or none')
    .option('--partial', 'with --apply: store those that can be stored although others cannot')
    .option('--reviewer <name>', 'who has decided; on Postgres the login says so')
    .addHelpText(
      'after',
      examples(['review import review.csv', 'review import review.csv --apply --reviewer "A. Meyer"']),
    )
    .action((file: string, options: { apply?: true; partial?: true; reviewer?: string }) =>
      act(async (invocation) => {
        const { importDecisions } = await import('../../runs/reviewing/import-decisions.js');
        const { findReviewer } = await import('../../runs/reviewing/find-reviewer.js');
        return withWorkplace(invocation, {
          command: 'review import',
          prepare: () => resolve(invocation.folder, file),
          work: async (workplace, path) => {
            const { apply = false, partial = false } = options;
            const reviewer = await findReviewer(workplace.database, options.reviewer, !apply);
            const imported = await importDecisions(workplace, { path, reviewer, apply, partial });
            return presentImportedDecisions(imported, file, apply);
          },
        });
      }),
    );
}

function addShow(review: Command, act: Act): void {
  review
    .command('show <customer>')
    .description('what was found about a customer and what was decided, from the beginning')
    .addHelpText('after', examples(['review show C-1042']))
    .action((customer: string) =>
      act(async (invocation) => {
        const { showItems } = await import('../../runs/reviewing/show-items.js');
        return withWorkplace(invocation, {
          command: 'review show',
          prepare: () => customer,
          work: async (workplace) => presentItemHistories(customer, await showItems(workplace, customer)),
        });
      }),
    );
}

/** Adds `review`. */
export function addReviewCommand(program: Command, act: Act): void {
  const review = program.command('review').description('decide about matches: a list out, decisions in, their history');
  addExport(review, act);
  addImport(review, act);
  addShow(review, act);
  addUndo(review, act);
  addAssign(review, act);
  addDelegate(review, act);
}
