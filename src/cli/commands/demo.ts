import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Clock, shiftedClock, systemClock } from '../../clock.js';
import type { Config } from '../../config/load-config.js';
import { usageError } from '../../errors.js';
import { makeFolder } from '../../files.js';
import { codeWords } from '../../vocabulary/words.js';
import { buildAppContext } from '../app-context.js';
import { defineCommand } from '../command.js';
import {
  compareWithExpected,
  dayMs,
  loadDemoWorld,
  playNight,
  readExpected,
  readReportJson,
  toDemoSettings,
  toSandboxConfig,
} from '../demo-nights.js';
import { combineExitCodes, exitCodes } from '../exit-code.js';
import { type Invocation, type Outcome, toOutcome } from '../invocation.js';
import { showProgress } from '../progress.js';
import type { Terminal } from '../terminal.js';
import { describeCounts, formatTable } from '../text.js';

const markerName = '.nightscreen-demo';
const ownedNames = ['database', 'reports', 'evidence'];

type DemoFolder = Awaited<ReturnType<typeof prepareDemoFolder>>;

/**
 * Creates or resets the demo's own folder, and locks it against other demos until `release`. Throws ConfigError when the folder is not the demo's own (it stays unchanged)
 * or cannot be written, RunLockedError when another demo runs in it.
 */
export async function prepareDemoFolder(folder: string) {
  const marker = join(folder, markerName);
  await makeFolder(folder, 'start the demo in another folder');
  if (!existsSync(marker)) {
    if ((await readdir(folder)).length > 0) {
      const message =
        'exists and was not created by the demo, so it stays unchanged; move it, or start the demo in another folder';
      throw usageError(folder, message);
    }
    await writeFile(marker, 'The demo of Nightscreen created this folder and empties it at each start.\n');
  }
  const { lockFolder } = await import('../../store/database/folder-lock.js');
  const lock = await lockFolder(folder, 'nightscreen demo');
  try {
    for (const name of ownedNames) await rm(join(folder, name), { recursive: true, force: true });
  } catch (error) {
    await lock.release();
    throw error;
  }
  const toPath = (name: string): string => join(folder, name);
  return {
    database: toPath('database'),
    reports: toPath('reports'),
    evidence: toPath('evidence'),
    release: () => lock.release(),
  };
}

/** The demo's configuration: the sandbox as the service, the fixture roster, all data in the demo's folder. */
async function makeDemoConfig(folder: DemoFolder, baseUrl: string, apiKey: string): Promise<Config> {
  const own = {
    service: { baseUrl, mode: 'test' as const, rate: { perSecond: 150, concurrency: 8 } },
    reports: { dir: folder.reports },
    evidence: { dir: folder.evidence },
    mail: { from: 'nightscreen@bank.example', to: ['reviewer@bank.example'] },
    database: { folder: folder.database },
  };
  // It has more rejected rows than the default guard allows, to show how they are reported.
  const roster = { file: 'roster.csv', guards: { maxRejectShare: 0.02 } };
  return toSandboxConfig(await toDemoSettings(own, roster), 'default', apiKey);
}

type Night = Awaited<ReturnType<typeof playMailedNight>>;

/** Runs one night with the given clock, and mails its report as `.eml` files. */
async function playMailedNight(config: Config, clock: Clock, terminal: Terminal, signal: AbortSignal) {
  const { mailRunReport } = await import('../../runs/mail/deliver.js');
  const { emit, close } = showProgress(terminal, config.settings.service.rate.perSecond, '  ');
  const app = await buildAppContext({ config, command: 'demo', emit, clock });
  try {
    const { screening, sweep, report } = await playNight(app, signal);
    await mailRunReport(app, report, signal);
    return { screening, sweep, report: report.directory };
  } finally {
    await app.close();
    close();
  }
}

/** The difference between the expected and the reported changes, each as one line of words. */
type Comparison = ReturnType<typeof compareWithExpected>;

const demoFolderName = 'nightscreen-demo';

