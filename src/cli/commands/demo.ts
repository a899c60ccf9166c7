import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';
import { type Clock, shiftedClock, systemClock } from '../../clock.js';
import { keyVariable } from '../../config/environment.js';
import type { Config } from '../../config/load-config.js';
import { configSchema, digestSettings } from '../../config/schema.js';
import { usageError } from '../../errors.js';
import { makeFolder } from '../../files.js';
import type { ReportJson } from '../../reports/report-json.js';
import { codeWords } from '../../vocabulary/words.js';
import { buildAppContext } from '../app-context.js';
import { defineCommand } from '../command.js';
import { combineExitCodes, exitCodes } from '../exit-code.js';
import { type Invocation, type Outcome, toOutcome } from '../invocation.js';
import { findDemoFixture } from '../process.js';
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
  const controls: unknown = JSON.parse(await readFile(findDemoFixture('controls.json'), 'utf8'));
  const settings = configSchema.parse({
    service: { baseUrl, mode: 'test', rate: { perSecond: 150, concurrency: 8 } },
    // The demo's roster has more rejected rows than the default guard allows, to show how they are reported.
    rosters: [
      {
        name: 'demo',
        csv: { path: findDemoFixture('roster.csv') },
        columns: {
          parties: [
            { name: 'owners', role: { value: 'beneficial_owner' } },
            { name: 'joint_holder', role: { value: 'joint_holder' } },
          ],
        },
        dossiers: { expect: 'never' },
        guards: { maxRejectShare: 0.02 },
      },
    ],
    controls,
    reports: { dir: folder.reports },
    evidence: { dir: folder.evidence },
    mail: { from: 'nightscreen@bank.example', to: ['reviewer@bank.example'] },
    database: { folder: folder.database },
  });
  return {
    settings: { ...settings, organisation: 'default' },
    file: null,
    settingsDigest: digestSettings(settings),
    organisations: ['default'],
    variableOf: (name) => name,
    keyProblems: [],
    secrets: [{ name: keyVariable, value: apiKey, from: keyVariable }],
    secret: (name) => (name === keyVariable ? apiKey : undefined),
    originOf: () => 'demo',
  };
}

type Night = Awaited<ReturnType<typeof playNight>>;

/** Runs one night with the given clock: sweep, import, screen, reconcile, report and mail as `.eml` files. */
async function playNight(config: Config, clock: Clock, terminal: Terminal, signal: AbortSignal) {
  const { runScreening } = await import('../../runs/screening-run.js');
  const { runSweep } = await import('../../runs/sweep-run.js');
  const { mailRunReport } = await import('../../runs/mail/deliver.js');
  const { writeReportFor } = await import('../../runs/write-reports.js');
  const { emit, close } = showProgress(terminal, config.settings.service.rate.perSecond, '  ');
  const app = await buildAppContext({ config, command: 'demo', emit, clock });
  try {
    const [roster] = app.settings.rosters;
    if (!roster) throw new Error('the demo has no roster');
    const plan = { kind: 'rescreen', selection: 'due', importFirst: true, writeReport: false } as const;
    const sweep = await runSweep(app, { writeReport: false }, signal);
    signal.throwIfAborted();
    const screening = await runScreening(app, { ...plan, roster }, signal);
    signal.throwIfAborted();
    const report = await writeReportFor(app, screening.runId);
    await mailRunReport(app, report, signal);
    return { screening, sweep, report: report.directory };
  } finally {
    await app.close();
    close();
  }
}

const expectedSchema = z.object({
  matches: z.array(
    z.object({ reference: z.string(), kind: z.string(), matchId: z.string(), fields: z.array(z.string()) }),
  ),
  dossiers: z.array(z.object({ dossierId: z.string(), kind: z.string(), fields: z.array(z.string()).default([]) })),
  discrepancies: z.array(z.object({ reference: z.string(), event: z.string(), kind: z.string() })),
});

