import type { Sandbox } from '../../../src/sandbox/start-sandbox.js';

/** What a test sends; without a key the main organisation's private test key is presented, with null none. */
export interface Sent {
  key?: string | null;
  body?: unknown;
  headers?: Record<string, string>;
}

/** An answer with its body read: JSON where it is JSON. */
export interface Received {
  status: number;
  headers: Headers;
  json: Record<string, unknown>;
}

const readJson = (text: string): Record<string, unknown> => (text === '' ? {} : JSON.parse(text));

/** Sends one call, `GET /dossiers` for example, below the version prefix. */
export const callSandbox = async (sandbox: Sandbox, operation: string, sent: Sent = {}): Promise<Received> => {
  const [method = '', path = ''] = operation.split(' ');
  const key = sent.key === undefined ? sandbox.privateKey : sent.key;
  const response = await fetch(`${sandbox.url}${path}`, {
    method,
    headers: { ...(key === null ? {} : { authorization: `Bearer ${key}` }), ...sent.headers },
    redirect: 'manual',
    ...(sent.body === undefined ? {} : { body: typeof sent.body === 'string' ? sent.body : JSON.stringify(sent.body) }),
  });
  return { status: response.status, headers: response.headers, json: readJson(await response.text()) };
};

/** The status of an answer with the code in its error body, as `404 not_found`. */
export const toOutcome = ({ status, json }: Received): string => {
  const { error } = json;
  const type: unknown = typeof error === 'object' && error !== null && 'type' in error ? error.type : undefined;
  return typeof type === 'string' ? `${status} ${type}` : String(status);
};

/** Steers a sandbox over HTTP. */
export const steerSandbox = async (sandbox: Sandbox, part: string, order: unknown): Promise<Received> => {
  const url = new URL(`/_sandbox/${part}`, sandbox.url);
  const response = await fetch(url, { method: 'PUT', body: JSON.stringify(order) });
  return { status: response.status, headers: response.headers, json: readJson(await response.text()) };
};

/** The text field of an answer; fails when it has none. */
export const textOf = (json: Record<string, unknown>, field: string): string => {
  const value = json[field];
  if (typeof value !== 'string') throw new Error(`no text in ${field}`);
  return value;
};
