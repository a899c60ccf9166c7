import type { z } from 'zod';
import type { Operation } from '../operation.js';
import { toPathSegment } from './to-path-segment.js';

/** The look-up of one record by its id below `folder` (interface: GET /dossiers/{id}, Single-record lookups). */
export const toLookUp = <T>(name: string, folder: string, id: string, schema: z.ZodType<T>): Operation<T> => ({
  name,
  method: 'GET',
  path: `${folder}/${toPathSegment(name, id)}`,
  successStatus: 200,
  authentication: 'private_key',
  retry: 'repeatable',
  isBillable: false,
  schema,
});