async function playNights(invocation: Invocation, folder: DemoFolder): Promise<[Night, Night]> {
  const { terminal, signal } = invocation;
  const { startSandbox } = await import('../../sandbox/start-sandbox.js');
  const sandbox = await startSandbox({ world: await loadDemoWorld('before') });
  try {
    const config = await makeDemoConfig(folder, sandbox.url, sandbox.privateKey);
    terminal.writeMessage(`A sandbox acts as the service at ${sandbox.url}\n\nNight 1 (yesterday)\n`);
    const first = await playMailedNight(config, shiftedClock(-dayMs), terminal, signal);
    sandbox.setWorld({ ...(await loadDemoWorld('after')), ranking: { shuffleSeed: 7, scoreNoise: 0.004 } });
    terminal.writeMessage('\nLists and dossiers change, and all ranks shift a little\n\nNight 2 (today)\n');
    const second = await playMailedNight(config, systemClock, terminal, signal);
    return [first, second];
  } finally {
    await sandbox.close();
  }
}

function formatVerdict({ expected, kinds, missing, unexpected }: Comparison): string {
  if (missing.length + unexpected.length === 0) {
    const { matches, dossiers, discrepancies } = kinds;
    return `Exactly the ${expected} expected changes were found: ${matches} of matches, ${dossiers} of dossiers, ${discrepancies} of discrepancies.\n`;
  }
  const lines = [
    ...missing.map((line) => `  missing     ${line}`),
    ...unexpected.map((line) => `  unexpected  ${line}`),
  ];
  return `The report of the second night differs from the expected one:\n${lines.join('\n')}\n`;
}

function formatNights(nights: readonly Night[], folder: string): string {
  const sums = nights.flatMap(({ screening: { counts, state, reasons } }, index) => {
    const head = [`night ${index + 1}`, codeWords.runState[state]];
    // The first sentence says why; what to do about it is for a roster of one's own.
    const because = reasons.map((reason) => ['', '', reason.split('. ')[0] ?? reason]);
    if (!('screened' in counts)) return [head, ...because];
    const { customers, screened, hits, changes } = counts;
    return [[...head, describeCounts({ customers, screened, hits, matchChanges: changes })], ...because];
  });
  const reports = nights.map(({ report }, index) => [
    `report ${index + 1}`,
    join(relative(folder, report) || report, 'report.html'),
  ]);
  const mail = nights.slice(-1).map(({ report }) => ['mail', relative(folder, join(dirname(report), 'mail'))]);
  const next = [
    ['review', `NIGHTSCREEN_DATA=${demoFolderName}/database npx --no nightscreen review export`],
    ['verify', `npx --no nightscreen evidence verify ${demoFolderName}/evidence`],
  ];
  return `${formatTable(sums)}\n${formatTable([...reports, ...mail, ...next])}`;
}

async function playDemo(invocation: Invocation): Promise<Outcome> {
  const folder = await prepareDemoFolder(join(invocation.folder, demoFolderName));
  try {
    const { options, terminal } = invocation;
    const shown = options.quiet ? { ...terminal, isScreen: false, writeMessage: () => undefined } : terminal;
    const nights = await playNights({ ...invocation, terminal: shown }, folder);
    const comparison = compareWithExpected(await readReportJson(nights[1].report), await readExpected());
    const isExact = comparison.missing.length + comparison.unexpected.length === 0;
    const runs = nights.flatMap(({ screening, sweep }) => [screening, sweep]);
    // Five rows of the demo's roster are rejected on purpose, so its nights are incomplete.
    const codes = runs.map((run) => run.exitCode).filter((code) => code !== exitCodes.incomplete);
    return toOutcome(
      'nightscreen/demo/1',
      { runs, comparison, reports: nights.map(({ report }) => report) },
      `\n${formatVerdict(comparison)}\n${formatNights(nights, invocation.folder)}`,
      isExact ? combineExitCodes(codes) : exitCodes.unexpected,
    );
  } finally {
    await folder.release();
  }
}

export const command = defineCommand({
  usage: 'demo',
  description: 'run two nights against a sandbox on this machine; needs no configuration',
  examples: ['demo', 'demo --json'],
  run: ({ invocation }) => playDemo(invocation),
});
