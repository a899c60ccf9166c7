import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { changeSettingsSchema } from '../../src/changes/severity.js';
import { createClient } from '../../src/client/client.js';
import type { AttemptObserver } from '../../src/client/operation.js';
import type { Pace } from '../../src/client/pace.js';
import { type Clock, shiftedClock } from '../../src/clock.js';
import { sweepSettingsSchema } from '../../src/dossiers/creation-windows.js';
import { evidenceSettingsSchema } from '../../src/runs/details-settings.js';
import { reviewSettingsSchema } from '../../src/runs/review/settings.js';
import type { RunEvent, RunSettings, Workplace } from '../../src/runs/workplace.js';
import type { Sandbox } from '../../src/sandbox/start-sandbox.js';
import { holdSettingsSchema } from '../../src/screening/settings.js';
import type { Database } from '../../src/store/database/database.js';

const usualScreening = { cadenceHours: 24, leaveAfterDays: 7, canariesEvery: 10_000, reuseMaxAge: 0 as const };

/** Settings of worlds whose lists change more in a night than real ones, so that the usual bounds would hold the run. */
export const neverHeld = {
  ...usualScreening,
  hold: holdSettingsSchema.parse({ vanishedLeast: 100_000, allOf: 100_000, newlyOpenLeast: 100_000 }),
};

/** What a test may set about its workplace. */
export interface WorkplaceOptions {
  /** Milliseconds beside the machine's clock. */
  offsetMs?: number;
  apiKey?: string;
  /** In place of the sandbox's own address. */
  url?: string;
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
export type TestWorkplace = Workplace & { events: RunEvent[] };

/** A workplace over a sandbox with quick pace and short back-off; `events` collects what runs tell. */
export async function makeWorkplace(
  database: Database,
  sandbox: Pick<Sandbox, 'url' | 'privateKey'>,
  options: WorkplaceOptions = {},
): Promise<TestWorkplace> {
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
      service: { baseUrl: sandbox.url, rate },
      rosters: [],
      canaries: [],
      screening: usualScreening,
      budget: { currency: 'EUR', reserveShare: 0.05 },
      changes: changeSettingsSchema.parse({}),
      review: reviewSettingsSchema.parse({}),
      evidence: evidenceSettingsSchema.parse({}),
      sweep: sweepSettingsSchema.parse({}),
      reconciliation: { severity: {} },
      run: { deadline: '200ms', timezone: 'UTC' },
      reports: { dir: await mkdtemp(join(tmpdir(), 'nightscreen-reports-')) },
      ...options.settings,
    },
    settingsDigest: 'settings-of-the-test',
    owner: `test-${process.pid}`,
    version: '0.0.0-test',
    tell: (event) => events.push(event),
    secret: () => undefined,
    events,
  };
}
