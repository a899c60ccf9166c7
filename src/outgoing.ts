import { Agent, buildConnector, EnvHttpProxyAgent, Pool } from 'undici';
import { isLoopback } from './loopback.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Which way requests are to leave this machine. */
export interface OutgoingSettings {
  /** A proxy in place of the environment's, or `none` to go without one. */
  proxy?: string | undefined;
  connectTimeoutMs: number;
}

/** The proxy that requests to an address go through, without credentials, and what names it; null where they go directly. */
export function findProxy(
  url: URL,
  { proxy }: Pick<OutgoingSettings, 'proxy'>,
  environment: Environment = process.env,
): { url: string; source: string } | null {
  if (proxy === 'none' || isLoopback(url)) return null;
  if (proxy !== undefined) return { url: proxy, source: 'service.proxy' };
  const { source, given } = readProxy(environment);
  if (given === '' || isExempt(url, environment)) return null;
  return { url: URL.canParse(given) ? new URL(given).origin : 'an address that cannot be read', source };
}

const readProxy = (environment: Environment): { source: string; given: string } => {
  const source = environment['https_proxy'] === undefined ? 'HTTPS_PROXY' : 'https_proxy';
  return { source, given: environment[source] ?? '' };
};

const readNoProxy = (environment: Environment): string =>
  (environment['no_proxy'] ?? environment['NO_PROXY'] ?? '').trim();

/** As undici reads NO_PROXY, so that what is said of the way is true. */
function isExempt({ hostname, port }: URL, environment: Environment): boolean {
  const given = readNoProxy(environment);
  if (given === '*') return true;
  const entries = given.split(/[,\s]+/).filter(Boolean);
  return entries.some((entry) => {
    const [, host = entry, only] = /^(.+):(\d+)$/.exec(entry) ?? [];
    const name = host.replace(/^\*?\./, '').toLowerCase();
    if (only !== undefined && only !== (port || '443')) return false;
    return hostname === name || hostname.endsWith(`.${name}`);
  });
}

// Clear text goes to this machine alone, and no proxy stands between a machine and itself.
const loopback = 'localhost,127.0.0.1,[::1]';

/** Connections of one's own, through a proxy where there is one; to be closed. */
export function openDispatcher(
  { proxy, connectTimeoutMs: timeout }: OutgoingSettings,
  environment: Environment = process.env,
): Agent | EnvHttpProxyAgent {
  const httpsProxy = proxy ?? readProxy(environment).given;
  if (httpsProxy === '' || httpsProxy === 'none') return new Agent({ connect: { timeout } });
  const exempt = proxy === undefined ? readNoProxy(environment) : '';
  const noProxy = exempt === '*' ? exempt : `${exempt},${loopback}`;
  return new EnvHttpProxyAgent({
    ...{ httpProxy: '', httpsProxy, noProxy, proxyTls: { timeout }, requestTls: { timeout } },
    clientFactory: (address, options) => new Pool(address, { ...options, connect: failAfterHangUps(options, timeout) }),
  });
}

const mostHangUps = 3;

/**
 * Connects to a proxy. A connection that ends without an answer is opened anew as long as a request waits for it, with no end: after a few in a
 * row what waits fails instead, and the caller decides when to try again.
 */
function failAfterHangUps(options: object, timeout: number): buildConnector.connector {
  const given = 'connect' in options ? options.connect : undefined;
  const connect: buildConnector.connector =
    typeof given === 'function' ? (one, done) => given(one, done) : buildConnector({ timeout });
  let hangUps = 0;
  return (target, callback) => {
    if (hangUps >= mostHangUps) {
      hangUps = 0;
      callback(Object.assign(new Error('the proxy hangs up'), { code: 'ECONNRESET' }), null);
      return;
    }
    connect(target, (...[error, socket]) => {
      socket?.once('close', () => {
        hangUps = socket.bytesRead === 0 ? hangUps + 1 : 0;
      });
      if (socket) callback(null, socket);
      else callback(error ?? new Error('no connection'), null);
    });
  };
}
