import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { serviceSettingsSchema } from '../src/client/settings.js';

/** A comment for each setting, in the order of the declarations. */
function listComments(schema: z.core.JSONSchema.JSONSchema): readonly [name: string, comment: string][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, setting]): readonly [string, string][] => {
    if (typeof setting === 'boolean' || setting.description === undefined) throw new Error(`${name} is not described`);
    const hasDefault = setting.default !== undefined && setting.properties === undefined;
    const text = setting.description + (hasDefault ? `; default ${setting.default}` : '');
    return [[name, `/** ${text} */`], ...listComments(setting)];
  });
}

// `tsx test/comment-settings.ts FOLDER`: inference keeps no comment, so the built declarations get them from the schema, for editors.
const file = join(process.argv[2] ?? 'dist', 'src/client/settings.d.ts');
let rest = readFileSync(file, 'utf8');
let written = '';
for (const [name, comment] of listComments(z.toJSONSchema(serviceSettingsSchema, { io: 'input' }))) {
  const [before, indent] = new RegExp(`^[^]*?\n( +)(?=${name}: )`).exec(rest) ?? [];
  if (before === undefined) throw new Error(`${file} does not declare ${name}`);
  written += `${before}${comment}\n${indent}`;
  rest = rest.slice(before.length);
}
writeFileSync(file, written + rest);
