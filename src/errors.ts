/** The context that every error class accepts. */
export interface ErrorContext {
  /** The error that led to this one. */
  cause?: unknown;
}

/** Root of every error that Nightscreen throws on purpose; `code` is stable, snake_case and safe to match on. */
export class NightscreenError extends Error {
  /** Says what happened: stable, snake_case. */
  readonly code: string;

  /** `message` is for people, `code` for programs. */
  constructor(code: string, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause });
    this.name = new.target.name;
    this.code = code;
  }
}

/** One wrong setting: its place (`file.yaml:3:5`, an environment variable, a flag) and what to do. */
export interface ConfigProblem {
  /** Its place: `file.yaml:3:5`, an environment variable, a flag, or the name of an operation. */
  where: string;
  /** The path of the setting below its place; empty when the place says it all. */
  path: string;
  /** What is wrong and what to do. */
  message: string;
}

/** The places of a command line: what is wrong there is no setting. */
const ofCommandLine = /^(?:flag|option|arguments?|file|run|roster|since|until)\b/;

/** Wrong usage (`usage_error`: a flag, an argument, a missing file or run) or configuration (`config_invalid`); carries all problems at once. */
export class ConfigError extends NightscreenError {
  /** Every problem, in the order of the settings. */
  readonly problems: readonly ConfigProblem[];

  /** The message has one line for each problem. */
  constructor(problems: readonly ConfigProblem[], context: ErrorContext = {}) {
    const lines = problems.map(
      (problem) => `${problem.where}: ${problem.path ? `${problem.path}: ` : ''}${problem.message}`,
    );
    const isUsage = problems.every(({ where, path }) => path === '' && ofCommandLine.test(where));
    super(isUsage ? 'usage_error' : 'config_invalid', lines.join('\n'), context);
    this.problems = problems;
  }
}

/** An error about one place. */
export const usageError = (where: string, message: string, cause?: unknown): ConfigError =>
  new ConfigError([{ where, path: '', message }], { cause });

/** An error about a flag of the command line. */
export const flagError = (flag: string, message: string, cause?: unknown): ConfigError =>
  usageError(`flag ${flag}`, message, cause);

/** A roster that cannot be read or must not be used: missing file, missing column, empty, query refused. */
export class RosterError extends NightscreenError {}

/** A reason for which a roster is held: the guard, its finding with both figures, and what to check. */
export interface HeldBy {
  guard: string;
  message: string;
  look: string;
}

/** A roster that guards hold before any of it counts; nothing has changed, and no customer counts as offboarded. */
export class RosterHeldError extends RosterError {
  readonly heldBy: readonly HeldBy[];
  /** The lines of the message. */
  readonly lines: readonly string[];

  /** `accept`: the command that accepts the roster in any case; `preview`: the one that only shows its effect. */
  constructor(source: string, heldBy: readonly HeldBy[], accept: string, preview?: string) {
    const lines = [
      `${source} is held (${listGuards(heldBy)})`,
      'Nothing of it counts: no customer was added, changed or offboarded.',
      'What was found:',
      ...describeHeldBy(heldBy),
      'If the source is wrong, correct it and start the same command again.',
      ...(preview === undefined ? [] : [`To see the effect without a change: ${preview}`]),
      `If the source is right, accept it: ${accept}`,
    ];
    super('roster_held', lines.join('\n'));
    this.heldBy = heldBy;
    this.lines = lines;
  }
}

/** Holds a source that cannot be read; there is nothing to accept. */
export const unreadableGuard = 'unreadable';

/** The guards that hold a roster, by name. */
export const listGuards = (heldBy: readonly { guard: string }[]): string => {
  const names = nameGuards(heldBy);
  return `${names.length === 1 ? 'guard' : 'guards'} ${names.join(', ')}`;
};

/** Each guard once: one guard may have several findings. */
export const nameGuards = (heldBy: readonly { guard: string }[]): readonly string[] => [
  ...new Set(heldBy.map(({ guard }) => guard)),
];

