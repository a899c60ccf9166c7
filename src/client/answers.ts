import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import {
  ApiError,
  type ApiErrorContext,
  AuthenticationError,
  ConsentRequiredError,
  GoneError,
  InvalidRequestError,
  NotFoundError,
  PaymentRequiredError,
  PermissionError,
  RateLimitError,
  ResponseError,
  ServerError,
  ServiceUnavailableError,
  UnprocessableError,
} from '../errors.js';
import type { Answer, AttemptEnd, Operation } from './operation.js';

/** An answer as received; `isComplete` is false when its body exceeds the limit or, with an error status, breaks off. */
export interface RawAnswer {
  status: number;
  /** A repeated header is an array. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Buffer;
  isComplete: boolean;
}

const maxEvidenceBytes = 65_536;
const byteOrderMark = 0xfeff;

type AnswerIssue = z.core.$ZodIssue;

const toPath = (path: readonly PropertyKey[]): string =>
  path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '');

/** The first issue of a checked answer; of a union, that of the alternative with the fewest issues. */
const findIssue = (issues: readonly AnswerIssue[]): AnswerIssue | undefined => {
  const [issue] = issues;
  if (issue?.code !== 'invalid_union') return issue;
  const nearest = issue.errors.toSorted((one, other) => one.length - other.length).at(0);
  return findIssue(nearest ?? []) ?? issue;
};

/** The brackets and texts of a JSON text; a text with a colon behind it is a key. */
const jsonToken = /[{}[\]]|"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/g;

/** The first key that an object of a valid JSON text repeats (RFC 8259, 4: its meaning is undefined); undefined without one. */
function findRepeatedKey(json: string): string | undefined {
  // The keys of each object that is open, and null for an open array.
  const open: (Set<string> | null)[] = [];
  for (const [token, raw = '', colon] of json.matchAll(jsonToken)) {
    if (token === '{') open.push(new Set());
    else if (token === '[') open.push(null);
    else if (token === '}' || token === ']') open.pop();
    else if (colon !== undefined) {
      const key: string = raw.includes('\\') ? JSON.parse(`"${raw}"`) : raw;
      const keys = open.at(-1);
      if (keys?.has(key)) return key;
      keys?.add(key);
    }
  }
  return undefined;
}

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

const readHeader = (headers: RawAnswer['headers'], name: string): string | undefined => {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
};

const joinHeaders = (headers: RawAnswer['headers']): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value = '']) => [name.toLowerCase(), [value].flat().join(', ')]),
  );

const requestIdForm = /^[!-~]{1,200}$/;

type AnswerHead = Pick<AttemptEnd, 'requestId' | 'servedAt'>;

/** The service's id of the request and its clock, as far as the headers contain them. */
export const readHead = (headers: RawAnswer['headers']): AnswerHead => {
  const id = readHeader(headers, 'x-request-id') ?? readHeader(headers, 'request-id') ?? '';
  const servedMs = parseHttpDate(readHeader(headers, 'date') ?? '');
  return {
    requestId: requestIdForm.test(id) ? id : undefined,
    servedAt: Number.isNaN(servedMs) ? undefined : new Date(servedMs),
  };
};

/** Checks an answer, whose head the caller has read. Throws ApiError for an error status, and ResponseError for a body that breaks the interface. */
export const readAnswer = <T>(
  operation: Operation<T>,
  raw: RawAnswer,
  { requestId, servedAt }: AnswerHead,
  now: () => Date,
): Answer<T> => {
  const { status, headers } = raw;
  if (isSuccess(status)) {
    const { data, body } = readData(operation, raw);
    return { data, body, status, requestId, attempts: 1 };
  }
  throw toApiError(raw.body.toString('utf8'), {
    method: operation.method,
    path: operation.route ?? operation.path,
    status,
    requestId,
    // The date follows the clock of the service, which may differ from ours.
    retryAfterMs: parseRetryAfter(headers['retry-after'], (servedAt ?? now()).getTime()),
    headers: joinHeaders(headers),
  });
};

