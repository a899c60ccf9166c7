import { resolve } from 'node:path';
import type { Command } from 'commander';
import { quoteArgument } from '../../runs/quote-argument.js';
import type { Act } from '../invocation.js';
import { examples } from '../options.js';
import {
  presentExport,
  presentImportedDecisions,
  presentItemHistories,
  refuseUnknownKind,
  writeWorkingList,
} from '../present-review.js';
import { findCurrentUser } from '../process.js';
import { withWorkplace } from '../session.js';
import { importLegacyList, type LegacyImportOptions, refuseLegacyOptions } from './import-legacy-list.js';
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
  discrepancies?: true;
}

function addExport(review: Command, act: Act): void {
  review
    .command('export')
    .description('write a working list of what waits for a decision, to be filled in and imported')
    .option('--out <file>', `the file to write, CSV or a workbook (.xlsx) (default: ${defaultFile})`)
    .option('--roster <name>', 'only this roster')
    .option('--assignee <name>', 'only what this person answers for, also while standing in for somebody')
    .option('--proposals', 'only what waits for a second person to confirm')
    .option('--not-mine', 'without what the login has proposed, which others have to confirm')
    .option('--discrepancies', 'as CSV: the discrepancies of reconciliation instead; a workbook has both')
    .addHelpText('after', examples(['review export', 'review export --roster retail --out today.xlsx']))
    .action((options: ExportOptions) =>
      act(async (invocation) => {
        const { exportItems } = await import('../../runs/review/lists.js');
        const { findLogin } = await import('../../store/database/postgres.js');
        return withWorkplace(invocation, {
          command: 'review export',
          needsDatabase: true,
          prepare: () => refuseUnknownKind(resolve(invocation.folder, options.out ?? defaultFile)),
          work: async (workplace, file) => {
            const login = options.notMine ? await findLogin(workplace.database) : null;
            const list = await exportItems(workplace, {
              roster: options.roster ?? null,
              exportedBy: findCurrentUser(),
              assignee: options.assignee ?? null,
              onlyProposals: options.proposals ?? false,
              allDiscrepancies: options.discrepancies ?? false,
              notProposedBy: login,
            });
            const { roster = null, discrepancies: ofDiscrepancies = false } = options;
            const { notice, leftOut } = await writeWorkingList(file, list, { roster, ofDiscrepancies });
            return presentExport(list, { file, notice, leftOut, ofDiscrepancies });
          },
        });
      }),
    );
}

function addImport(review: Command, act: Act): void {
  review
    .command('import <file>')
    .description('say what the decisions of a working list would do, and with --apply store them')
    .option('--apply', 'store them, all or none')
    .option('--partial', 'with --apply: store those that can be stored although others cannot')
    .option('--reviewer <name>', 'who has decided; on Postgres the login says so')
    .option('--legacy', 'the list is that of an older system, whose decisions are to be taken over')
    .option(
      '--unmatched <file>',
      'with --legacy: where to write what cannot be taken (default: unmatched.csv beside it)',
    )
    .addHelpText(
      'after',
      examples([
        'review import review.csv',
        'review import review.xlsx --apply --reviewer "A. Meyer"',
        'review import --legacy old-decisions.csv',
      ]),
    )
    .action((file: string, options: LegacyImportOptions & { legacy?: true }) =>
      act(async (invocation) => {
        if (options.legacy) return importLegacyList(invocation, file, options);
        refuseLegacyOptions(options);
        const { importDecisions } = await import('../../runs/review/decide.js');
        const { findReviewer } = await import('../../runs/review/people.js');
        const { tellDecidedStates } = await import('../notify.js');
        return withWorkplace(invocation, {
          command: 'review import',
          needsDatabase: true,
          prepare: () => resolve(invocation.folder, file),
          work: async (workplace, path) => {
            const { apply = false, partial = false } = options;
            const reviewer = await findReviewer(workplace.database, options.reviewer, !apply);
            const imported = await importDecisions(workplace, { path, reviewer, apply, partial });
            if (imported.isApplied) await tellDecidedStates(workplace, invocation);
            const isAttested = workplace.database.dialect === 'embedded';
            const by = isAttested ? ` --reviewer ${quoteArgument(options.reviewer ?? 'NAME')}` : '';
            const storing = `nightscreen review import ${quoteArgument(file)} --apply${by}`;
            return presentImportedDecisions(imported, { storing, wasApplied: apply });
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
        const { showItems } = await import('../../runs/review/decide.js');
        return withWorkplace(invocation, {
          command: 'review show',
          needsDatabase: true,
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
