import type { RunSummary } from '../../src/runs/run-summary.js';
import type { DatabaseLocation } from '../../src/store/database/open-database.js';
import type { KillPoint } from './kill-points.js';

/** What one process of a campaign is to do. */
export interface LifeOrder {
  /** `report` makes the reports that the run before it left unwritten, `mail` sends what waits, as `mail retry` does. */
  task: 'screen' | 'report' | 'mail';
  location: DatabaseLocation;
  service: { url: string; apiKey: string };
  roster: string;
  reports: string;
  rate: { perSecond: number; concurrency: number };
  /** Milliseconds beside the machine's clock. */
  offsetMs: number;
  /** How many times as fast as the machine's its clock runs. */
  haste?: number;
  /** How long the run waits for a service that is out of reach. */
  deadline?: string;
  /** Where mail is sent to, with the report attached; none is where it is left out. */
  smtpUrl?: string;
  /** Where it is to die by its own hand, when it comes there for the `occurrence`th time (from 1). */
  death?: { point: KillPoint; occurrence: number; delayMs: number };
}

/** What a process of a campaign tells: it has loaded everything, it has come to a stage, it has ended. */
export type LifeMessage = { kind: 'ready' } | { kind: 'stage'; stage: string; afterMs: number } | LifeEnd;

/** How a life ended by itself; `afterMs` counts from the order. */
export type LifeEnd =
  | { kind: 'ended'; summary: RunSummary | null; afterMs: number }
  | { kind: 'failed'; error: string; message: string; afterMs: number };