/** What guards found and what to check, one line for each finding. */
export const describeHeldBy = (heldBy: readonly HeldBy[]): readonly string[] =>
  heldBy.map(
    ({ guard, message, look }) =>
      `- ${message} [guard ${guard}]. ${look.charAt(0).toUpperCase()}${look.slice(1)}${look.endsWith('?') ? '' : '.'}`,
  );

/** The code of an error of the system or a library, such as ENOENT; null without one. */
export const readErrorCode = (error: unknown): string | null =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;

/** What an error says; another value as text. */
export const readMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Work that did not start, because the work before it had to stop. */
export class NotStartedError extends NightscreenError {
  constructor(message: string, context: ErrorContext = {}) {
    super('not_started', message, context);
  }
}

/** The database refused, is unreachable, or contains something that breaks our contract. */
export class StoreError extends NightscreenError {}

/** This version cannot use the schema of the database: it is newer, or made by edited migrations. */
export class SchemaError extends StoreError {}

/** There is no database of ours to read; reading does not create one. */
export class DatabaseMissingError extends StoreError {
  /** `found`: what is there instead. */
  constructor(found: string) {
    super('database_missing', `${found}; nothing was read, and no database was created`);
  }
}

/** The embedded database, or a part of it, belongs to another user than this process; `remedy` says what to type. */
export class FolderOwnerError extends StoreError {
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super('folder_of_another_user', message);
    this.remedy = remedy;
  }
}

/** A backup that must not be restored, or a database that must not be overwritten; nothing was changed. */
export class BackupError extends StoreError {}

/** Another process holds the lease of the run or the embedded folder; `holder` names it for an operator, `heldMs` says for how long, where known. */
export class RunLockedError extends StoreError {
  readonly holder: string;
  readonly heldMs: number | null;
  /** Whether a command of seconds met lasting work of the embedded database, which it must not advise to stop. */
  readonly isForMoment: boolean;

  constructor(message: string, holder: string, heldMs: number | null = null, isForMoment = false) {
    super('run_locked', message);
    this.holder = holder;
    this.heldMs = heldMs;
    this.isForMoment = isForMoment;
  }
}

/** This process lost its lease: its epoch is no longer current, so its writes must not be kept. */
export class LeaseLostError extends StoreError {
  constructor(message: string, context: ErrorContext = {}) {
    super('lease_lost', message, context);
  }
}

/** A report whose sums do not hold, or that could not be written completely. */
export class ReportError extends NightscreenError {}

/** Evidence that could not be written (`evidence_not_written`), that is there with other contents, or that no key opens. */
export class EvidenceError extends NightscreenError {}

/** A mail that could not be built or was not accepted. */
export class MailError extends NightscreenError {}

/** The context of a failed call. */
export interface CallContext extends ErrorContext {
  /** The HTTP method. */
  method: string;
  /** The path, without query and base URL. */
  path: string;
}

/** A call that brought no usable answer. */
export class CallError extends NightscreenError {
  /** The HTTP method. */
  readonly method: string;
  /** The path, without query and base URL. */
  readonly path: string;

  /** The call is that of the context. */
  constructor(code: string, message: string, context: CallContext) {
    super(code, message, context);
    this.method = context.method;
    this.path = context.path;
  }
}

/** The context of an answer with an error status. */
export interface ApiErrorContext extends CallContext {
  /** The HTTP status. */
  status: number;
  /** The service's id of the request. */
  requestId?: string | undefined;
  /** The wait that `Retry-After` asks for. */
  retryAfterMs?: number | undefined;
  /** Headers of the answer, by lower-case name. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The body, truncated. */
  body?: string | undefined;
  /** The service's own message. */
  serviceMessage?: string | undefined;
  /** The seconds until a resend may be tried. */
  remainingSeconds?: number | undefined;
}

