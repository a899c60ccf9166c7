import { z } from 'zod';
import { reportJsonSchema } from '../../src/reports/report-json.js';
import { manifestJsonSchema } from '../../src/reports/write-report.js';

/** A schema that is published as a file under `docs/schemas`. */
interface PublishedSchema {
  name: string;
  title: string;
  schema: z.ZodObject<{ schema: z.ZodLiteral<string> }>;
}

/** What is published. */
export const publishedSchemas: readonly PublishedSchema[] = [
  {
    name: 'report.schema.json',
    title: 'report.json: the whole report of a run or of a span',
    schema: reportJsonSchema,
  },
  { name: 'manifest.schema.json', title: 'manifest.json: the files of a report', schema: manifestJsonSchema },
];

/** Where the schemas are published. */
export const schemasFolder = new URL('../../docs/schemas/', import.meta.url);

/** The file of a schema. */
export function renderSchema({ title, schema }: PublishedSchema): string {
  const { $schema, ...rest } = z.toJSONSchema(schema);
  const $id = `urn:${schema.shape.schema.value.replaceAll('/', ':')}`;
  return `${JSON.stringify({ $schema, $id, title, ...rest }, null, 2)}\n`;
}
