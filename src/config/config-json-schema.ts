import { z } from 'zod';
import { configSchema } from './schema.js';

/**
 * The configuration file as a JSON Schema (draft 7), for editors: keys, types, defaults and what each means. What depends on several settings,
 * or on the key, is checked when the file is read.
 */
export function toConfigJsonSchema(): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(configSchema, {
    target: 'draft-7',
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      // Left out by zod where the value is changed as it is read; ours are written the same way before and after.
      if (zodSchema instanceof z.ZodDefault) jsonSchema.default ??= structuredClone(zodSchema.def.defaultValue);
      // What JavaScript can count to is no limit that anybody has set.
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return { $schema, $id: 'urn:nightscreen:config:1', title: 'nightscreen.config.yaml', ...rest };
}
