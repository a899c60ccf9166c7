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
  ServerError,
  ServiceUnavailableError,
  UnprocessableError,
} from '../../errors.js';

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

// A code is shown and logged, so a sentence (which may hold a customer's name) or a key is not taken for one.
const wordSchema = z.string().regex(/^(?!private_|public_)[A-Za-z][A-Za-z0-9_.-]{0,63}$/);
const optionalWordSchema = wordSchema.optional().catch(undefined);
const textSchema = z.string().optional().catch(undefined);
const secondsSchema = z
  .union([z.number(), z.string()])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,9}$/))
  .optional()
  .catch(undefined);
/** What may stand in `error` or, in other shapes, beside it (service facts: error body). */
const detailsSchema = z.object({ code: optionalWordSchema, message: textSchema, remaining_seconds: secondsSchema });
const errorBodySchema = detailsSchema.extend({
  error: z
    .union([wordSchema, detailsSchema.extend({ type: optionalWordSchema })])
    .optional()
    .catch(undefined),
});

/** What the service says of an error in any of the known shapes; nothing where the body is none of them. */
const readBody = (
  body: string,
): { code?: string | undefined } & Pick<ApiErrorContext, 'serviceMessage' | 'remainingSeconds'> => {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return {};
  }
  const { error, ...beside } = errorBodySchema.safeParse(value).data ?? {};
  const within = typeof error === 'object' ? error : {};
  const code = typeof error === 'object' ? (error.type ?? error.code ?? beside.code) : (beside.code ?? error);
  const serviceMessage = within.message ?? beside.message;
  const hint = within.remaining_seconds ?? beside.remaining_seconds;
  const seconds = hint ?? /remaining_seconds\D{0,3}(\d{1,9})/.exec(serviceMessage ?? '')?.[1];
  return { code, serviceMessage, remainingSeconds: seconds === undefined ? undefined : Number(seconds) };
};

/** The error for an answer that is no 2xx: class by status, code from the body in any of the known shapes, else `http_<status>`. */
export const toApiError = (body: string, context: ApiErrorContext): ApiError => {
  const { status, method, path } = context;
  const errorClass = classByStatus[status] ?? (status >= 500 ? ServerError : ApiError);
  const { code = `http_${status}`, ...said } = readBody(body);
  const message = `${method} ${path} was answered with status ${status} (${code})`;
  return new errorClass(code, message, { ...context, ...said, body });
};
