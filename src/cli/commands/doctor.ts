import type { Command } from 'commander';
import type { Config } from '../../config/load-config.js';
import { ConfigError } from '../../errors.js';
import { checkMail, checkRosters } from '../doctor/check-inputs.js';
import { checkClock, checkDatabase, checkFolder, checkSchedules } from '../doctor/check-machine.js';
import { checkService } from '../doctor/check-service.js';
import { type Finding, well, wrong } from '../doctor/finding.js';
import { examples } from '../examples.js';
import { exitCodes } from '../exit-code.js';
import { formatTable } from '../format-table.js';
import type { Act, Invocation } from '../invocation.js';
import { loadInvocationConfig } from '../session.js';

async function checkAll(config: Config): Promise<Finding[]> {
  const { database, reports } = config.settings;
  const isEmbedded = config.secret('DATABASE_URL') === undefined;
  return [
    well('config', config.file ?? 'no file, defaults and environment only'),
    ...(await checkService(config)),
    checkClock(),
    await checkDatabase(config),
    ...(isEmbedded ? [await checkFolder('data folder', 'database.folder', database.folder)] : []),
    await checkFolder('reports', 'reports.dir', reports.dir),
    ...checkRosters(config),
    ...checkMail(config),
    ...checkSchedules(config),
  ];
}

async function examine(invocation: Invocation): Promise<Finding[]> {
  try {
    return await checkAll(loadInvocationConfig(invocation));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.problems.map(({ where, path, message }) =>
      wrong('config', `${where}: ${path === '' ? '' : `${path}: `}${message}`, 'correct it; the other checks need it'),
    );
  }
}

/** Adds `doctor`. */
export function addDoctorCommand(program: Command, act: Act): void {
  program
    .command('doctor')
    .description('check settings, key, service, database, folders, rosters, mail and schedules')
    .addHelpText('after', examples(['doctor', 'doctor --json']))
    .action(() =>
      act(async (invocation) => {
        const findings = await examine(invocation);
        const isWell = findings.every((finding) => finding.state !== 'fail');
        return {
          exitCode: isWell ? exitCodes.complete : exitCodes.incomplete,
          document: { schema: 'nightscreen/doctor/1', ok: isWell, checks: findings },
          text: formatTable(
            findings.flatMap(({ check, state, message, next }) => [
              [state, check, message],
              ...(next === null ? [] : [['', '', `-> ${next}`]]),
            ]),
          ),
        };
      }),
    );
}
