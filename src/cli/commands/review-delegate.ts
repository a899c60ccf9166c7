import type { Command } from 'commander';
import { flagError } from '../../errors.js';
import { exitCodes } from '../exit-code.js';
import type { Act } from '../invocation.js';
import { examples, requireText } from '../options.js';
import { withWorkplace } from '../session.js';
import { formatTable } from '../text.js';

interface DelegateOptions {
  from: string;
  to?: string;
  until?: string;
  end?: true;
  reason: string;
  by?: string;
}

/** Adds `review delegate` and `review delegations`. */
export function addDelegate(review: Command, act: Act): void {
  review
    .command('delegate')
    .description('have somebody stand in for a reviewer who is away')
    .requiredOption('--from <name>', 'who is away')
    .option('--to <name>', 'who stands in')
    .option('--until <date>', 'the last day, as yyyy-mm-dd')
    .option('--end', 'end it now')
    .requiredOption('--reason <text>', 'why')
    .option('--by <name>', 'who says so; on Postgres the login says so')
    .addHelpText(
      'after',
      examples([
        'review delegate --from meyer --to larsen --until 2026-12-31 --reason holidays',
        'review delegate --from meyer --end --reason "back early"',
      ]),
    )
    .action((options: DelegateOptions) =>
      act(async (invocation) => {
        const { delegateItems, findReviewer, requireAssignee } = await import('../../runs/review/people.js');
        return withWorkplace(invocation, {
          command: 'review delegate',
          needsDatabase: true,
          prepare: () => toDelegation(options),
          work: async (workplace, { from, term, reason }) => {
            const by = await findReviewer(workplace.database, options.by, false, '--by');
            const to = term && (await requireAssignee(workplace.database, term.to, '--to'));
            const until = term?.until ?? null;
            await delegateItems(workplace, { from, to, until, reason, by });
            const { timezone } = workplace.settings.review;
            return {
              exitCode: exitCodes.complete,
              document: { schema: 'nightscreen/review-delegation/1', from, to, until },
              text:
                to === null
                  ? `nobody stands in for ${from} any more\n`
                  : `${to} stands in for ${from} until the end of ${until} (${timezone})\n`,
            };
          },
        });
      }),
    );
  addDelegations(review, act);
}

function addDelegations(review: Command, act: Act): void {
  review
    .command('delegations')
    .description('who stands in for whom now')
    .action(() =>
      act(async (invocation) => {
        const { listDelegations } = await import('../../runs/review/people.js');
        return withWorkplace(invocation, {
          command: 'review delegations',
          needsDatabase: true,
          prepare: () => null,
          work: async (workplace) => {
            const delegations = await listDelegations(workplace);
            const rows = delegations.map(({ from, to, until, reason, actor, isAttested }) => [
              `${to} for ${from}`,
              `until ${until}`,
              `${reason} (${actor}${isAttested ? ', attested' : ''})`,
            ]);
            return {
              exitCode: exitCodes.complete,
              document: { schema: 'nightscreen/review-delegations/1', delegations },
              text: rows.length === 0 ? 'nobody stands in for anybody\n' : formatTable(rows),
            };
          },
        });
      }),
    );
}

interface AskedDelegation {
  from: string;
  /** Null where one is ended. */
  term: { to: string; until: string } | null;
  reason: string;
}

function toDelegation({ from, to, until, end, reason }: DelegateOptions): AskedDelegation {
  const said = { from: requireText(from, '--from'), reason: requireText(reason, '--reason') };
  if (end) {
    if (to === undefined && until === undefined) return { ...said, term: null };
    throw flagError('--end', 'ends it now, so --to and --until mean nothing');
  }
  if (to === undefined) throw flagError('--to', 'is missing');
  if (to.trim() === said.from) throw flagError('--to', `is ${said.from} too`);
  if (until === undefined || !isDate(until)) throw flagError('--until', 'must be a date such as 2026-12-31');
  return { ...said, term: { to, until } };
}

const isDate = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;
