import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import type { Environment } from '../../config/environment.js';
import type { Config } from '../../config/load-config.js';
import { ConfigError, flagError, usageError } from '../../errors.js';
import { findFolderProblem } from '../../files.js';
import { formatCount, keep } from '../../reports/text.js';
import { reportGroup, type WrittenGroupReport } from '../../runs/group-report.js';
import { type SentReport, sendGroupReport, sendReports } from '../../runs/mail/manage.js';
import { reportSpans, runReports } from '../../runs/write-reports.js';
import { findMissingMail } from '../app-context.js';
import { definePreparedCommand, flag, type OptionValues, parsed, text } from '../command.js';
import { combineExitCodes, exitCodes } from '../exit-code.js';
import { type Invocation, type Outcome, toOutcome } from '../invocation.js';
import { meanings, parseInstant, shared } from '../options.js';
import { describeMailState, formatTable } from '../text.js';

const dayMs = 86_400_000;

function requireMail(config: Config): void {
  if (!config.settings.mail)
    throw flagError(
      '--send',
      'no mail is configured: write `mail:` with `from` and `to` (or `recipients`) into the file',
    );
  const [missing] = findMissingMail(config);
  if (missing) throw flagError('--send', `${missing.path} ${missing.message}`);
}

function presentReports(reports: readonly SentReport[]): Outcome {
  const outcomes = reports.map(presentReport);
  const [first] = outcomes;
  if (first && outcomes.length === 1) return first;
  return toOutcome(
    'nightscreen/report-files-list/2',
    { reports: outcomes.map((outcome) => outcome.document) },
    outcomes.map((outcome) => outcome.text).join('\n\n'),
    combineExitCodes(outcomes.map((outcome) => outcome.exitCode)),
  );
}

function presentReport({ runNumber: _, ...report }: SentReport): Outcome {
  const { runId, state, directory, files, mails } = report;
  const isSent = mails.every((mail) => mail.state === 'sent');
  return toOutcome(
    'nightscreen/report-files/2',
    report,
    formatTable([
      ['run', `${runId} (${state})`],
      ...files.map((file) => ['file', `${directory}/${file.name} (${formatCount(file.bytes)} bytes)`]),
      ...mails.map((mail) => ['mail', `${mail.recipient}: ${describeMailState(mail)}`]),
    ]),
    combineExitCodes([report.exitCode, ...(isSent ? [] : [exitCodes.incomplete])]),
  );
}

/** A day, a moment, or the name of a run; a span includes its last day. */
const parseEdge =
  (isEnd: boolean) =>
  (text: string): Date | string => {
    if (!/^\d{4}-\d{2}-\d{2}(T.*)?$/.test(text)) return text;
    const instant = parseInstant(text);
    return isEnd && !text.includes('T') ? new Date(instant.getTime() + dayMs) : instant;
  };

type ReportOptions = OptionValues<typeof options>;

function refuseMixture({ all, since, until, roster, run, send, mask }: ReportOptions): void {
  if (all) {
    const [excluded] = keep(roster !== undefined && '--roster', run !== undefined && '--run', mask && '--mask');
    if (excluded)
      throw flagError(excluded, 'and --all exclude each other: it is one report over all rosters, without names');
  }
  const needsSpan = 'needs --since, the start of the span';
  if (since === undefined && until !== undefined) throw flagError('--until', needsSpan);
  if (since === undefined && roster !== undefined) throw flagError('--roster', needsSpan);
  if (since !== undefined && run !== undefined) throw flagError('--run', 'and --since exclude each other');
  if (since !== undefined && send && !all)
    throw flagError('--send', 'mails the report of a run; the report of a span is only written');
  if (send && mask)
    throw flagError('--mask', 'does not apply to mail: write `attach: masked` into mail.recipients, and remove --mask');
}

const resolveOut = ({ out }: ReportOptions, { folder }: Invocation): string | undefined =>
  out === undefined ? undefined : resolve(folder, out);

function requireWritable(out: string | undefined, { settings, originOf }: Config): void {
  const problem = findFolderProblem(out ?? settings.reports.dir);
  if (problem === null) return;
  if (out !== undefined) throw flagError('--out', problem);
  const message = `cannot be written: ${problem}; name another folder with --out`;
  throw new ConfigError([{ where: originOf(['reports', 'dir']), path: 'reports.dir', message }]);
}

/** The report over all rosters; exit code 3 unless each of them is complete. */
function presentGroup({ report, directory, files, mails }: WrittenGroupReport & Pick<SentReport, 'mails'>): Outcome {
  const { name, verdict } = report;
  const isSent = mails.every((mail) => mail.state === 'sent');
  return toOutcome(
    'nightscreen/group-report-files/1',
    { name, level: verdict.level, summary: verdict.short, directory, files, mails },
    formatTable([
      ['report', `${name} (${verdict.level})`],
      ['result', verdict.short],
      ...files.map((file) => ['file', `${directory}/${file.name} (${formatCount(file.bytes)} bytes)`]),
      ...mails.map((mail) => ['mail', `${mail.recipient}: ${describeMailState(mail)}`]),
    ]),
    verdict.level === 'complete' && isSent ? exitCodes.complete : exitCodes.incomplete,
  );
}

const options = {
  all: shared.all,
  run: text('<id>', meanings.run),
  since: parsed('<day|run>', meanings.since, parseEdge(false)),
  until: parsed('<day|run>', meanings.until, parseEdge(true)),
  roster: shared.roster,
  pdf: flag('print the page to report.pdf too (needs Chromium)'),
  out: text('<dir>', meanings.out),
  send: shared.send,
  mask: flag('write it with references and initials instead of names'),
};

export const command = definePreparedCommand({
  usage: 'report',
  description:
    'write the report of a run, with --since of a span, or with --all of the night of all rosters; --send mails it',
  options,
  examples: ['report --run 12 --out ./for-review', 'report --all --since 2026-03-01 --pdf'],
  prepare: ({ config, options, invocation }) => {
    refuseMixture(options);
    if (options.send) requireMail(config);
    requireWritable(resolveOut(options, invocation), config);
    return options.pdf ? findChromium(invocation.environment) : undefined;
  },
  run: async (app, { prepared: chromium, options, invocation }) => {
    const { all, since, until, roster, run: runId, mask, send } = options;
    const directory = resolveOut(options, invocation);
    if (all && send) return presentGroup(await sendGroupReport(app, { since, until }, { directory, chromium }));
    if (all) return presentGroup({ ...(await reportGroup(app, { since, until }, { directory, chromium })), mails: [] });
    if (send) {
      return presentReports(await sendReports(app, { runId, directory, mask, chromium }));
    }
    const reports =
      since === undefined
        ? await runReports(app, { runId, directory, mask, chromium })
        : await reportSpans(app, { since, until, roster }, { directory, mask, chromium });
    return presentReports(reports.map((report) => ({ ...report, mails: [] })));
  },
});

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The program that prints PDFs: `CHROMIUM_PATH`, else the first usual name on `PATH`; throws ConfigError. */
export function findChromium(environment: Environment): string {
  const named = environment['CHROMIUM_PATH'];
  if (named) {
    if (isProgram(named)) return named;
    throw usageError('env CHROMIUM_PATH', `does not name an executable program (${named})`);
  }
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isProgram);
  if (found !== undefined) return found;
  throw flagError(
    '--pdf',
    'Chromium was not found: install it (Debian: `apt-get install chromium`) or Google Chrome, or set CHROMIUM_PATH',
  );
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
