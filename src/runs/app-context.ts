import { z } from 'zod';
import type { ChangeSettings } from '../changes/severity.js';
import type { Client, ClientEvent } from '../client/client.js';
import { type Clock, isTimezone } from '../clock.js';
import type { SweepSettings } from '../dossiers/sweep-dossiers.js';
import type { MailSettings } from '../mail/settings.js';
import type { Canary } from '../matches/canary.js';
import type { ReconciliationSettings } from '../reconciliation/discrepancy.js';
import type { ReportSettings } from '../reports/settings.js';
import type { RosterSettings } from '../roster/settings.js';
import type { budgetSettingsSchema } from '../screening/budget.js';
import type { ScreeningSettings } from '../screening/settings.js';
import type { Database } from '../store/database/database.js';
import type { CanaryTrigger, RunKind, RunMode, RunState } from '../vocabulary.js';
import type { webhooksSettingsSchema } from '../webhooks/settings.js';
import type { EvidenceSettings } from './details-settings.js';
import type { ReviewSettings } from './review/settings.js';
import type { RunSummary } from './run-summary.js';

/** The settings that runs obey; the configuration satisfies it. */
export interface RunSettings {
  organisation: string;
  service: {
    baseUrl?: string | undefined;
    mode?: RunMode | undefined;
    aml?: { nameField: string } | undefined;
    rate: { perSecond: number; concurrency: number };
  };
  rosters: readonly RosterSettings[];
  canaries: readonly Canary[];
  screening: ScreeningSettings;
  budget: z.output<typeof budgetSettingsSchema>;
  changes: ChangeSettings;
  review: ReviewSettings;
  evidence: EvidenceSettings;
  sweep: SweepSettings;
  reconciliation: ReconciliationSettings;
  reports: ReportSettings;
  run: z.output<typeof runSettingsSchema>;
  mail?: MailSettings | undefined;
  webhooks?: Readonly<z.output<typeof webhooksSettingsSchema>> | undefined;
}

/** Everything a run works with; the command line builds it once per process. */
export interface AppContext {
  database: Database;
  /** The service's client, made at first use so that work without calls needs no key; throws ConfigError. */
  client: () => Client;
  clock: Clock;
  settings: RunSettings;
  /** False where a live key may make no search on the embedded database. */
  acceptsEmbedded?: boolean | undefined;
  /** Where `listen` keeps events until the embedded database is open; absent on Postgres. */
  eventsFolder?: string | undefined;
  /** When the nightly rescreening starts next, where the configuration says so; null where it never does. */
  nextRescreening?: (() => Date | null) | undefined;
  /** SHA-256 (hex) of the settings that shape results, secrets left out. */
  settingsDigest: string;
  /** Who we are to other processes: host, pid and a random part. */
  owner: string;
  /** Version of Nightscreen. */
  version: string;
  /** Hears what happens, for progress and logs. */
  emit: (event: RunEvent) => void;
  /** A secret by the name of its environment variable (or `NAME_FILE`); undefined when it is not set. */
  secret: (name: string) => string | undefined;
}

/** The stages of a run in the order of the flow. */
export type RunStage =
  | 'import'
  | 'compare'
  | 'plan'
  | 'canaries'
  | 'screen'
  | 'details'
  | 'sweep'
  | 'reconcile'
  | 'report';

/** What a run tells while it works; no customer data in it. */
export type RunEvent =
  /** `found` is what a run that goes on had found before. */
  | {
      kind: 'run_started';
      runId: string;
      runKind: RunKind;
      roster: string | null;
      resumed: boolean;
      found?: { matches: number; hits: number };
    }
  | { kind: 'stage_started'; runId: string; stage: RunStage }
  /** Of searches also the calls and what they found, since this start. */
  | {
      kind: 'progress';
      runId: string;
      stage: RunStage;
      done: number;
      total: number | null;
      calls?: number;
      found?: { matches: number; hits: number };
      /** Of an import: how fast it reads rows and, where the size of the source is known, how much is read and how long the rest takes. */
      reading?: { perSecond: number; doneBytes: number | null; totalBytes: number | null; leftMs: number | null };
    }
  /** A transaction has taken longer than two seconds, or all such have come to their end. */
  | { kind: 'database_wait'; isWaiting: boolean }
  /** Of control searches also when they were asked. */
  | {
      kind: 'stage_finished';
      runId: string;
      stage: RunStage;
      counts: Readonly<Record<string, number>>;
      occasion?: CanaryTrigger;
    }
  /** What the client met on its way to the service. */
  | { kind: 'service'; event: ClientEvent }
  /** `roster` is given of a run that has not started here. */
  | { kind: 'warning'; runId: string | null; roster?: string | null; code: string; message: string }
  /** A roster of a night has no summary; of an unexpected error `message` has only the kind. */
  | { kind: 'roster_failed'; roster: string; runId: string | null; code: string; message: string }
  | { kind: 'run_finished'; runId: string; runKind: RunKind; state: RunState; reasons: readonly string[] };

/** How runs behave when the service is out of reach. */
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
  timezone: z
    .string()
    .refine(isTimezone, 'is no IANA time zone')
    .meta({ title: 'time zone' })
    .default('UTC')
    .describe('the IANA time zone of a time of day, and of the day and month of the budget'),
});
/** Remembers which run was begun last, for what is to be said when that or the process ends. */
export class LastRun {
  #run: { runId: string; roster: string | null; isFinished: boolean } | null = null;

  /** The jobs that a scheduler has under way; null where this process is no scheduler. */
  listJobs: (() => readonly string[]) | null = null;

  /** With its roster (null for a sweep), and whether it came to its end, in whatever state; null where none was begun. */
  get current() {
    return this.#run;
  }

  note(event: RunEvent): void {
    if (event.kind === 'run_started') this.#run = { runId: event.runId, roster: event.roster, isFinished: false };
    if (event.kind === 'run_finished' && event.runId === this.#run?.runId) this.#run.isFinished = true;
  }
}

/** The workplace with an ear on which run was begun in it last. */
export function watchRun(app: AppContext): { watched: AppContext; lastRun: LastRun } {
  const lastRun = new LastRun();
  const emit: AppContext['emit'] = (event) => {
    lastRun.note(event);
    app.emit(event);
  };
  return { watched: { ...app, emit }, lastRun };
}

/** When a job starts: a cron expression read in an IANA time zone. */
export interface JobSchedule {
  cron: string;
  timezone: string;
}

/** The time at which a job is due that is being run. */
export interface JobSlot {
  /** The date (`yyyy-mm-dd`) in the job's time zone that it stands for. */
  date: string;
  dueAt: Date;
  /** 1 at first; more where it was left and is taken up again. */
  attempt: number;
  /** Begun well after it was due. */
  isLate: boolean;
}

/** What a job has done; `exitCode` 3 where something is not as it should be beside its runs, said in `note`. */
export interface JobResult {
  runs: readonly RunSummary[];
  exitCode?: 0 | 3;
  note?: string;
}

/** Work that the scheduler starts by itself; it composes run functions. What it throws is told as its failure, and stops nothing else. */
export interface Job {
  name: string;
  /** Null: it runs only when the configuration gives it a schedule. */
  defaultSchedule: JobSchedule | null;
  /** The jobs that it waits for on the same date; it goes on when they have failed. */
  after?: readonly string[];
  /** How long one attempt may last, in milliseconds, where the configuration says nothing else; an hour without it. */
  timeoutMs?: number;
  /** The code is the user's own: an attempt that is stopped is not continued. */
  isOwn?: boolean;
  run(app: AppContext, signal: AbortSignal, slot: JobSlot): Promise<JobResult>;
}
