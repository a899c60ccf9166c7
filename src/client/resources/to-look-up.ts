import { z } from 'zod';
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
  findBreach: (record) => {
    const [family] = /^[a-z_]+_/.exec(id) ?? [];
    const given = idSchema.safeParse(record).data?.id;
    // A humanized token is not repeated in the answer, a full id is.
    const isOther = family !== undefined && given?.startsWith(family) === true && given !== id;
    return isOther ? { code: 'echo_mismatch', message: 'id: is not the record that was asked for' } : undefined;
  },
});

const idSchema = z.object({ id: z.string() });
