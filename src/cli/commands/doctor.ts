import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import { type Finding, wrong } from '../doctor/finding.js';
import type { ProbeReport } from '../doctor/probe.js';
import { exitCodes } from '../exit-code.js';
import type { Act, Invocation } from '../invocation.js';
import { examples, parseWholeNumber } from '../options.js';
import { loadInvocationConfig } from '../session.js';
import { formatTable } from '../text.js';

interface DoctorOptions {
  deep?: true;
  probe?: true;
  spend?: number;
}

/** `probe` is null without `--probe`, and when the configuration is wrong. */
async function examine(
  invocation: Invocation,
  options: DoctorOptions,
): Promise<{ checks: Finding[]; probe: ProbeReport | null }> {
  try {
    const config = loadInvocationConfig(invocation);
    const { checkAll } = await import('../doctor/check-all.js');
    const { checks, mode } = await checkAll(config, invocation.folder, options.deep);
    if (!options.probe) return { checks, probe: null };
    const { probeService } = await import('../doctor/probe.js');
    const { signal } = invocation;
    return { checks, probe: await probeService(config, { mode, spend: options.spend ?? 0, signal }) };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const checks = error.problems.map(({ where, path, message }) =>
      wrong('config', `${where}: ${path === '' ? '' : `${path}: `}${message}`, 'correct it; the other checks need it'),
    );
    return { checks, probe: null };
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

function formatProbe({ findings, calls, snippet }: ProbeReport): string {
  return [
    '\nThe name parameter of a search:\n',
    formatFindings(findings),
    `\n${calls.total === 1 ? '1 call' : `${calls.total} calls`}, ${calls.searches} of them searches\n`,
    snippet === ''
      ? ''
      : `\n# for nightscreen.config.yaml; if it has a service: group already, add these lines to that group\n${snippet}`,
  ].join('');
}

/** Adds `doctor`. */
export function addDoctorCommand(program: Command, act: Act): void {
  program
    .command('doctor')
    .summary('check settings, key, service, database, rosters, mail')
    .description('check settings, key, service, database, folders, rosters, mail, webhooks, pings and schedules')
    .option('--deep', 'also compare all stored evidence with its digests, which reads the whole database')
    .option('--probe', 'also find the name field of the search, and print settings to paste; creates nothing')
    .option('--spend <count>', 'how many searches the probe may make, 0 to 20 (default: 0)', parseWholeNumber(0, 20))
    .addHelpText('after', examples(['doctor --deep', 'doctor --probe --spend 2']))
    .action((options: DoctorOptions, command: Command) => {
      if (options.spend !== undefined && !options.probe) {
        command.error("error: option '--spend <count>' cannot be used without option '--probe'");
      }
      return act(async (invocation) => {
        const { checks, probe } = await examine(invocation, options);
        const isWell = [...checks, ...(probe?.findings ?? [])].every((finding) => finding.state !== 'fail');
        return {
          exitCode: isWell ? exitCodes.complete : exitCodes.incomplete,
          document: { schema: 'nightscreen/doctor/1', ok: isWell, checks, ...(probe === null ? {} : { probe }) },
          text: formatFindings(checks) + (probe === null ? '' : formatProbe(probe)),
        };
      });
    });
}
