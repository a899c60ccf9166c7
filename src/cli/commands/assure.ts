import { resolve } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { flagError } from '../../errors.js';
import type { PublishedList } from '../../lists/published-list.js';
import type { previewAssurance } from '../../runs/checks/assurance.js';
import { defineCommand, flag, mandatory, parsed, text } from '../command.js';
import { type Outcome, toOutcome } from '../invocation.js';
import { parseWholeNumber, shared } from '../options.js';
import { describeCost, formatAssurance } from '../present-run.js';
import { loadInvocationConfig, requireService, withAppContext } from '../session.js';
import { formatTable } from '../text.js';

function parseShare(text: string): number {
  const [, digits, percent] = /^(\d{1,3}(?:\.\d{1,6})?) ?(%?)$/.exec(text) ?? [];
  const share = Number(digits) / (percent ? 100 : 1);
  if (digits !== undefined && share >= 0 && share <= 1) return share;
  throw new InvalidArgumentError('It must be a share from 0 to 1, or per cent such as 95%.');
}

export const command = defineCommand({
  usage: 'assure <list>',
  description: 'measure how many names of a published list the service finds',
  options: {
    sample: mandatory(parsed('<count>', 'how many of its names to search for', parseWholeNumber(1, 100_000))),
    seed: text('<text>', 'repeats an earlier sample'),
    variants: flag('send names with usual typing errors, not as the list writes them'),
    type: shared.type,
    atLeast: parsed('<share>', 'exit code 3 when fewer are found, as in 0.95 or 95%', parseShare),
    dryRun: shared.dryRun,
  },
  examples: ['assure sdn.csv --sample 500 --dry-run', 'assure sdn.csv --sample 500 --at-least 95%'],
  // A dry run needs no database.
  run: async ({ argument: file, options, invocation, signal }) => {
    const { previewAssurance, runAssurance } = await import('../../runs/checks/assurance.js');
    const { sample: size, seed, type, atLeast, variants, dryRun } = options;
    const list = await readList(resolve(invocation.folder, file), type);
    const request = { list, size, seed, type, atLeast, spelling: variants ? 'variants' : 'as_listed' } as const;
    const config = loadInvocationConfig(invocation);
    if (dryRun) return presentPreview(previewAssurance(config.settings, request));
    await requireService(config, () => undefined);
    return withAppContext(invocation, { config, isLasting: true }, async (app) => {
      const result = await runAssurance(app, request, signal);
      return toOutcome('nightscreen/assurance/1', result, formatAssurance(result), result.exitCode);
    });
  },
});

/** The published list; throws ConfigError when it has names without a type, and `type` does not say which. */
async function readList(path: string, type: string | undefined): Promise<PublishedList> {
  const { readPublishedList } = await import('../../lists/published-list.js');
  const list = await readPublishedList(path);
  if (type !== undefined || list.parties.every((party) => party.type !== null)) return list;
  throw flagError('--type', `is missing: ${list.file} has names without a type (person or entity)`);
}

const describeStrata = (strata: Readonly<Record<string, number>>): string =>
  Object.entries(strata)
    .map(([stratum, names]) => `${names} ${stratum}`)
    .join('; ');

const presentPreview = (found: ReturnType<typeof previewAssurance>): Outcome =>
  toOutcome(
    'nightscreen/assurance-preview/1',
    found,
    formatTable([
      ['list', `${found.file}: ${found.listed} entries, SHA-256 ${found.digest}`],
      ['sample', `${found.calls} names, seed ${found.seed}: ${describeStrata(found.strata)}`],
      ['calls', `${found.calls}; repeats not counted`],
      ['minutes', String(found.minutes)],
      ['cost', describeCost(found.cost)],
    ]),
  );
