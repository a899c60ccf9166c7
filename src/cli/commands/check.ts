import { ConfigError } from '../../errors.js';
import { definePreparedCommand } from '../command.js';
import { shared } from '../options.js';
import { formatCheck } from '../present-run.js';
import { findCurrentUser } from '../process.js';

export const addCheckCommand = definePreparedCommand({
  usage: 'check [name]',
  description: 'search for one name, with a reason, and store request and answer as evidence',
  options: { type: shared.type, reason: shared.reason },
  examples: ['check "Erika Muster" --type person --reason "file 4711"', 'check "Muster AG" --type entity --reason new'],
  needs: { service: true, createsDatabase: true },
  prepare: async ({ argument: name, options: { type, reason } }) => {
    const { toCheckedRequest } = await import('../../runs/checks/check.js');
    if (name === undefined || type === undefined || reason === undefined) throw refuseMissing({ name, type, reason });
    const question = { name, type, reason, askedBy: findCurrentUser() };
    toCheckedRequest(question);
    return question;
  },
  run: async (app, { prepared: question, signal }) => {
    const { runCheck } = await import('../../runs/checks/check.js');
    const { result, exitCode } = await runCheck(app, question, signal);
    return {
      exitCode,
      document: { schema: 'nightscreen/check/1', exitCode, ...result },
      text: formatCheck(result),
    };
  },
});

function refuseMissing(question: Readonly<Record<'name' | 'type' | 'reason', string | undefined>>): ConfigError {
  const messages = {
    name: ['argument name', 'is missing: the name to search for'],
    type: ['flag --type', 'is missing: person or entity'],
    reason: ['flag --reason', 'is missing: why this name is searched; it is stored as evidence'],
  } as const;
  const missing = (['name', 'type', 'reason'] as const).filter((part) => question[part] === undefined);
  return new ConfigError(
    missing.map((part) => {
      const [where, message] = messages[part];
      return { where, path: '', message };
    }),
  );
}
