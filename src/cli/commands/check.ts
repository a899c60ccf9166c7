import { type Command, Option } from 'commander';
import { ConfigError } from '../../errors.js';
import type { CheckResult } from '../../runs/checks/check.js';
import { partyTypes } from '../../vocabulary.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Invocation, Outcome } from '../invocation.js';
import { examples, shared } from '../options.js';
import { formatCheck } from '../present-run.js';
import { findCurrentUser } from '../process.js';
import { loadInvocationConfig, requireService, withAppContext } from '../session.js';

interface CheckOptions {
  type?: (typeof partyTypes)[number];
  reason?: string;
  show?: string;
}

function toQuestion(name: string | undefined, { type, reason }: CheckOptions) {
  const missing = [
    ...(name === undefined ? [{ where: 'argument name', message: 'is missing: the name to search for' }] : []),
    ...(type === undefined ? [{ where: 'flag --type', message: 'is missing: person or entity' }] : []),
    ...(reason === undefined
      ? [{ where: 'flag --reason', message: 'is missing: why this name is searched; it is stored as evidence' }]
      : []),
  ];
  if (name === undefined || type === undefined || reason === undefined) {
    throw new ConfigError(missing.map((problem) => ({ ...problem, path: '' })));
  }
  return { name, type, reason, askedBy: findCurrentUser() };
}

async function ask(invocation: Invocation, name: string | undefined, options: CheckOptions): Promise<Outcome> {
  const { runCheck, toCheckedRequest } = await import('../../runs/checks/check.js');
  const config = loadInvocationConfig(invocation);
  const question = requireService(config, () => {
    const asked = toQuestion(name, options);
    toCheckedRequest(asked);
    return asked;
  });
  return withAppContext(invocation, { config }, async (app) => {
    const { result, exitCode } = await runCheck(app, question, invocation.signal);
    return presentCheck(result, exitCode);
  });
}

async function show(invocation: Invocation, runId: string): Promise<Outcome> {
  const { showCheck } = await import('../../runs/checks/check.js');
  return withAppContext(invocation, { needsDatabase: true }, async ({ database, settings }) =>
    presentCheck(await showCheck(database, settings.organisation, runId), exitCodes.complete),
  );
}

/** Adds `check`. */
export function addCheckCommand(program: Command, act: Act): void {
  program
    .command('check [name]')
    .summary('search for one name, and store the answer as evidence')
    .description('search for one name, with a reason, and store request and answer as evidence')
    .addOption(shared('type', '<type>').choices(partyTypes))
    .addOption(shared('reason', '<text>'))
    .addOption(new Option('--show <run>', 'show an earlier check').conflicts(['type', 'reason']))
    .addHelpText(
      'after',
      examples(['check "Erika Muster" --type person --reason "file 4711"', 'check --show 12 --json']),
    )
    .action((name: string | undefined, options: CheckOptions) =>
      act((invocation) =>
        options.show === undefined ? ask(invocation, name, options) : show(invocation, options.show),
      ),
    );
}

const presentCheck = (result: CheckResult, exitCode: number): Outcome => ({
  exitCode,
  document: { schema: 'nightscreen/check/1', exitCode, ...result },
  text: formatCheck(result),
});
