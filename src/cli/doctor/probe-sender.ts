import { Agent } from 'undici';
import { type RawAnswer, toApiError } from '../../client/answers.js';
import { toAuthorization } from '../../client/credentials.js';
import type { ServiceSettings } from '../../client/settings.js';
import { sendRequest, toConnectionError, userAgent } from '../../client/transport.js';
import { AuthenticationError, NightscreenError, TimeoutError } from '../../errors.js';
import type { RunMode } from '../../vocabulary.js';
import type { Finding } from './finding.js';

/** One question to the service; `route` stands for the path where that holds a token, `isSearch` marks a search with a name. */
interface ProbeRequest {
  method: 'GET' | 'POST';
  path: string;
  route?: string;
  query?: Readonly<Record<string, string>>;
  body?: Readonly<Record<string, string>>;
  isSearch?: boolean;
}

/** An answer of any status and shape; `value` is undefined when it is not JSON, `code` is what the client would take for its error code. */
export interface ProbeAnswer extends RawAnswer {
  request: ProbeRequest;
  value: unknown;
  code: string;
  sentAt: Date;
  receivedAt: Date;
}

/** Sends each request at most once and remembers what was sent and what came back. */
export interface ProbeSender {
  /** Throws AuthenticationError when the key is refused, ConnectionError when no whole answer came in time, or the signal's reason. */
  send(request: ProbeRequest): Promise<ProbeAnswer>;
  /** Every request sent so far, also those that came to nothing. */
  readonly sent: readonly ProbeRequest[];
  readonly answers: readonly ProbeAnswer[];
  close(): Promise<void>;
}

/** What a sender is opened with. */
export interface ProbeSenderSettings {
  service: ServiceSettings;
  baseUrl: string;
  apiKey: string;
  signal: AbortSignal;
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Opens a sender; it follows no redirect, and the settings' deadline and size bound each answer. */
export const openProbeSender = ({ service, baseUrl, apiKey, signal }: ProbeSenderSettings): ProbeSender => {
  const timeoutMs = service.timeoutSeconds * 1_000;
  const agent = new Agent({ connect: { timeout: timeoutMs } });
  const { origin, pathname } = new URL(baseUrl);
  const prefix = pathname.replace(/\/+$/, '');
  const sent: ProbeRequest[] = [];
  const answers: ProbeAnswer[] = [];

  const exchange = (request: ProbeRequest, context: { method: string; path: string }): Promise<RawAnswer> => {
    const query = new URLSearchParams(request.query).toString();
    let mayHaveArrived = false;
    const options = {
      origin,
      path: `${prefix}${request.path}${query === '' ? '' : `?${query}`}`,
      method: request.method,
      headers: {
        accept: 'application/json',
        authorization: toAuthorization(apiKey, service.authentication),
        'user-agent': userAgent,
        ...(request.body ? { 'content-type': 'application/json' } : {}),
      },
      body: request.body ? JSON.stringify(request.body) : null,
      headersTimeout: 0,
      bodyTimeout: 0,
    };
    return sendRequest(agent, options, {
      signal,
      timeoutMs,
      toTimeoutError: () =>
        new TimeoutError(
          'deadline_passed',
          `${context.method} ${context.path}: no whole answer within ${timeoutMs} ms`,
          { ...context, mayHaveArrived },
        ),
      maxBytes: () => service.maxResponseBytes,
      mayLeave: () => {
        mayHaveArrived = true;
        return true;
      },
      onStatus: () => undefined,
      onBytes: () => undefined,
    }).catch((error: unknown) => {
      if (error instanceof NightscreenError || signal.aborted) throw error;
      throw toConnectionError(error, { ...context, mayHaveArrived });
    });
  };

  return {
    sent,
    answers,
    send: async (request) => {
      signal.throwIfAborted();
      const context = { method: request.method, path: request.route ?? request.path };
      sent.push(request);
      const sentAt = new Date();
      const raw = await exchange(request, context);
      const text = raw.body.toString('utf8');
      const error = toApiError(text, { ...context, status: raw.status });
      const { code } = error;
      const answer = { ...raw, request, value: parseJson(text), code, sentAt, receivedAt: new Date() };
      answers.push(answer);
      if (error instanceof AuthenticationError) throw error;
      return answer;
    },
    // Closing gently would wait for a connection that hangs.
    close: () => agent.destroy(),
  };
};

/** One gap of the interface and how it is looked into; `ask` throws what the sender throws. */
export interface Probe {
  check: string;
  ask(): Promise<Finding>;
}

/** What the probes learn of the service for each other and for the configuration. */
export interface ProbeFacts {
  /** The mode in which service, key and settings agree; null when they do not, or the service did not say: then nothing is searched. */
  mode: RunMode | null;
  /** False when the path that every account has is unknown there, so that no other answer means anything. */
  isService: boolean;
  /** The search's name field; `isProven` when a search with it was answered with the name's echo. */
  nameField: { name: string; isProven: boolean };
}

const plainKey = /^[A-Za-z_][\w.-]{0,39}$/;
const mostKeys = 8;
const deepest = 3;

/** A key as it may be shown: one that is no plain word may hold anything. */
export const toShownKey = (key: string): string => (plainKey.test(key) ? key : '?');

/** The keys of a JSON value as text, as in `{error: {type, message}}`; values are never shown, because they may be customer data. */
export function describeShape(value: unknown, depth = 0): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : `[${describeShape(value[0], depth + 1)}]`;
  if (value === null) return 'null';
  if (typeof value !== 'object') return typeof value;
  if (depth === deepest) return '{...}';
  const entries = Object.entries(value);
  const shown = entries.slice(0, mostKeys).map(([key, inner]) => {
    const name = toShownKey(key);
    return typeof inner === 'object' && inner !== null ? `${name}: ${describeShape(inner, depth + 1)}` : name;
  });
  return `{${[...shown, ...(entries.length > mostKeys ? ['...'] : [])].join(', ')}}`;
}

/** What came in place of the answer that was expected, without any of its content. */
export function describeUnexpected({ status, code, value, isComplete }: ProbeAnswer): string {
  if (!isComplete) return `status ${status}, and an answer that is longer than service.maxResponseBytes or broke off`;
  if (status >= 200 && status < 300) {
    return `status ${status}, ${value === undefined ? 'no JSON' : `an answer of the form ${describeShape(value)}`}`;
  }
  return `status ${status}${code === `http_${status}` ? '' : ` (${code})`}`;
}
