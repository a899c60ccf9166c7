import type { Environment } from '../config/environment.js';
import type { openRedactor } from '../logging.js';
import type { OwnMetrics } from '../metrics/metrics.js';
import type { AppContext, LastRun } from '../runs/app-context.js';
import { exitCodes } from './exit-code.js';
import type { Terminal } from './terminal.js';

/** Reports something beside the result of a command; `code` is stable. */
export type Notify = (notice: { level: 'info' | 'warn'; code: string; message: string }) => void;

/** The metrics of an organisation in a scheduler, read from an open database. */
export interface Measuring {
  metrics: OwnMetrics;
  /** Reports what cannot be read, and never throws. */
  refresh(app: AppContext): Promise<void>;
  /** Marks the figures as unreadable, unless `error` has nothing to do with the database. */
  noteUnreadable(error: unknown): void;
}

/** One call of the program: its inputs and where it writes. */
export interface Invocation {
  /** As in `runs`. */
  command: string;
  /** The options that every command takes. */
  options: { config?: string; organisation?: string; json?: true; quiet?: true; logLevel?: string };
  environment: Environment;
  folder: string;
  /** Whether this process works for other organisations at the same time, which would write over each other's progress. */
  isBesideOthers?: boolean;
  terminal: Terminal;
  notify: Notify;
  /** Aborted by the first SIGINT or SIGTERM, with an InterruptedError. */
  signal: AbortSignal;
  measuring?: Measuring;
  readSecrets: ReturnType<typeof openRedactor>;
  lastRun: LastRun;
  /** Notes that the database is open: from then on a failure can be mailed by the outbox. */
  noteOpen: () => void;
}

/** The result of a command: one document for programs and the same as text for people. */
export interface Outcome {
  exitCode: number;
  document: Readonly<Record<string, unknown>> & { schema: string };
  text: string;
}

/** An outcome whose document has a schema, such as `nightscreen/check/1`, and these facts. */
export const toOutcome = (
  schema: string,
  facts: object,
  text: string,
  exitCode: number = exitCodes.complete,
): Outcome => ({ exitCode, document: { schema, ...facts }, text });

/** The work of a command; work that has written its data itself returns at most its exit code. */
export type Work = (invocation: Invocation) => Promise<Outcome | { exitCode: number; isWritten: true } | null>;

/** Takes the work of the called command; `mailedAs` is mailed as not run when it fails before its database is open. */
export type Act = (work: Work, mailedAs?: string) => void;
