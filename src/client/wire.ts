import { z } from 'zod';
import { ConfigError, ResponseError } from '../errors.js';
import type { Answer, Operation } from './operation.js';

/** A date-time as the service writes it: ISO 8601 with any offset, a date that exists. */
export const isoDateTimeSchema = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/, 'is not an ISO 8601 date-time')
  .refine((text) => !Number.isNaN(Date.parse(text)), 'is not a date that exists');

/** A text to send that must not be blank. */
export const filledTextSchema = z.string().regex(/\S/u, 'must not be empty');

/** A Date or an ISO 8601 text, sent as a date-time (interface: query parameters of type date-time). */
export const sentDateTimeSchema = z
  .union([z.date(), isoDateTimeSchema], { error: 'must be a Date or an ISO 8601 date-time with its offset' })
  .transform((value) => (value instanceof Date ? value.toISOString() : value));

/** A whole number from 1 to `max`. */
export const countFromOneSchema = (max: number): z.ZodNumber => {
  const message = `must be a whole number from 1 to ${max}`;
  return z.number(message).int(message).min(1, message).max(max, message);
};

/** A record whose fields the interface does not show: a non-empty object, kept as it came. */
export const recordSchema = z.looseObject({}).refine((record) => Object.keys(record).length > 0, 'has no field at all');
/** A record whose fields the interface does not show (interface: Single-record lookups, Session); they are as they came. */
export type ServiceRecord = z.infer<typeof recordSchema>;

/** Checks an input against the limits of the interface; throws ConfigError with all problems and without any value. */
export const parseInput = <T>(operationName: string, schema: z.ZodType<T>, input: unknown): T => {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues.map(({ path, message }) => ({ where: operationName, path: path.join('.'), message })),
  );
};

const idSchema = filledTextSchema
  // Dots would be resolved, and the call would reach another operation.
  .refine((id) => id !== '.' && id !== '..', 'must not be a relative path')
  .refine((id) => id.isWellFormed(), 'is not well-formed text');

/** An id as one percent-encoded path segment; throws ConfigError for an invalid id, without showing it. */
export const toPathSegment = (operationName: string, id: string): string =>
  encodeURIComponent(parseInput(operationName, idSchema, id));

/** The query of a list, without undefined parameters. */
export const toQuery = (parameters: Readonly<Record<string, string | number | undefined>>): URLSearchParams => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query;
};

/** The error of a list that does not advance, with the page as evidence. */
export const listStuckError = (
  code: string,
  complaint: string,
  { path, pageNumber, answer }: { path: string; pageNumber: number; answer: Answer<unknown> },
): ResponseError => {
  const { status, body } = answer;
  return new ResponseError(code, `GET ${path}: page ${pageNumber} ${complaint}`, { method: 'GET', path, status, body });
};

/** The look-up of one record by id below `folder` (interface: GET /dossiers/{id}, Single-record lookups). */
export const toLookUp = <T>(name: string, folder: string, id: string, schema: z.ZodType<T>): Operation<T> => ({
  name,
  method: 'GET',
  path: `${folder}/${toPathSegment(name, id)}`,
  successStatus: 200,
  authentication: 'private_key',
  retry: 'repeatable',
  isBillable: false,
  schema,
  findBreach: (record) => findWrongRecord(id, record),
});

/** Whether the answer is the record of another id. It repeats a full id such as `dossier_a1`, but no humanized token, which has no prefix. */
function findWrongRecord(id: string, record: unknown): { code: string; message: string } | undefined {
  const [prefix] = /^[a-z_]+_/.exec(id) ?? [];
  const answered = recordWithIdSchema.safeParse(record).data?.id;
  if (prefix === undefined || answered === undefined || answered === id) return undefined;
  return answered.startsWith(prefix)
    ? { code: 'echo_mismatch', message: 'id: is not the requested record' }
    : undefined;
}

const recordWithIdSchema = z.object({ id: z.string() });