/** The service answered with an error status; the class follows the status, `code` is the service's own (an open string). */
export class ApiError extends CallError {
  /** The HTTP status. */
  readonly status: number;
  /** The service's id of the request; undefined without one. */
  readonly requestId: string | undefined;
  /** The wait that `Retry-After` asks for; undefined without one. */
  readonly retryAfterMs: number | undefined;
  /** The service's own message, or undefined; it may contain customer data and is therefore no part of `message`. */
  readonly serviceMessage: string | undefined;
  /** The seconds until a resend may be tried, by the hint of a cooldown (interface: Errors, cooldown_active); undefined without one. */
  readonly remainingSeconds: number | undefined;
  /** Headers of the answer, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  /** The answer as received, truncated for storage; it explains what is wrong with a request, and may contain customer data. */
  readonly body: string;

  /** The class is chosen by the status. */
  constructor(code: string, message: string, context: ApiErrorContext) {
    super(code, message, context);
    this.status = context.status;
    this.requestId = context.requestId;
    this.retryAfterMs = context.retryAfterMs;
    this.serviceMessage = context.serviceMessage;
    this.remainingSeconds = context.remainingSeconds;
    this.headers = context.headers ?? {};
    this.body = context.body ?? '';
  }

  /** Whether the same request may succeed a little later: 408 and 425 (RFC 9110 15.5.9, RFC 8470 5.2). */
  get isUntimely(): boolean {
    return this.status === 408 || this.status === 425;
  }
}

/** 400 (interface: Errors). */
export class InvalidRequestError extends ApiError {}
/** 401: the key is missing, malformed or revoked (interface: Authentication 5). */
export class AuthenticationError extends ApiError {}
/** 402: the account cannot pay for the request (interface: Errors). */
export class PaymentRequiredError extends ApiError {}
/** 403: role or plan; treated like 401 (service facts: not to be retried). */
export class PermissionError extends ApiError {}
/** 404 (interface: Errors). */
export class NotFoundError extends ApiError {}
/** 410: session canceled or consent not given (interface: Errors). */
export class GoneError extends ApiError {}
/** 422 (interface: Errors). */
export class UnprocessableError extends ApiError {}
/** 429 (interface: Errors). */
export class RateLimitError extends ApiError {}
/** 451: no consent given (interface: Errors). */
export class ConsentRequiredError extends ApiError {}
/** 503: screening temporarily unavailable (interface: AML search). */
export class ServiceUnavailableError extends ApiError {}
/** Any other 5xx. */
export class ServerError extends ApiError {}

/** The context of a call without an answer. */
export interface ConnectionErrorContext extends CallContext {
  /** Default true: without proof that nothing was sent, the service may have done the work. */
  mayHaveArrived?: boolean;
}

/** No answer came (refused, reset, DNS, TLS); unless `mayHaveArrived` is false, the service may have done the work. */
export class ConnectionError extends CallError {
  /** Whether the service may have received the request, and done the work. */
  readonly mayHaveArrived: boolean;

  /** Without proof that nothing was sent, `mayHaveArrived` is true. */
  constructor(code: string, message: string, context: ConnectionErrorContext) {
    super(code, message, context);
    this.mayHaveArrived = context.mayHaveArrived ?? true;
  }
}

/** The total deadline of a call passed, or no connection was made in time. */
export class TimeoutError extends ConnectionError {}

/** A 2xx whose body breaks the contract; it never counts as an answer. */
export class ResponseError extends CallError {
  /** The HTTP status: a 2xx. */
  readonly status: number;
  /** The body as received, truncated for storage as evidence. */
  readonly body: string;

  /** `code` names the breach. */
  constructor(
    code: string,
    message: string,
    context: CallContext & {
      /** The HTTP status. */
      status: number;
      /** The body, truncated. */
      body: string;
    },
  ) {
    super(code, message, context);
    this.status = context.status;
    this.body = context.body;
  }

  /** Whether something else answered in place of the service: a page instead of JSON, or an unexpected success. */
  get isStandIn(): boolean {
    return this.code === 'not_json' || this.code === 'unexpected_status';
  }
}
