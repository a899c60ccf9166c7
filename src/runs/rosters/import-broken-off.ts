import { DatabaseError } from '../../store/database/database.js';

/**
 * Makes the error of an import during which our own database went away say what became of the roster; any other error is given as it is.
 * `isWritten`: all was written, and the answer to the commit is what did not come.
 */
export function toImportError(error: unknown, roster: string, isWritten: boolean): unknown {
  if (!(error instanceof DatabaseError) || error.code !== 'database_error' || !isGone(error)) return error;
  const { sqlState, constraint } = error;
  const outcome = isWritten
    ? 'It went away while the snapshot was being committed: the roster is either as it was or wholly as the source says, never in part'
    : 'Nothing of the roster was stored; it is as it was';
  const message = `our own database went away while roster ${roster} was being imported: ${error.message}. ${outcome}`;
  return new DatabaseError(message, { code: 'import_broken_off', cause: error, sqlState, constraint });
}

/** Connections that broke or were not made, a server that is shut down, starts up or has no room left: nothing that is at fault with what was sent. */
function isGone({ sqlState }: DatabaseError): boolean {
  return sqlState === undefined || /^(08|53|57P)/.test(sqlState);
}
