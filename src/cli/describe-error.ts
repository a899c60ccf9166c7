import { CommanderError } from 'commander';
import {
  ApiError,
  AuthenticationError,
  ConfigError,
  type ConfigProblem,
  ConnectionError,
  NightscreenError,
  NotFoundError,
  PaymentRequiredError,
  PermissionError,
  ReportError,
  ResponseError,
  RosterError,
  StoreError,
} from '../errors.js';
import { describeStoreNext } from './describe-store-next.js';

/** An error as it is told: stable code, what happened, where, and what to do next. */
export interface ErrorDescription {
  code: string;
  message: string;
  problems: readonly ConfigProblem[];
  where: string | null;
  next: string | null;
}

/** Who reads what is told: the doctor is not sent to the doctor. */
export interface ErrorReader {
  isDoctor: boolean;
}

function describeNext(error: unknown, { isDoctor }: ErrorReader): string | null {
  if (error instanceof ConfigError && error.problems.every(({ where }) => where === 'run'))
    return '`nightscreen runs list` shows the runs and their states';
  if (error instanceof ConfigError)
    return 'correct what is named above; docs/configuration.md describes each setting, and `nightscreen config show` shows those in force once all can be read';
  if (error instanceof RosterError) return 'correct what is named above and start again; nothing was spent';
  if (error instanceof AuthenticationError)
    return 'check NIGHTSCREEN_API_KEY: it is malformed, revoked, or of another service';
  if (error instanceof PaymentRequiredError)
    return 'top up the account, then `nightscreen runs resume ID` goes on where it stopped';
  if (error instanceof PermissionError) return 'ask the service for the right that this operation needs';
  if (error instanceof NotFoundError)
    return 'check that service.baseUrl (NIGHTSCREEN_BASE_URL) ends with the version prefix, as in https://service.example/v1';
  if (error instanceof ConnectionError)
    return `check service.baseUrl (NIGHTSCREEN_BASE_URL) and the network${isDoctor ? '' : '; `nightscreen doctor` tries it'}`;
  if (error instanceof ResponseError)
    return 'the service breaks its interface here; tell its operators, with the time of the call';
  if (error instanceof ReportError && error.code === 'report_not_written')
    return 'make room or give the right, or name another folder with --out; `nightscreen report --run ID` then writes it, the run itself is stored';
  if (error instanceof StoreError) return describeStoreNext(error, isDoctor);
  if (error instanceof CommanderError)
    return '`nightscreen --help` lists the commands, `nightscreen COMMAND --help` their options';
  if (error instanceof NightscreenError) return null;
  return 'this is a fault of Nightscreen: run it again with --log-level debug and report what it prints';
}

function describeWhere(error: unknown): string | null {
  if (error instanceof ApiError) {
    const request = error.requestId ? `, request ${error.requestId}` : '';
    return `${error.method} ${error.path} (status ${error.status}${request})`;
  }
  if (error instanceof ConnectionError || error instanceof ResponseError) return `${error.method} ${error.path}`;
  return null;
}

function toCode(error: unknown): string {
  if (error instanceof NightscreenError) return error.code;
  return error instanceof CommanderError ? 'usage' : 'unexpected';
}

/** What the operating system said, where the message leaves it out: a full disk or a missing right is what has to be mended. */
function describeSystemCause(error: unknown, said: string): string {
  for (let cause = toCause(error); cause !== undefined; cause = toCause(cause)) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
    if (typeof code === 'string' && /^E[A-Z]{3,}$/.test(code)) return said.includes(code) ? '' : ` (${code})`;
  }
  return '';
}

const toCause = (error: unknown): unknown => (error instanceof Error ? error.cause : undefined);

/** Describes any error, without a stack trace. */
export function describeError(error: unknown, reader: ErrorReader = { isDoctor: false }): ErrorDescription {
  const problems = error instanceof ConfigError ? error.problems : [];
  const said = error instanceof Error ? error.message.replace(/^error: /, '') : String(error);
  const several = problems.length === 1 ? said : `${problems.length} settings are wrong`;
  return {
    code: toCode(error),
    message: error instanceof ConfigError ? several : `${said}${describeSystemCause(error, said)}`,
    problems,
    where: describeWhere(error),
    next: describeNext(error, reader),
  };
}

/** The error as lines for people. */
export function formatError(description: ErrorDescription): string {
  const listed = description.problems.length > 1 ? description.problems : [];
  const problems = listed.map(({ where, path, message }) => `  ${where}: ${path === '' ? '' : `${path}: `}${message}`);
  const lines = [
    `nightscreen: ${description.message}${description.code === 'usage' ? '' : ` [${description.code}]`}`,
    ...problems,
    ...(description.where === null ? [] : [`  where: ${description.where}`]),
    ...(description.next === null ? [] : [`  next:  ${description.next}`]),
  ];
  return `${lines.join('\n')}\n`;
}

/** The error as the one document that `--json` prints; what is not known is left out. */
export function toErrorDocument({ code, message, problems, where, next }: ErrorDescription): Record<string, unknown> {
  return {
    schema: 'nightscreen/error/1',
    code,
    message,
    ...(problems.length > 0 ? { problems } : {}),
    ...(where === null ? {} : { where }),
    ...(next === null ? {} : { next }),
  };
}
