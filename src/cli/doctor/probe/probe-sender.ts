import { Agent } from 'undici';
import { toAuthorization } from '../../../client/calls/api-key.js';
import type { ServiceSettings } from '../../../client/settings.js';
import { type RawAnswer, sendRequest } from '../../../client/transport/send-request.js';
import { toApiError } from '../../../client/transport/to-api-error.js';
import { toConnectionError } from '../../../client/transport/to-connection-error.js';
import { userAgent } from '../../../client/transport/user-agent.js';
import { AuthenticationError, NightscreenError, TimeoutError } from '../../../errors.js';

/** One question to the service; `route` stands for the path where that holds a token, `isSearch` marks a search with a name. */
export interface ProbeRequest {
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
