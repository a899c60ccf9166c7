import { z } from 'zod';
import type { SettingPath } from './source-file.js';

/** Every schema that a value may have to satisfy once optional parts, defaults and alternatives are opened up. */
function openSchema(schema: unknown): z.core.$ZodType[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return openSchema(schema.unwrap());
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return openSchema(schema.unwrap());
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(openSchema);
  if (schema instanceof z.ZodPipe) return openSchema(schema.in);
  return schema instanceof z.ZodType ? [schema] : [];
}

function step(schema: z.core.$ZodType, key: string | number): z.core.$ZodType[] {
  if (schema instanceof z.ZodObject) return openSchema(schema.shape[key] ?? schema.def.catchall);
  if (schema instanceof z.ZodArray) return openSchema(schema.element);
  if (schema instanceof z.ZodRecord) return openSchema(schema.valueType);
  return [];
}

/** The keys that the schema knows at a path; empty where it takes no fixed keys. */
export function listKnownKeys(schema: z.ZodType, path: SettingPath): string[] {
  let reached = openSchema(schema);
  for (const key of path) reached = reached.flatMap((each) => step(each, key));
  const keys = reached.flatMap((each) => (each instanceof z.ZodObject ? Object.keys(each.shape) : []));
  return [...new Set(keys)];
}
