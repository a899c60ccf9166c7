import type { Environment } from '../config/environment.js';
import type { openRedactor } from '../logging.js';
import type { LastRun } from '../runs/app-context.js';
import type { Measuring } from './measuring.js';
import type { Terminal } from './terminal.js';

/** Reports what is to be known beside the result of a command, and goes on; `code` is stable. */
export type Notify = (notice: { level: 'info' | 'warn'; code: string; message: string }) => void;

/** One call of the program: what it was given and where it writes. */
export interface Invocation {
  /** The command that was called, as in `runs list`. */
  command: string;
  /** The options that every command takes. */
  options: { config?: string; json?: true; logLevel?: string };
  environment: Environment;
  /** The current folder. */
  folder: string;
  terminal: Terminal;
  /** Reports what is to be known beside the result. */
  notify: Notify;
  /** Aborted by the first SIGINT or SIGTERM, with an InterruptedError. */
  signal: AbortSignal;
  /** Where metrics of this process are gathered; left out by commands that end by themselves. */
  measuring?: Measuring;
  /** The secrets that were asked for while it works, by jobs of a user's own too. */
  askedSecrets: ReturnType<typeof openRedactor>;
  /** Hears which runs it begins. */
  lastRun: LastRun;
  /** Hears that its database is open: from then on a failure has an outbox. */
  noteOpen: () => void;
}

/** What a command has to say: the same as one document for programs and as text for people. */
export interface Outcome {
  exitCode: number;
  document: Readonly<Record<string, unknown>> & { schema: string };
  text: string;
}

/** The work of a command. One that has written its data itself gives at most its exit code. */
export type Action = (invocation: Invocation) => Promise<Outcome | { exitCode: number; isWritten: true } | null>;

/** Takes the work of the command that was called, and the task that is mailed as not run where it fails before its database is open. */
export type Act = (action: Action, mailedAs?: string) => void;
