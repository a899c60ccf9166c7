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
const errorBodySchema = z.object({
  error: z
    .union([wordSchema, z.object({ type: optionalWordSchema, code: optionalWordSchema })])
    .optional()
    .catch(undefined),
  code: optionalWordSchema,
});

const findCode = (body: string): string | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  const parsed = errorBodySchema.safeParse(value);
  if (!parsed.success) return undefined;
  const { error, code } = parsed.data;
  return typeof error === 'object' ? (error.type ?? error.code ?? code) : (code ?? error);
};

/** The error for an answer that is no 2xx: class by status, code from the body in any of the known shapes, else `http_<status>`. */
export const toApiError = (body: string, context: ApiErrorContext): ApiError => {
  const { status, method, path } = context;
  const errorClass = classByStatus[status] ?? (status >= 500 ? ServerError : ApiError);
  const code = findCode(body) ?? `http_${status}`;
  return new errorClass(code, `${method} ${path} was answered with status ${status} (${code})`, { ...context, body });
};
