import { Agent, buildConnector, EnvHttpProxyAgent, Pool } from 'undici';
import { isLoopback } from './loopback.js';

type ProxyVariables = Readonly<Record<string, string | undefined>>;

export interface OutgoingSettings {
  /** A proxy that replaces that of the environment, or `none`. */
  proxy?: string | undefined;
  connectTimeoutMs: number;
}

/** The proxy for an address, without credentials, and the setting that names it; null for a direct connection. */
export function findProxy(
  url: URL,
  { proxy }: Pick<OutgoingSettings, 'proxy'>,
  environment: ProxyVariables = process.env,
): { url: string; source: string } | null {
  if (proxy === 'none' || isLoopback(url)) return null;
  if (proxy !== undefined) return { url: proxy, source: 'service.proxy' };
  const { source, given } = readProxy(environment);
  if (given === '' || isExempt(url, environment)) return null;
  return { url: URL.canParse(given) ? new URL(given).origin : 'an address that cannot be read', source };
}

const readProxy = (environment: ProxyVariables): { source: string; given: string } => {
  const source = environment['https_proxy'] === undefined ? 'HTTPS_PROXY' : 'https_proxy';
  return { source, given: environment[source] ?? '' };
};

const readNoProxy = (environment: ProxyVariables): string =>
  (environment['no_proxy'] ?? environment['NO_PROXY'] ?? '').trim();

/** As undici reads NO_PROXY, so that the report is correct. */
function isExempt({ hostname, port }: URL, environment: ProxyVariables): boolean {
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

// Clear text is sent only to this machine, and never through a proxy.
const loopback = 'localhost,127.0.0.1,[::1]';

/** New connections, through a proxy where one is set; the caller closes them. */
export function openDispatcher(
  { proxy, connectTimeoutMs: timeout }: OutgoingSettings,
  environment: ProxyVariables = process.env,
): Agent | EnvHttpProxyAgent {
  const httpsProxy = proxy ?? readProxy(environment).given;
  if (httpsProxy === '' || httpsProxy === 'none') return new Agent({ connect: { timeout } });
  const exempt = proxy === undefined ? readNoProxy(environment) : '';
  const noProxy = exempt === '*' ? exempt : `${exempt},${loopback}`;
  return new EnvHttpProxyAgent({
    httpProxy: '',
    httpsProxy,
    noProxy,
    proxyTls: { timeout },
    requestTls: { timeout },
    clientFactory: (address, options) => new Pool(address, { ...options, connect: failAfterHangUps(options, timeout) }),
  });
}

const mostHangUps = 3;

/**
 * Connects to a proxy. undici reopens a connection that ends without an answer, without limit, while a request waits: after a few in a row the
 * request fails instead, and the caller decides when to try again.
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
