import pg from 'pg';
import { StoreError } from '../errors.js';

const connectTimeoutMs = 10_000;
const graceMs = 1_000;

/** The pg settings of a URL (TLS as the URL says), with the session named after `owner`; 0 waits for each answer as long as it takes. */
export function postgresConfig(url: string, owner: string, queryTimeoutMs = 0): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: `nightscreen ${owner}`.slice(0, 63),
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    // The server itself ends the statement sooner.
    ...(queryTimeoutMs > 0 && { query_timeout: queryTimeoutMs + graceMs }),
  };
}

/** The server and database as `host:port/database`, without user and password; throws StoreError when the URL is not valid. */
export function describeServer(config: pg.ClientConfig): string {
  try {
    const client = new pg.Client(config);
    return `${client.host}:${client.port}/${client.database ?? ''}`;
  } catch {
    // The parser's own error holds the whole URL, so it is not passed on as a cause.
    throw new StoreError(
      'database_unreachable',
      'the database URL is not valid; expected postgres://user:password@host:5432/database',
    );
  }
}
