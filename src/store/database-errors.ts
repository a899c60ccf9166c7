import { z } from 'zod';
import { NightscreenError } from '../errors.js';
import { DatabaseError } from './database.js';

const serverFailure = z.object({
  code: z.string().regex(/^[0-9A-Z]{5}$/),
  message: z.string(),
  severity: z.string(),
  constraint: z.string().optional(),
  column: z.string().optional(),
  table: z.string().optional(),
});

const fileFailure = z.object({ errno: z.number() });
const connectionFailure = z.object({ code: z.string().optional(), message: z.string() });

/** Turns what a driver threw into a DatabaseError that holds no value of any row or parameter; errors of our own tree pass unchanged. */
export function toDatabaseError(error: unknown): NightscreenError {
  if (error instanceof NightscreenError) return error;
  const answer = serverFailure.safeParse(error);
  if (answer.success) {
    const message = describeRefusal(answer.data);
    return new DatabaseError(message, {
      cause: withoutValues(error, message),
      sqlState: answer.data.code,
      constraint: answer.data.constraint,
      isConnectionLost: endedStates.has(answer.data.code) || answer.data.code.startsWith('08'),
    });
  }
  const message = describeFailure(error);
  return new DatabaseError(message, {
    cause: withoutValues(error, message),
    sqlState: undefined,
    constraint: undefined,
    isConnectionLost: isOfTheWire(error),
  });
}

// The server shuts down, has crashed or starts up, or has ended a session that was idle for too long.
const endedStates = new Set(['57P01', '57P02', '57P03', '57P05', '25P03']);

const wireCodes = /^(ECONN|EPIPE|ENOTCONN|EHOST|ENET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/;
// The driver gives these no code.
const wireMessages =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout expired)/;

function isOfTheWire(error: unknown): boolean {
  const failure = connectionFailure.safeParse(error);
  if (!failure.success) return false;
  const { code = '', message } = failure.data;
  return wireCodes.test(code) || wireMessages.test(message);
}

/** One line on why a connection or a driver failed; never the password, the URL or a value. */
export function describeFailure(error: unknown): string {
  if (error instanceof NightscreenError) return error.message;
  const answer = serverFailure.safeParse(error);
  if (answer.success) return describeRefusal(answer.data);
  const failure = connectionFailure.safeParse(error);
  if (!failure.success) {
    // What the embedded database throws when its files fail it has a number and nothing else.
    const number = fileFailure.safeParse(error);
    return `the database driver failed${number.success ? ` on its files (errno ${number.data.errno}); is the disk full?` : ''}`;
  }
  const { code, message } = failure.data;
  // Refused on every address of a host: an AggregateError, whose own message is empty.
  return [message, code && !message.includes(code) ? `(${code})` : ''].filter(Boolean).join(' ') || 'no reason given';
}

// A deadlock, and what could not be put in one order: a repetition finds the others done.
const atOnceStates = new Set(['40P01', '40001']);

/** Whether the server has rolled a transaction back because of others at the same moment, so that a repetition may succeed. */
export const isConflict = (error: unknown): boolean =>
  error instanceof DatabaseError && atOnceStates.has(error.sqlState ?? '');

function describeRefusal(answer: z.infer<typeof serverFailure>): string {
  if (atOnceStates.has(answer.code)) {
    return 'somebody else was at work on the same at the same moment, so nothing of this was stored: say it again';
  }
  // Data exceptions (class 22) quote the offending value; what the other classes quote are names of our own schema and SQL.
  const reason = answer.code.startsWith('22') ? 'a value does not fit its type or range' : answer.message;
  const where = [answer.table, answer.column].filter(Boolean).join('.');
  return `${reason}${where && !reason.includes(where) ? ` at ${where}` : ''} (SQLSTATE ${answer.code})`;
}

/** Drivers hang parameters, row values and whole statements on their errors; the copy keeps the name and the stack frames only. */
function withoutValues(error: unknown, message: string): Error {
  const copy = new Error(message);
  if (!(error instanceof Error)) return copy;
  copy.name = error.name;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  copy.stack = [`${error.name}: ${message}`, ...frames].join('\n');
  return copy;
}
