import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { keyVariable } from '../config/environment.js';
import type { Config } from '../config/load-config.js';
import { configSchema, digestSettings } from '../config/schema.js';
import type { ReportJson } from '../reports/report-json.js';
import type { RosterSettings } from '../roster/settings.js';
import type { AppContext } from '../runs/app-context.js';
import type { SandboxWorld } from '../sandbox/world.js';
import { findDemoFixture } from './process.js';

export const dayMs = 86_400_000;

/** The lists and dossiers of the demo's service: on the first night, or after the known changes. */
export type LoadDemoWorld = (state: 'before' | 'after') => Promise<SandboxWorld>;

export const loadDemoWorld: LoadDemoWorld = async (state) => {
  const { loadWorld } = await import('../sandbox/world.js');
  return loadWorld({
    watchlists: [findDemoFixture(`watchlist-${state}.json`)],
    dossiers: findDemoFixture(`dossiers-${state}.json`),
  });
};

const readFixture = async (name: string): Promise<unknown> => JSON.parse(await readFile(findDemoFixture(name), 'utf8'));

/** The settings of the demo's nights, with some of one's own; `file` is the fixture of the roster. */
export async function toDemoSettings(
  own: Omit<z.input<typeof configSchema>, 'rosters' | 'controls'>,
  { file, guards }: { file: string; guards: RosterSettings['guards'] | { maxRejectShare: number } },
): Promise<z.output<typeof configSchema>> {
  const roster = {
    name: 'demo',
    csv: { path: findDemoFixture(file) },
    columns: {
      parties: [
        { name: 'owners', role: { value: 'beneficial_owner' } },
        { name: 'joint_holder', role: { value: 'joint_holder' } },
      ],
    },
    dossiers: { expect: 'never' },
    guards,
  };
  return configSchema.parse({ ...own, rosters: [roster], controls: await readFixture('controls.json') });
}

/** A configuration of these settings, without a file, whose only secret is the key of the sandbox. */
export const toSandboxConfig = (
  settings: z.output<typeof configSchema>,
  organisation: string,
  apiKey: string,
): Config => ({
  settings: { ...settings, organisation },
  file: null,
  settingsDigest: digestSettings(settings),
  organisations: [organisation],
  variableOf: (name) => name,
  keyProblems: [],
  secrets: [{ name: keyVariable, value: apiKey, from: keyVariable }],
  secret: (name) => (name === keyVariable ? apiKey : undefined),
  originOf: () => 'demo',
});

/** The only roster of the demo's settings. */
export function findDemoRoster({ settings }: Pick<AppContext, 'settings'>): RosterSettings {
  const [roster] = settings.rosters;
  if (!roster) throw new Error('the demo has no roster');
  return roster;
}

/** Runs one night: sweep, import, screen, reconcile, report. */
export async function playNight(app: AppContext, signal: AbortSignal) {
  const { runScreening } = await import('../runs/screening-run.js');
  const { runSweep } = await import('../runs/sweep-run.js');
  const { writeReportFor } = await import('../runs/write-reports.js');
  const plan = { kind: 'rescreen', selection: 'due', importFirst: true, writeReport: false } as const;
  const sweep = await runSweep(app, { writeReport: false }, signal);
  signal.throwIfAborted();
  const screening = await runScreening(app, { ...plan, roster: findDemoRoster(app) }, signal);
  signal.throwIfAborted();
  return { sweep, screening, report: await writeReportFor(app, screening.runId) };
}

/** The `report.json` of a folder; throws ZodError for another shape. */
export async function readReportJson(folder: string): Promise<ReportJson> {
  const { reportJsonSchema } = await import('../reports/report-json.js');
  return reportJsonSchema.parse(JSON.parse(await readFile(join(folder, 'report.json'), 'utf8')));
}

const countSchema = z.number().int();

const expectedSchema = z.object({
  /** The hits of the first night, each as the reference of a customer and the id of a match. */
  hits: z.array(z.string()),
  /** The rows of `roster-part.csv`, which has all customers with hits and changes. */
  part: z.object({ rows: countSchema, customers: countSchema, rejected: countSchema, duplicates: countSchema }),
  matches: z.array(
    z.object({ reference: z.string(), kind: z.string(), matchId: z.string(), fields: z.array(z.string()) }),
  ),
  dossiers: z.array(z.object({ dossierId: z.string(), kind: z.string(), fields: z.array(z.string()).default([]) })),
  discrepancies: z.array(z.object({ reference: z.string(), event: z.string(), kind: z.string() })),
});

/** What the demo's nights must find; throws ZodError when the fixture is malformed. */
export const readExpected = async () => expectedSchema.parse(await readFixture('expected-changes.json'));

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

/** Compares the changes of a report with the expected ones: their number, and the difference as lines of words. */
export function compareWithExpected(
  report: ReportJson,
  { matches, dossiers, discrepancies }: z.infer<typeof expectedSchema>,
) {
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
