import { readFile, writeFile } from 'node:fs/promises';
import {
  publishedSchemas,
  renderConfigSchema,
  renderEnvironmentExample,
  renderReference,
  renderSchema,
  schemasFolder,
} from './helpers/shipped-files.js';

for (const published of publishedSchemas) {
  await writeFile(new URL(published.name, schemasFolder), renderSchema(published));
}
await writeFile(new URL('config.schema.json', schemasFolder), renderConfigSchema());
const reference = new URL('../docs/configuration.md', import.meta.url);
await writeFile(reference, renderReference(await readFile(reference, 'utf8')));
await writeFile(new URL('../.env.example', import.meta.url), renderEnvironmentExample());
