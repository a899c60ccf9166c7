import pg from 'pg';
import { RosterError } from '../errors.js';

/** Classes of SQLSTATE whose messages speak of the statement, the role or the server, and never quote a row's values. */
const safeClasses = new Set(['08', '25', '28', '3D', '3F', '42', '53', '54', '55', '57', '0A']);

/** Makes the error of a connection that did not come about; it names the host and the cause's code, never the credentials. */
export function toConnectError(error: unknown, source: string, host: string): RosterError {
  if (error instanceof pg.DatabaseError) {
    // What Postgres says of a failed login names the user.
    const why = error.code?.startsWith('28') === true ? `the login failed (${error.code})` : describe(error);
    return new RosterError('database_refused', `${source}: the database at ${host} refused: ${why}.`);
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time';
  return new RosterError('database_unreachable', `${source}: cannot connect to ${host} (${code}).`);
}

/** Makes the error of a query that Postgres refused, with its message, or of a connection that was lost while reading. */
export function toQueryError(error: unknown, source: string): RosterError {
  if (!(error instanceof pg.DatabaseError)) {
    return new RosterError('roster_broken_off', `${source}: the connection was lost while reading.`);
  }
  const isBrokenOff = error.code?.startsWith('57P') === true || error.code?.startsWith('08') === true;
  return isBrokenOff
    ? new RosterError('roster_broken_off', `${source}: the database ended the connection: ${describe(error)}.`)
    : new RosterError('query_refused', `${source}: Postgres refused the query: ${describe(error)}.`);
}

/** Messages on data may quote a customer's name, and error messages are logged. */
function describe(error: pg.DatabaseError): string {
  const code = error.code ?? 'unknown';
  return safeClasses.has(code.slice(0, 2)) ? `${error.message} (${code})` : `an error in a value (SQLSTATE ${code})`;
}
