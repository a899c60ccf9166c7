import { type Command, Option } from 'commander';
import { ConfigError } from '../../errors.js';
import { formatCount, toVisibleText } from '../../reports/text.js';
import { type CheckResult, describeControls, type Question } from '../../runs/checks/check.js';
import { partyTypes } from '../../vocabulary.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Invocation, Outcome } from '../invocation.js';
import { examples } from '../options.js';
import { findCurrentUser } from '../process.js';
import { requireService, withWorkplace } from '../session.js';
import { formatTable } from '../text.js';

interface CheckOptions {
  type?: (typeof partyTypes)[number];
  reason?: string;
  show?: string;
}

function toQuestion(name: string | undefined, { type, reason }: CheckOptions): Question {
  const missing = [
    ...(name === undefined ? [{ where: 'argument name', message: 'is missing: whom to ask about' }] : []),
    ...(type === undefined ? [{ where: 'flag --type', message: 'is missing: person or entity' }] : []),
    ...(reason === undefined
      ? [{ where: 'flag --reason', message: 'is missing: why this name is asked about; it is kept as evidence' }]
      : []),
  ];
  if (name === undefined || type === undefined || reason === undefined) {
    throw new ConfigError(missing.map((problem) => ({ ...problem, path: '' })));
  }
  return { name, type, reason, askedBy: findCurrentUser() };
}

async function ask(invocation: Invocation, name: string | undefined, options: CheckOptions): Promise<Outcome> {
  const { runCheck, toCheckedRequest } = await import('../../runs/checks/check.js');
  return withWorkplace(invocation, {
    prepare: (config) =>
      requireService(config, () => {
        const question = toQuestion(name, options);
        toCheckedRequest(question);
        return question;
      }),
    work: async (workplace, question) => {
      const { result, exitCode } = await runCheck(workplace, question, invocation.signal);
      return presentCheck(result, exitCode);
    },
  });
}

async function show(invocation: Invocation, runId: string): Promise<Outcome> {
  const { showCheck } = await import('../../runs/checks/check.js');
  return withWorkplace(invocation, {
    needsDatabase: true,
    prepare: () => runId,
    work: async ({ database }) => presentCheck(await showCheck(database, runId), exitCodes.complete),
  });
}

/** Adds `check`. */
export function addCheckCommand(program: Command, act: Act): void {
  program
    .command('check [name]')
    .description('ask about one name, with a reason, and keep question and answer as evidence')
    .addOption(new Option('--type <type>', 'what the name is of').choices(partyTypes))
    .option('--reason <text>', 'why it is asked about')
    .addOption(new Option('--show <run>', 'show a check that was made').conflicts(['type', 'reason']))
    .addHelpText(
      'after',
      examples(['check "Erika Muster" --type person --reason "onboarding, file 4711"', 'check --show 12 --json']),
    )
    .action((name: string | undefined, options: CheckOptions) =>
      act((invocation) =>
        options.show === undefined ? ask(invocation, name, options) : show(invocation, options.show),
      ),
    );
}

const verdicts: Readonly<Record<CheckResult['verdict'], string>> = {
  clear: 'clear: a valid, complete answer without results',
  below_threshold: 'below threshold: results, and none of them flagged by the service',
  incompletely_seen: 'incompletely seen: the list of results was cut, and no hit is among what was returned',
  open_hit: 'open hit: the service flagged at least one listed party',
  not_screened: 'NOT SCREENED: there is no valid answer, and nothing follows from that',
};

function describeMatches({ answer }: CheckResult): string {
  if (answer === null || answer.matches.length === 0) return '';
  const head = ['rank', 'hit', 'score', 'name', 'kind', 'topics', 'born', 'countries', 'id'];
  const rows = answer.matches.map(({ rank, isHit, score, name, schema, topics, birthDates, countries, id }) => [
    rank,
    isHit ? 'hit' : '-',
    String(score),
    ...[name, schema, topics.join(' '), birthDates.join(' '), countries.join(' '), id].map(toVisibleText),
  ]);
  return `\n${formatTable([head, ...rows])}`;
}

function describeAnswer({ answer, responseDigest }: CheckResult): [string, string][] {
  if (answer === null) return [];
  const hits = answer.matches.filter((match) => match.isHit).length;
  const shown = `${formatCount(answer.matches.length)} of ${formatCount(answer.total)} results, ${formatCount(hits)} hits`;
  return [
    ['answer', shown],
    ['digest', responseDigest ?? '-'],
  ];
}

/** A check as lines for people. */
export const formatCheck = (result: CheckResult): string =>
  formatTable([
    ['verdict', verdicts[result.verdict]],
    ...result.reasons.map((reason): [string, string] => ['because', toVisibleText(reason)]),
    ['asked', `${result.type} ${toVisibleText(result.sentName)}`],
    ['reason', toVisibleText(result.reason)],
    ['by', `${toVisibleText(result.askedBy)}, ${result.askedAt.toISOString()}`],
    ['key', `${result.mode}, ${result.keyFingerprints.join(', ') || 'not known'}`],
    ['controls', describeControls(result.controls)],
    ['calls', formatCount(result.attempts)],
    ...describeAnswer(result),
    ['run', result.runId],
  ]) + describeMatches(result);

/** What `check` says, now or later. */
const presentCheck = (result: CheckResult, exitCode: number): Outcome => ({
  exitCode,
  document: { schema: 'nightscreen/check/1', exitCode, ...result },
  text: formatCheck(result),
});
