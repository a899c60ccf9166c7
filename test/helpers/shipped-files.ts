import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

/** The folder of the project. */
export const root = fileURLToPath(new URL('../../', import.meta.url));

/** A file of the project as text. */
export const readShipped = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The paths of all files below a folder of the project, as the project names them. */
export const listShipped = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));

/** The documents of a YAML file, anchors merged. */
export const readDocuments = (path: string): unknown[] =>
  parseAllDocuments(readShipped(path), { merge: true }).map((document): unknown => document.toJS());

/** The only document of a YAML file. */
export const readShippedYaml = (path: string): unknown => readDocuments(path)[0];

/** The lines of a unit of systemd by their keys, in order. */
export function readUnit(path: string): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  for (const [, key = '', value = ''] of readShipped(path).matchAll(/^([A-Z]\w+)=(.*)$/gm)) {
    values.set(key, [...(values.get(key) ?? []), value]);
  }
  return values;
}
