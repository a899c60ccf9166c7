import { ConfigError } from '../../errors.js';
import { defineCommand, flag } from '../command.js';
import { type Finding, wrong } from '../doctor/finding.js';
import { exitCodes } from '../exit-code.js';
import { type Invocation, toOutcome } from '../invocation.js';
import { loadInvocationConfig } from '../session.js';
import { formatTable } from '../text.js';

export const command = defineCommand({
  usage: 'doctor',
  isForEach: true,
  description: 'check settings, key, service, database, folders, rosters, mail, webhooks, pings and schedules',
  options: { deep: flag('also compare all stored evidence with its digests, which reads the whole database') },
  examples: ['doctor', 'doctor --deep'],
  run: async ({ options: { deep }, invocation }) => {
    const checks = await examine(invocation, deep);
    const isWell = checks.every((finding) => finding.state !== 'fail');
    return toOutcome(
      'nightscreen/doctor/1',
      { ok: isWell, checks },
      formatFindings(checks),
      isWell ? exitCodes.complete : exitCodes.incomplete,
    );
  },
});

async function examine(invocation: Invocation, isDeep = false): Promise<readonly Finding[]> {
  try {
    const config = loadInvocationConfig(invocation);
    const { checkAll } = await import('../doctor/check-all.js');
    return await checkAll(config, invocation.folder, isDeep);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ where, path, message }) =>
      wrong('config', `${where}: ${path === '' ? '' : `${path}: `}${message}`, 'correct it; the other checks need it'),
    );
  }
}

/** Findings as a table, each with what to do about it. */
export const formatFindings = (findings: readonly Finding[]): string =>
  formatTable(
    findings.flatMap(({ check, state, message, next }) => [
      [state, check, message],
      ...(next === null ? [] : [['', '', `-> ${next}`]]),
    ]),
  );
