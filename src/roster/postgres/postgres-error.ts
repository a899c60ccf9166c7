import pg from 'pg';
import { RosterError } from '../../errors.js';

/** Classes of SQLSTATE whose messages speak of the statement, the role or the server, and never quote a row's values. */
const safeClasses = new Set(['08', '25', '28', '3D', '3F', '42', '53', '54', '55', '57', '0A']);
const canceled = '57014';

/** Makes the error of a connection that did not come about; it names the host and the cause's code, never the credentials. */
export function toConnectError(error: unknown, source: string, host: string, urlEnv: string): RosterError {
  if (error instanceof pg.DatabaseError) {
    // What Postgres says of a failed login names the user.
    const why = error.code?.startsWith('28') === true ? `the login failed (${error.code})` : describe(error);
    return new RosterError('database_refused', `${source}: the database at ${host} refused: ${why}.`);
  }
  if (error instanceof Error && error.message.includes('does not support SSL')) {
    return new RosterError(
      'tls_failed',
      `${source}: ${urlEnv} asks for TLS, but the database at ${host} does not offer it. Switch TLS on there ` +
        '(ssl = on); only for a connection that never leaves a network of your own, set sslmode=disable in the URL.',
    );
  }
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'no answer in time';
  if (/CERT|SELF_SIGNED|UNABLE_TO|^ERR_(SSL|TLS)|^EPROTO$/.test(code)) {
    return new RosterError(
      'tls_failed',
      `${source}: the certificate of the database at ${host} was not accepted (${code}). Add the certificate of the ` +
        `authority that issued it to ${urlEnv}: sslmode=verify-full&sslrootcert=/path/to/ca.pem; the host in the URL must be the one it is issued for.`,
    );
  }
  return new RosterError('database_unreachable', `${source}: cannot connect to ${host} (${code}).`);
}

/**
 * Makes the error of a query that Postgres refused, with its message, or of a connection that was lost while reading; `place` says in
 * words how far the reading had come, where a value is at fault.
 */
export function toQueryError(error: unknown, source: string, timeoutMs: number, place = ''): RosterError {
  const raise = `Raise statementTimeout of this source, or make the query faster`;
  if (!(error instanceof pg.DatabaseError)) {
    const isSilent = error instanceof Error && error.message === 'Query read timeout';
    const why = isSilent
      ? `the database gave no answer in ${timeoutMs / 1_000} s and longer`
      : 'the connection was lost while reading';
    return new RosterError('roster_broken_off', `${source}: ${why}. Nothing was imported.`);
  }
  if (error.code === canceled && error.message.includes('statement timeout')) {
    return new RosterError('query_timeout', `${source}: no rows within ${timeoutMs / 1_000} s. ${raise}.`);
  }
  const isBrokenOff = error.code?.startsWith('57P') === true || error.code?.startsWith('08') === true;
  return isBrokenOff
    ? new RosterError(
        'roster_broken_off',
        `${source}: the database ended the connection: ${describe(error)}. Nothing was imported.`,
      )
    : new RosterError(
        'query_refused',
        `${source}: Postgres refused the query: ${describe(error)}.${isSafe(error) || place === '' ? '' : ` ${place}`}`,
      );
}

/** Messages on data may quote a customer's name, and error messages are logged. */
function describe(error: pg.DatabaseError): string {
  const { code = 'unknown' } = error;
  return isSafe(error) ? `${error.message} (${code})` : `an error in a value (SQLSTATE ${code})`;
}

const isSafe = ({ code = '' }: pg.DatabaseError): boolean => safeClasses.has(code.slice(0, 2));
