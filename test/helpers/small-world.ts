import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { changeSettingsSchema } from '../../src/changes/severity.js';
import { createClient } from '../../src/client/client.js';
import type { AttemptObserver } from '../../src/client/operation.js';
import type { Pace } from '../../src/client/pace.js';
import { type Clock, shiftedClock } from '../../src/clock.js';
import { sweepSettingsSchema } from '../../src/dossiers/sweep-dossiers.js';
import { controlSchema } from '../../src/matches/control.js';
import { type RosterSettings, toFileRoster } from '../../src/roster/settings.js';
import type { AppContext, RunEvent, RunSettings } from '../../src/runs/app-context.js';
import { evidenceSettingsSchema } from '../../src/runs/app-context.js';
import { reviewSettingsSchema } from '../../src/runs/review/settings.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { loadWorld, type SandboxDossier, type SandboxWorld, type WatchlistEntry } from '../../src/sandbox/world.js';
import { toHoldBounds } from '../../src/screening/settings.js';
import type { Database } from '../../src/store/database/database.js';

/** Somebody who is on a list. */
export const listed = (id: string, name: string, topics: string[] = ['sanction']): WatchlistEntry => ({
  id: `amla_${id}`,
  schema: 'Person',
  name,
  aliases: [],
  topics,
  birth_date: ['1960-01-01'],
  country: ['fr'],
});
/** Two customers and the control. */
export const watchlist = [
  listed('one', 'Wilhelmina Achterberg'),
  listed('two', 'Oktavian Prunescu'),
  listed('c', 'Control Listed'),
];
/** Control searches that pass over `watchlist`. */
export const controls = [
  { type: 'person', name: 'Control Listed', expect: 'match' },
  { type: 'person', name: 'Zzyzx Qwfpg', expect: 'none' },
] as const;
/** Six customers, two of them listed. */
export const people = [
  'Wilhelmina Achterberg',
  'Oktavian Prunescu',
  'Tamsin Oyelaran',
  'Bertil Kvarnström',
  'Aroha Ngata',
  'Ciro Malvestuto',
];

/** So many names of customers whom no list knows. */
export const makeCustomerNames = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `Customer Number ${index}`);

/** A roster file's text: customers C-1, C-2 ... of these names. */
export const toCsv = (names: readonly string[]): string =>
  `customer_id,type,name\n${names.map((name, index) => `C-${index + 1},person,${name}\n`).join('')}`;

/** Writes a roster of these names to a new file; gives its path. */
export async function writeRoster(names: readonly string[]): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), 'nightscreen-roster-')), 'roster.csv');
  await writeFile(path, toCsv(names));
  return path;
}

/** An approved dossier of customer C-`number`; a higher number was created later. */
export const buildSandboxDossier = (number: number, facts: Partial<SandboxDossier> = {}): SandboxDossier => ({
  id: `dossier_${String(number).padStart(24, '0')}`,
  token: `T${String(number).padStart(8, '0')}`,
  type: 'kyc',
  status: 'approved',
  name: `Person ${number}`,
  reference: `C-${number}`,
  risk_score: 10,
  is_test: true,
  download_status: 'not_downloaded',
  documents_count: 1,
  created_at: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
  updated_at: new Date(Date.UTC(2026, 0, 1) + number * 60_000).toISOString(),
  completed_at: null,
  ...facts,
});

/** The one file that a roster is read from. */
export const fileOf = ({ csv }: RosterSettings): string => [csv?.path ?? []].flat()[0] ?? '';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The signal of what nobody stops. */
export const { signal } = new AbortController();

export const usualScreening = { cadenceHours: 24, leaveAfterDays: 7, controlsEvery: 10_000, reuseMaxAge: 0 as const };

/** Settings of worlds whose lists change more in a night than real ones, so that the usual bounds would hold the run. */
export const neverHeld = {
  ...usualScreening,
  hold: toHoldBounds({ vanishedLeast: 100_000, allOf: 100_000, newlyOpenLeast: 100_000 }),
};

/** What a test may set about its workplace. */
export interface AppContextOptions {
  /** Milliseconds beside the machine's clock. */
  offsetMs?: number;
  apiKey?: string;
  /** In place of the sandbox's own address. */
  url?: string;
  /** The address that the settings name, which need not be where the sandbox is. */
  baseUrl?: string;
  settings?: Partial<RunSettings>;
  maxAttempts?: number;
  baseDelayMs?: number;
  readKeyAgain?: () => string;
  /** In place of the machine's clock. */
  clock?: Clock;
  rate?: { perSecond: number; concurrency: number };
  observer?: AttemptObserver;
  pace?: Pace;
}