/** The data of a 2xx answer; throws ResponseError with the fault, its place and the body as evidence. The message contains no value. */
const readData = <T>(operation: Operation<T>, answer: RawAnswer): { data: T; body: string } => {
  const { method } = operation;
  const { status, body } = answer;
  const path = operation.route ?? operation.path;
  const fail = (code: string, complaint: string): never => {
    throw new ResponseError(code, `${method} ${path}: ${complaint}`, {
      method,
      path,
      status,
      body: body.subarray(0, maxEvidenceBytes).toString('utf8'),
    });
  };
  if (!answer.isComplete) return fail('too_large', 'the answer is longer than service.maxResponseBytes allows');
  if (status !== operation.successStatus) {
    return fail('unexpected_status', `answered with status ${status} where ${operation.successStatus} means success`);
  }
  if (!isUtf8(body)) return fail('not_json', 'the answer is not JSON (it is not UTF-8)');
  const decoded = body.toString('utf8');
  const text = decoded.charCodeAt(0) === byteOrderMark ? decoded.slice(1) : decoded;
  let value: unknown;
  try {
    value = text === '' && operation.mayBeEmpty ? {} : JSON.parse(text);
  } catch {
    return fail('not_json', 'the answer is not JSON');
  }
  // JSON.parse keeps the last of two equal keys, as in `"results":[...],"results":[]`.
  const twice = findRepeatedKey(text);
  if (twice !== undefined) {
    const shown = /^\w{1,64}$/.test(twice) ? twice : 'a field';
    return fail('duplicate_key', `${shown}: is named twice in one object`);
  }
  const parsed = operation.schema.safeParse(value);
  if (!parsed.success) {
    const issue = findIssue(parsed.error.issues);
    const place = toPath(issue?.path ?? []) || 'the answer';
    return fail('invalid_body', `${place}: ${issue?.message ?? 'has another form'}`);
  }
  const breach = operation.findBreach?.(parsed.data, value);
  return breach ? fail(breach.code, breach.message) : { data: parsed.data, body: text };
};

const classByStatus: Readonly<Record<number, typeof ApiError>> = {
  400: InvalidRequestError,
  401: AuthenticationError,
  402: PaymentRequiredError,
  403: PermissionError,
  404: NotFoundError,
  410: GoneError,
  422: UnprocessableError,
  429: RateLimitError,
  451: ConsentRequiredError,
  503: ServiceUnavailableError,
};

// Codes are shown and logged. A sentence (it may contain a customer's name) or a key is therefore no code.
const wordSchema = z.string().regex(/^(?!private_|public_)[A-Za-z][A-Za-z0-9_.-]{0,63}$/);
const optionalWordSchema = wordSchema.optional().catch(undefined);
const textSchema = z.string().optional().catch(undefined);
const secondsSchema = z
  .union([z.number(), z.string()])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,9}$/))
  .optional()
  .catch(undefined);
/** The known fields of `error`, or of the body itself in other shapes (service facts: error body). */
const detailsSchema = z.object({ code: optionalWordSchema, message: textSchema, remaining_seconds: secondsSchema });
const errorBodySchema = detailsSchema.extend({
  error: z
    .union([wordSchema, detailsSchema.extend({ type: optionalWordSchema })])
    .optional()
    .catch(undefined),
});

const readBody = (
  body: string,
): { code?: string | undefined } & Pick<ApiErrorContext, 'serviceMessage' | 'remainingSeconds'> => {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return {};
  }
  const { error, ...outer } = errorBodySchema.safeParse(value).data ?? {};
  const within = typeof error === 'object' ? error : {};
  // A bare `error` may be a sentence, so a `code` beside it comes first.
  const code = typeof error === 'object' ? (error.type ?? error.code ?? outer.code) : (outer.code ?? error);
  const serviceMessage = within.message ?? outer.message;
  const hint = within.remaining_seconds ?? outer.remaining_seconds;
  const seconds = hint ?? /remaining_seconds\D{0,3}(\d{1,9})/.exec(serviceMessage ?? '')?.[1];
  return { code, serviceMessage, remainingSeconds: seconds === undefined ? undefined : Number(seconds) };
};

/** The error of an answer with an error status: class by status, code from the body, else `http_<status>`. */
export const toApiError = (body: string, context: ApiErrorContext): ApiError => {
  const { status, method, path } = context;
  const errorClass = classByStatus[status] ?? (status >= 500 ? ServerError : ApiError);
  const { code = `http_${status}`, ...said } = readBody(body);
  const message = `${method} ${path} was answered with status ${status} (${code})`;
  return new errorClass(code, message, { ...context, ...said, body });
};

/** The longest wait that is accepted from the service: one year. */
export const maxRetryAfterMs = 365 * 24 * 3_600_000;

// A proxy may join several headers into one (RFC 9110, 5.3). The comma inside a date follows its weekday.
const joint = /(?<=\d|GMT)\s*,/;

const parseOne = (text: string, nowMs: number): number =>
  /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1_000 : parseHttpDate(text) - nowMs;

/** The delay of a Retry-After header (RFC 9110, 10.2.3), the longest of several, at most a year; undefined when absent, past or invalid. */
export const parseRetryAfter = (value: string | readonly string[] | undefined, nowMs: number): number | undefined => {
  const texts = [value ?? []].flat().flatMap((text) => text.split(joint));
  const delaysMs = texts.map((text) => parseOne(text.trim(), nowMs)).filter((delayMs) => delayMs >= 0);
  return delaysMs.length === 0 ? undefined : Math.min(Math.ceil(Math.max(...delaysMs)), maxRetryAfterMs);
};

const preferredForms = /^[A-Z][a-z]+, .+ GMT$/;
const ancientForm = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/** The instant of an HTTP date in any of its three forms (RFC 9110, 5.6.7) in milliseconds; NaN for other texts. */
const parseHttpDate = (text: string): number => {
  if (preferredForms.test(text)) return Date.parse(text);
  return ancientForm.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
};
