import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { serviceSettingsSchema } from '../src/client/settings.js';

type FieldComment = readonly [field: string, comment: string];

/** A comment for each setting, in the order of the declarations. */
function listSettings(schema: z.core.JSONSchema.JSONSchema): readonly FieldComment[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, setting]): readonly FieldComment[] => {
    if (typeof setting === 'boolean' || setting.description === undefined) throw new Error(`${name} is not described`);
    const hasDefault = setting.default !== undefined && setting.properties === undefined;
    const text = setting.description + (hasDefault ? `; default ${setting.default}` : '');
    return [[name, `/** ${text} */`], ...listSettings(setting)];
  });
}

/** The commented fields of each schema of a source file, those of other schemas within it included. */
function listFields(source: string): ReadonlyMap<string, readonly FieldComment[]> {
  const found = new Map<string, readonly FieldComment[]>();
  for (const [, name = '', body = ''] of source.matchAll(
    /^(?:export )?const (\w+(?:Schema|Fields)) =(.*?)\n(?! |\n)/gms,
  )) {
    const parts = [...body.matchAll(/(\/\*\*(?:(?!\*\/).)*\*\/)\s+(\w+):|\w+/gs)];
    const fields = parts.flatMap(([word, comment, field]): readonly FieldComment[] =>
      comment === undefined || field === undefined ? (found.get(word) ?? []) : [[field, comment]],
    );
    if (fields.length > 0) found.set(name, fields);
  }
  return found;
}

/** Writes comments before the fields of a declaration, which are in the same order. */
function writeComments(declaration: string, comments: readonly FieldComment[]): string {
  let rest = declaration;
  let written = '';
  for (const [field, comment] of comments) {
    const [before, indent] = new RegExp(`^[^]*?\n( +)(?=${field}: )`).exec(rest) ?? [];
    if (before === undefined) throw new Error(`no ${field} in ${declaration.slice(0, 80)}`);
    written += `${before}${comment}\n${indent}`;
    rest = rest.slice(before.length);
  }
  return written + rest;
}

// `tsx test/comment-settings.ts FOLDER`: inference keeps no comment, so the built declarations get them from the schemas, for editors.
const sources = fileURLToPath(new URL('../src/client/', import.meta.url));
const built = join(process.argv[2] ?? 'dist', 'src/client');
for (const file of readdirSync(sources)) {
  const path = join(built, file.replace(/\.ts$/, '.d.ts'));
  const settings = listSettings(z.toJSONSchema(serviceSettingsSchema, { io: 'input' }));
  const fields = new Map([
    ...listFields(readFileSync(join(sources, file), 'utf8')),
    ['serviceSettingsSchema', settings],
  ]);
  const text = readFileSync(path, 'utf8').replaceAll(
    /^(?:export )?declare const (\w+): .*?;\n(?![ }])/gms,
    (declaration, name: string) => writeComments(declaration, fields.get(name) ?? []),
  );
  writeFileSync(path, text);
}
