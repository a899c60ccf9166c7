import { z } from 'zod';
import type { ChangeSettings } from '../changes/severity.js';
import type { Client, ClientEvent } from '../client/client.js';
import { type Clock, isTimezone } from '../clock.js';
import type { SweepSettings } from '../dossiers/sweep-dossiers.js';
import type { MailSettings } from '../mail/settings.js';
import type { ControlSearch } from '../matches/control.js';
import type { ReconciliationSettings } from '../reconciliation/discrepancy.js';
import type { ReportSettings } from '../reports/settings.js';
import type { RosterSettings } from '../roster/settings.js';
import type { BudgetSettings } from '../screening/budget.js';
import type { ScreeningSettings } from '../screening/settings.js';
import type { Database } from '../store/database/database.js';
import type { RunRow } from '../store/runs.js';
import type { ControlTrigger, RunKind, RunMode, RunState } from '../vocabulary.js';
import type { webhooksSettingsSchema } from '../webhooks/settings.js';
import type { ReviewSettings } from './review/settings.js';
import type { RunSummary } from './run-summary.js';

/** The settings of runs; the configuration satisfies it. */
export interface RunSettings {
  organisation: string;
  /** The IANA time zone of schedules, times of day, and the day and month of the budget. */
  timezone: string;
  service: {
    baseUrl?: string | undefined;
    mode?: RunMode | undefined;
    aml?: { nameField: string } | undefined;
    rate: { perSecond: number; concurrency: number };
  };
  rosters: readonly RosterSettings[];
  controls: readonly ControlSearch[];
  screening: ScreeningSettings;
  budget: BudgetSettings;
  changes: ChangeSettings;
  review: ReviewSettings;
  evidence: z.output<typeof evidenceSettingsSchema>;
  sweep: SweepSettings;
  reconciliation: ReconciliationSettings;
  reports: ReportSettings;
  run: z.output<typeof runSettingsSchema>;
  fleet?: z.output<typeof fleetSettingsSchema> | undefined;
  mail?: MailSettings | undefined;
  webhooks?: Readonly<z.output<typeof webhooksSettingsSchema>> | undefined;
}

/** What runs work with; the command line builds it once per process. */
export interface AppContext {
  database: Database;
  /** The service's client, made at first use, so that work without calls needs no key; throws ConfigError. */
  client: () => Client;
  clock: Clock;
  settings: RunSettings;
  /** The organisation that printed commands name; absent without several. */
  nameInCommands?: string | undefined;
  /** False when a live key may make no search on the embedded database. */
  acceptsEmbedded?: boolean | undefined;
  /** For how long the plan and the calls of a run stay in the database after its end. */
  keepRunsMs?: number | undefined;
  /** The folder where `reconcile listen` keeps events until the embedded database is open; absent on Postgres. */
  eventsFolder?: string | undefined;
  /** When the nightly rescreening starts next; null without a schedule. */
  nextRescreening?: (() => Date | null) | undefined;
  /** When it was last due: by the configured schedule, otherwise by that of a scheduler (`kept`); null without either. */
  lastRescreening?: ((kept: JobSchedule | null) => Date | null) | undefined;
  /** The SHA-256 (hex) of the settings that affect results, without secrets. */
  settingsDigest: string;
  /** This process for other processes: host, pid and a random part. */
  owner: string;
  version: string;
  /** Receives events for progress and logs. */
  emit: (event: RunEvent) => void;
  /** A secret by the name of its environment variable (or `NAME_FILE`); undefined when not set. */
  secret: (name: string) => string | undefined;
}

/** The stages of a run in order. */
export type ProgressStage =
  | 'import'
  | 'compare'
  | 'plan'
  | 'controls'
  | 'screen'
  | 'details'
  | 'sweep'
  | 'reconcile'
  | 'report';

/** An event of a run, without customer data. */
export type RunEvent =
  /** `found` is what a resumed run had found before. */
  | {
      kind: 'run_started';
      runId: string;
      runKind: RunKind;
      roster: string | null;
      resumed: boolean;
      found?: { matches: number; hits: number };
    }
  | { kind: 'stage_started'; runId: string; stage: ProgressStage }
  /** A stage of searches has the calls and findings since this start. */
  | {
      kind: 'progress';
      runId: string;
      stage: ProgressStage;
      done: number;
      total: number | null;
      calls?: number;
      found?: { matches: number; hits: number };
      /** Searches by workers have their number, and that of chunks. */
      workers?: { alive: number; chunksDone: number; chunksLeft: number };
      /** An import has its speed and, with a known size of the source, the bytes read and the time left. */
      reading?: { perSecond: number; doneBytes: number | null; totalBytes: number | null; leftMs: number | null };
    }
  /** A transaction takes longer than two seconds, or no such transaction remains. */
  | { kind: 'database_wait'; isWaiting: boolean }
  /** A stage of control searches has their trigger. */
  | {
      kind: 'stage_finished';
      runId: string;
      stage: ProgressStage;
      counts: Readonly<Record<string, number>>;
      occasion?: ControlTrigger;
    }
  /** An event of the client. */
  | { kind: 'service'; event: ClientEvent }
  /** This process makes searches for runs from now on. */
  | { kind: 'worker_ready'; account: string; perSecond: number; concurrency: number }
  | { kind: 'chunk_finished'; runId: string; chunk: number; searches: number; seconds: number }
  /** `roster` is set for a run that has not started here. */
  | { kind: 'warning'; runId: string | null; roster?: string | null; code: string; message: string }
  /** A roster of a night without a summary; for an unexpected error `message` has only its kind. */
  | { kind: 'roster_failed'; roster: string; runId: string | null; code: string; message: string; error: unknown }
  | { kind: 'run_finished'; runId: string; runKind: RunKind; state: RunState; reasons: readonly string[] };

