import pg from 'pg';
import { RosterError } from '../../errors.js';
import { toConnectError } from './postgres-error.js';

const connectTimeoutMs = 15_000;
/** How much longer than the server's own limit we wait for an answer: beyond it the connection is dead. */
const graceMs = 30_000;

/** Connects to the database that a variable names, with TLS as its URL says; throws RosterError, which never quotes the URL. */
export async function connect(url: string, urlEnv: string, source: string, timeoutMs: number): Promise<pg.Client> {
  const client = createClient(url, urlEnv, source, timeoutMs);
  // A connection lost between two fetches fails the next fetch; without a listener it would end the process.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return client;
  } catch (error) {
    await disconnect(client);
    throw toConnectError(error, source, `${client.host}:${client.port}`, urlEnv);
  }
}

/** Ends a connection, whatever its state. */
export async function disconnect(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** What the driver understands: anything else it takes for a path on a host of its own making. */
const understood = /^(postgres(ql)?:\/\/|socket:|\/)/i;

function createClient(url: string, urlEnv: string, source: string, timeoutMs: number): pg.Client {
  if (!understood.test(url)) {
    throw new RosterError(
      'database_url_invalid',
      `${source}: ${urlEnv} holds no Postgres connection string: it begins with neither postgres:// nor postgresql://.`,
    );
  }
  try {
    return new pg.Client({
      connectionString: verifyRequiredTls(url),
      application_name: 'nightscreen roster',
      connectionTimeoutMillis: connectTimeoutMs,
      query_timeout: timeoutMs + graceMs,
      keepAlive: true,
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    if (/^(ENOENT|EACCES|EISDIR)$/.test(code)) {
      throw new RosterError(
        'database_url_invalid',
        `${source}: a certificate file that ${urlEnv} names (sslrootcert, sslcert or sslkey) cannot be read (${code}).`,
      );
    }
    // The parser's own error quotes the whole string, password included.
    throw new RosterError('database_url_invalid', `${source}: ${urlEnv} holds no valid Postgres connection string.`);
  }
}

/** The driver verifies for `prefer`, `require` and `verify-ca` what it verifies for `verify-full`, but warns on standard error that it may not always do so. */
function verifyRequiredTls(url: string): string {
  return /[?&]uselibpqcompat=/.test(url)
    ? url
    : url.replace(/([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/, '$1verify-full');
}
