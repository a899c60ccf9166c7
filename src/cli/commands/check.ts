import { definePreparedCommand, mandatory } from '../command.js';
import { toOutcome } from '../invocation.js';
import { shared } from '../options.js';
import { formatCheck } from '../present-run.js';
import { findCurrentUser } from '../process.js';

export const command = definePreparedCommand({
  usage: 'check <name>',
  description: 'search for one name, with a reason, and store request and answer as evidence',
  options: { type: mandatory(shared.type), reason: mandatory(shared.reason) },
  examples: ['check "Erika Muster" --type person --reason "file 4711"', 'check "Muster AG" --type entity --reason new'],
  needs: { service: true, createsDatabase: true },
  prepare: async ({ argument: name, options }) => {
    const { toCheckedRequest } = await import('../../runs/checks/check.js');
    const question = { name, ...options, askedBy: findCurrentUser() };
    toCheckedRequest(question);
    return question;
  },
  run: async (app, { prepared: question, signal }) => {
    const { runCheck } = await import('../../runs/checks/check.js');
    const { result, exitCode } = await runCheck(app, question, signal);
    return toOutcome('nightscreen/check/1', { exitCode, ...result }, formatCheck(result), exitCode);
  },
});