/** A workplace that keeps what its runs tell. */
export type TestAppContext = AppContext & { events: RunEvent[] };

/** A workplace over a sandbox with quick pace and short back-off; `events` collects what runs tell. */
export async function makeAppContext(
  database: Database,
  sandbox: Pick<Sandbox, 'url' | 'privateKey'>,
  options: AppContextOptions = {},
): Promise<TestAppContext> {
  const events: RunEvent[] = [];
  const rate = options.rate ?? { perSecond: 400, concurrency: 8 };
  const clock = options.clock ?? shiftedClock(options.offsetMs ?? 0);
  const client = createClient({
    baseUrl: options.url ?? sandbox.url,
    apiKey: options.apiKey ?? sandbox.privateKey,
    rate,
    ...(options.clock ? { clock } : {}),
    ...(options.observer ? { observer: options.observer } : {}),
    ...(options.pace ? { pace: options.pace } : {}),
    ...(options.readKeyAgain === undefined ? {} : { readKeyAgain: options.readKeyAgain }),
    retry: { maxAttempts: options.maxAttempts ?? 4, baseDelayMs: options.baseDelayMs ?? 5, maxDelayMs: 50 },
    timeoutSeconds: 5,
    ...(options.settings?.service?.mode === undefined ? {} : { mode: options.settings.service.mode }),
  });
  client.listen((event) => events.push({ kind: 'service', event }));
  return {
    database,
    client: () => client,
    clock,
    settings: {
      organisation: 'default',
      timezone: 'UTC',
      service: { baseUrl: options.baseUrl ?? sandbox.url, rate },
      rosters: [],
      controls: [],
      screening: usualScreening,
      budget: { currency: 'EUR', reserveShare: 0.05 },
      changes: changeSettingsSchema.parse({}),
      review: reviewSettingsSchema.parse({}),
      // Tests of evidence name a folder.
      evidence: evidenceSettingsSchema.parse('off'),
      sweep: sweepSettingsSchema.parse({}),
      reconciliation: { severity: {} },
      run: { deadline: '200ms' },
      reports: { dir: await mkdtemp(join(tmpdir(), 'nightscreen-reports-')) },
      ...options.settings,
    },
    settingsDigest: 'settings-of-the-test',
    owner: `test-${process.pid}`,
    version: '0.0.0-test',
    emit: (event) => events.push(event),
    secret: () => undefined,
    events,
  };
}

const fixture = (name: string): string => new URL(`../../fixtures/demo/${name}`, import.meta.url).pathname;

/** The demo's service on its first night or after the known changes. */
export async function loadDemoWorld(night: 'before' | 'after'): Promise<SandboxWorld> {
  const world = await loadWorld({
    watchlists: [fixture(`watchlist-${night}.json`)],
    dossiers: fixture(`dossiers-${night}.json`),
  });
  return night === 'before' ? world : { ...world, ranking: { shuffleSeed: 7, scoreNoise: 0.004 } };
}

/** The demo's roster. */
export const demoRoster: RosterSettings = {
  ...toFileRoster('demo', fixture('roster.csv')),
  columns: {
    parties: [
      { name: 'owners', role: { value: 'beneficial_owner' } },
      { name: 'joint_holder', role: { value: 'joint_holder' } },
    ],
  },
};

/** The demo's control searches. */
export const readDemoControls = async () =>
  z.array(controlSchema).parse(JSON.parse(await readFile(fixture('controls.json'), 'utf8')));

const expectedSchema = z.object({
  matches: z.array(
    z.object({
      reference: z.string(),
      kind: z.string(),
      matchId: z.string(),
      matchName: z.string(),
      fields: z.array(z.string()),
    }),
  ),
  dossiers: z.array(
    z.object({
      dossierId: z.string(),
      kind: z.string(),
      from: z.string().nullable(),
      to: z.string().nullable(),
      fields: z.array(z.string()),
    }),
  ),
});

/** Exactly what must be found to have changed between the two nights. */
export const readExpectedChanges = async () =>
  expectedSchema.parse(JSON.parse(await readFile(fixture('expected-changes.json'), 'utf8')));
