import { writeFile } from 'node:fs/promises';
import { publishedSchemas, renderSchema, schemasFolder } from './helpers/published-schemas.js';

for (const published of publishedSchemas) {
  await writeFile(new URL(published.name, schemasFolder), renderSchema(published));
}
