import { filledTextSchema } from './input-schemas.js';
import { parseInput } from './parse-input.js';

const idSchema = filledTextSchema
  // Dots would be resolved away, and the call would go to another operation.
  .refine((id) => id !== '.' && id !== '..', 'must not be a relative path')
  .refine((id) => id.isWellFormed(), 'is not well-formed text');

/** An id as one percent-encoded segment of a path; throws ConfigError for an id that cannot be one, without showing it. */
export const toPathSegment = (operationName: string, id: string): string =>
  encodeURIComponent(parseInput(operationName, idSchema, id));