/** The time zone of the whole configuration. */
export const timezoneSchema = z
  .string()
  .refine(isTimezone, 'is not an IANA time zone, such as Europe/Copenhagen or UTC')
  .meta({ title: 'time zone' })
  .default('UTC');

/** Whether `nightscreen worker` makes the searches of runs, on any number of hosts with one Postgres. */
export const fleetSettingsSchema = z
  .union([
    z.literal(false),
    z.literal(true).transform(() => ({ worker: 'separate' as const })),
    z.strictObject({
      worker: z.enum(['inline', 'separate']).describe('whether the process of a run is a worker as well'),
    }),
  ])
  .default(false);

/** How runs wait for a service that is out of reach. */
export const runSettingsSchema = z.strictObject({
  deadline: z
    .string()
    .regex(
      /^(\d{1,6}(ms|s|m|h|d)|([01]\d|2[0-3]):[0-5]\d)$/,
      'must be a span such as 30m, 8h or 1d, or a time such as 06:30',
    )
    .meta({ title: 'span or time of day' })
    .default('8h')
    .describe(
      'how long a run or sweep waits for a service that is out of reach: a span, or a time of day such as 06:30',
    ),
});
const detailsSettingsSchema = z.strictObject({
  maxPerRun: z
    .int()
    .min(0)
    .max(100_000)
    .default(200)
    .describe('look-ups of one run, including resumed parts; 0 for none; they use no budget'),
});

/** The evidence: packs of files that outlive the database, and what is stored besides the answers. */
export const evidenceSettingsSchema = z
  .union([
    z
      .enum(['off'])
      .transform(() => ({ details: detailsSettingsSchema.parse({}), dir: null, signingKeyFile: undefined })),
    z.strictObject({
      dir: z
        .string()
        .min(1)
        .nullable()
        .default('./evidence')
        .describe('the folder of the packs; each run has its own folder in it; null for none, as `evidence: off`'),
      signingKeyFile: z.string().min(1).optional().describe('an Ed25519 private key (PEM) that signs each pack'),
      details: detailsSettingsSchema
        .prefault({})
        .describe('what is fetched about new hits after the searches of a run'),
    }),
  ])
  .prefault({});

/** The latest run of this process, for messages at its end. */
export class LastRun {
  #run: { runId: string; roster: string | null; isFinished: boolean } | null = null;

  /** Why the latest finished run is not complete. */
  reasons: readonly string[] = [];

  /** Lists the running jobs of a scheduler; null in other processes. */
  listJobs: (() => readonly string[]) | null = null;

  /** The latest run with its roster (null for a sweep) and whether it has ended; null without one. */
  get current() {
    return this.#run;
  }

  /** The message of an error; where the end of the latest run has said it, a reference to that. */
  shorten(message: string): string {
    const isSaid = [...this.reasons, this.reasons.join('\n')].includes(message);
    return isSaid ? `${this.#run?.runId} ended for the reason above` : message;
  }

  note(event: RunEvent): void {
    if (event.kind === 'run_started') this.#run = { runId: event.runId, roster: event.roster, isFinished: false };
    if (event.kind === 'run_finished' && event.runId === this.#run?.runId) {
      this.#run.isFinished = true;
      this.reasons = event.reasons;
    }
  }
}

/** The context with a record of its latest run. */
export function watchRun(app: AppContext): { watched: AppContext; lastRun: LastRun } {
  const lastRun = new LastRun();
  const emit: AppContext['emit'] = (event) => {
    lastRun.note(event);
    app.emit(event);
  };
  return { watched: { ...app, emit }, lastRun };
}

/** When a job starts: a cron expression in an IANA time zone. */
export interface JobSchedule {
  cron: string;
  timezone: string;
}

/** The due time of a running job. */
export interface JobSlot {
  /** Its date (`yyyy-mm-dd`) in the job's time zone. */
  date: string;
  dueAt: Date;
  /** 1 at first; more after an interruption. */
  attempt: number;
  /** Started well after its due time. */
  isLate: boolean;
}

/** The result of a job; `exitCode` 3 and `note` report a problem besides its runs. */
export interface JobResult {
  runs: readonly RunSummary[];
  exitCode?: 0 | 3;
  note?: string;
}

/** Work that the scheduler starts; it composes run functions. An error is reported as a failure of this job only. */
export interface Job {
  name: string;
  /** The cron expression without a configured one, or `off`. */
  defaultCron: string;
  /** The jobs of the same date that must end first, also with a failure. */
  after?: readonly string[];
  /** How long it waits for them; six hours by default. */
  waitAtMostMs?: number;
  run(app: AppContext, signal: AbortSignal, slot: JobSlot): Promise<JobResult>;
}

/** A run and the installation that it belongs to. */
export interface RunContext {
  app: AppContext;
  run: RunRow;
}
