import { errors } from 'undici';
import { ConnectionError, type ConnectionErrorContext, TimeoutError } from '../../errors.js';

const codes: readonly [RegExp, string][] = [
  [/^ECONNREFUSED$/, 'connection_refused'],
  [/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, 'connection_reset'],
  [/^(ENOTFOUND|EAI_AGAIN)$/, 'name_not_resolved'],
  [/(CERT|TLS|SSL|SELF_SIGNED)/, 'tls_failed'],
  [/^HPE_/, 'malformed_answer'],
];

const readCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';

/** The error for an exchange that broke off or never came about; the text of the answer is not kept in it. */
export const toConnectionError = (error: unknown, context: ConnectionErrorContext): ConnectionError => {
  const { method, path } = context;
  const systemCode = readCode(error);
  if (error instanceof errors.ConnectTimeoutError) {
    return new TimeoutError('connect_timeout', `${method} ${path}: no connection in time`, {
      ...context,
      cause: error,
    });
  }
  const code = codes.find(([pattern]) => pattern.test(systemCode))?.[1] ?? 'connection_failed';
  // The parser's error carries a piece of the answer, which may hold a customer's name.
  const cause = error instanceof errors.HTTPParserError ? undefined : error;
  const detail = systemCode === '' ? '' : ` (${systemCode})`;
  return new ConnectionError(code, `${method} ${path}: ${code.replaceAll('_', ' ')}${detail}`, { ...context, cause });
};
