import type { ChangeSettings } from '../changes/settings.js';
import type { Client } from '../client/create-client.js';
import type { Clock } from '../clock.js';
import type { SweepSettings } from '../dossiers/settings.js';
import type { MailSettings } from '../mail/settings.js';
import type { Canary } from '../matches/canary.js';
import type { ReconciliationSettings } from '../reconciliation/discrepancy.js';
import type { ReportSettings } from '../reports/settings.js';
import type { RosterSettings } from '../roster/settings.js';
import type { BudgetSettings } from '../screening/budget-settings.js';
import type { ScreeningSettings } from '../screening/settings.js';
import type { Database } from '../store/database/database.js';
import type { WebhookSettings } from '../webhooks/settings.js';
import type { EvidenceSettings } from './details/settings.js';
import type { ReviewSettings } from './reviewing/settings.js';
import type { RunEvent } from './run-event.js';
import type { RunDeadlineSettings } from './settings.js';

/** The settings that runs obey; the configuration satisfies it. */
export interface RunSettings {
  organisation: string;
  service: {
    baseUrl?: string | undefined;
    mode?: 'test' | 'live' | undefined;
    aml?: { nameField: string } | undefined;
    rate: { perSecond: number; concurrency: number };
  };
  rosters: readonly RosterSettings[];
  canaries: readonly Canary[];
  screening: ScreeningSettings;
  budget: BudgetSettings;
  changes: ChangeSettings;
  review: ReviewSettings;
  evidence: EvidenceSettings;
  sweep: SweepSettings;
  reconciliation: ReconciliationSettings;
  reports: ReportSettings;
  run: RunDeadlineSettings;
  mail?: MailSettings | undefined;
  webhooks?: readonly WebhookSettings[] | undefined;
}

/** Everything a run works with; the command line builds it once per process. */
export interface Workplace {
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
  tell: (event: RunEvent) => void;
  /** A secret by the name of its environment variable (or `NAME_FILE`); undefined when it is not set. */
  secret: (name: string) => string | undefined;
}
