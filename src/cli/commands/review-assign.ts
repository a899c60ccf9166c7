import type { Command } from 'commander';
import { ConfigError, flagError } from '../../errors.js';
import { countNoun } from '../../reports/text.js';
import type { Assigned, AssignmentRequest } from '../../runs/review/people.js';
import { type Severity, severities } from '../../vocabulary.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Outcome } from '../invocation.js';
import { examples } from '../options.js';
import { withWorkplace } from '../session.js';
import { formatTable } from '../text.js';

interface AssignOptions {
  to?: string;
  nobody?: true;
  by?: string;
  customer?: string;
  severity?: string;
  roster?: string;
}

/** Adds `review assign`. */
export function addAssign(review: Command, act: Act): void {
  review
    .command('assign [items...]')
    .description('assign items to a reviewer: those named, or all that wait and fit')
    .option('--to <name>', 'to whom')
    .option('--nobody', 'to nobody')
    .option('--by <name>', 'who assigns; on Postgres the login says so')
    .option('--customer <reference>', 'all that waits of this customer')
    .option('--severity <name>', `all that waits of this severity (${severities.join(', ')})`)
    .option('--roster <name>', 'all that waits of this roster')
    .addHelpText(
      'after',
      examples(['review assign N4Q8ZK2M1-0C7RT5WXYA-H --to meyer', 'review assign --severity critical --to meyer']),
    )
    .action((items: string[], options: AssignOptions) =>
      act(async (invocation) => {
        const { assignItems, findReviewer, requireAssignee } = await import('../../runs/review/people.js');
        return withWorkplace(invocation, {
          command: 'review assign',
          needsDatabase: true,
          prepare: () => toChoice(items, options),
          work: async (workplace, choice) => {
            const by = await findReviewer(workplace.database, options.by, false, '--by');
            const to = options.to === undefined ? null : await requireAssignee(workplace.database, options.to, '--to');
            return presentAssigned(await assignItems(workplace, { ...choice, to, by }), to);
          },
        });
      }),
    );
}

function toChoice(marks: readonly string[], options: AssignOptions): Omit<AssignmentRequest, 'to' | 'by'> {
  const { customer = null, roster = null } = options;
  const severity = toSeverity(options.severity);
  const fits = customer !== null || severity !== null || roster !== null;
  if ((options.to === undefined) === (options.nobody === undefined)) {
    throw flagError('--to', 'or --nobody is needed, and not both');
  }
  if (marks.length > 0 === fits) {
    const message = 'name items, or say which by --customer, --severity or --roster, and not both';
    throw new ConfigError([{ where: 'arguments', message, path: '' }]);
  }
  return { marks, customer, severity, roster };
}

function toSeverity(text: string | undefined): Severity | null {
  if (text === undefined) return null;
  const severity = severities.find((each) => each === text);
  if (severity !== undefined) return severity;
  throw flagError('--severity', `is ${text}, and none of ${severities.join(', ')}`);
}

const refusalWords = {
  no_item: 'is no item of a list or of review show: a slip of the pen?',
  not_waiting: 'waits for no decision here',
} as const;

function presentAssigned({ assigned, sameAlready, refused }: Assigned, to: string | null): Outcome {
  const name = to ?? 'nobody';
  const document = { schema: 'nightscreen/review-assignment/1', to, assigned, sameAlready, refused } as const;
  if (refused.length > 0) {
    const lines = refused.map(({ mark, reason }) => [mark, refusalWords[reason]]);
    return { exitCode: exitCodes.refused, document, text: `nothing was assigned\n${formatTable(lines)}` };
  }
  const already = sameAlready === 0 ? '' : `, ${countNoun(sameAlready, 'item')} already so`;
  return {
    exitCode: exitCodes.complete,
    document,
    text: `${countNoun(assigned, 'item')} assigned to ${name}${already}\n`,
  };
}