/** The difference between the expected and the reported changes, each as one line of words. */
type Comparison = ReturnType<typeof compareWithExpected>;

const describe = (about: string, kind: string, id: string, fields: readonly string[]): string =>
  `${about} ${kind} ${id}${fields.length > 0 ? ` (${fields.toSorted().join(', ')})` : ''}`;

/** The entries of `minuend` without one entry for each entry of `subtrahend`. */
export function subtract(minuend: readonly string[], subtrahend: readonly string[]): string[] {
  const rest = [...subtrahend];
  return minuend.filter((line) => {
    const at = rest.indexOf(line);
    if (at >= 0) rest.splice(at, 1);
    return at < 0;
  });
}

/** Compares the changes of a report with the expected ones; throws ZodError when the expectation is malformed. */
function compareWithExpected(report: ReportJson, expectation: unknown) {
  const { matches, dossiers, discrepancies } = expectedSchema.parse(expectation);
  const expected = [
    ...matches.map(({ reference, kind, matchId, fields }) => describe(reference, kind, matchId, fields)),
    ...dossiers.map(({ dossierId, kind, fields }) => describe('dossier', kind, dossierId, fields)),
    ...discrepancies.map(({ reference, event, kind }) => describe(reference, event, kind, [])),
  ];
  const found = [
    ...(report.changes ?? []).map(({ party, kind, matchId, fields }) =>
      describe(party.reference, kind, matchId, fields),
    ),
    ...(report.dossierChanges ?? []).map(({ dossierId, kind, fields }) => describe('dossier', kind, dossierId, fields)),
    ...report.reconciliations.flatMap(({ news }) =>
      news.map(({ event, kind, facts }) => describe(String(facts['reference']), event, kind, [])),
    ),
  ];
  const kinds = { matches: matches.length, dossiers: dossiers.length, discrepancies: discrepancies.length };
  return {
    expected: expected.length,
    kinds,
    missing: subtract(expected, found),
    unexpected: subtract(found, expected),
  };
}

const demoFolderName = 'nightscreen-demo';
const dayMs = 86_400_000;

async function playNights(invocation: Invocation, folder: DemoFolder): Promise<[Night, Night]> {
  const { terminal, signal } = invocation;
  const { startSandbox } = await import('../../sandbox/start-sandbox.js');
  const { loadWorld } = await import('../../sandbox/world.js');
  const worldOf = (state: 'before' | 'after'): ReturnType<typeof loadWorld> =>
    loadWorld({
      watchlists: [findDemoFixture(`watchlist-${state}.json`)],
      dossiers: findDemoFixture(`dossiers-${state}.json`),
    });
  const sandbox = await startSandbox({ world: await worldOf('before') });
  try {
    const config = await makeDemoConfig(folder, sandbox.url, sandbox.privateKey);
    terminal.writeMessage(`A sandbox acts as the service at ${sandbox.url}\n\nNight 1 (yesterday)\n`);
    const first = await playNight(config, shiftedClock(-dayMs), terminal, signal);
    sandbox.setWorld({ ...(await worldOf('after')), ranking: { shuffleSeed: 7, scoreNoise: 0.004 } });
    terminal.writeMessage('\nLists and dossiers change, and all ranks shift a little\n\nNight 2 (today)\n');
    const second = await playNight(config, systemClock, terminal, signal);
    return [first, second];
  } finally {
    await sandbox.close();
  }
}

async function compareNight(night: Night): Promise<Comparison> {
  const { reportJsonSchema } = await import('../../reports/report-json.js');
  const report: unknown = JSON.parse(await readFile(join(night.report, 'report.json'), 'utf8'));
  const expectation: unknown = JSON.parse(await readFile(findDemoFixture('expected-changes.json'), 'utf8'));
  return compareWithExpected(reportJsonSchema.parse(report), expectation);
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
    const comparison = await compareNight(nights[1]);
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
