import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { createProgram } from '../../src/cli/program.js';
import { type Variable, variables } from '../../src/config/environment.js';
import { toConfigJsonSchema } from '../../src/config/schema.js';
import { reportJsonSchema } from '../../src/reports/report-json.js';
import { groupJsonSchema } from '../../src/reports/write-group.js';
import { manifestJsonSchema } from '../../src/reports/write-report.js';

const kubernetes = 'deploy/kubernetes';

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const toName = (value: unknown): unknown => (isObject(value) ? value['name'] : undefined);

/** Merges as a strategic merge patch does what the manifests here have: objects by key, lists of named things by name, other lists whole. */
function merge(base: unknown, patch: unknown): unknown {
  if (isObject(base) && isObject(patch)) {
    const merged = Object.entries(patch).map(([key, value]) => [key, key in base ? merge(base[key], value) : value]);
    return { ...base, ...Object.fromEntries(merged) };
  }
  if (Array.isArray(base) && Array.isArray(patch) && patch.some((each) => toName(each) !== undefined)) {
    const kept = base.map((each: unknown) => {
      const found: unknown = patch.find((other) => toName(other) === toName(each));
      return found === undefined ? each : merge(each, found);
    });
    return [...kept, ...patch.filter((each) => base.every((other: unknown) => toName(other) !== toName(each)))];
  }
  return patch;
}

/** The CronJobs of a file with the pod that `pod/` gives them: what `kubectl kustomize` makes of them, but for image and names of settings. */
export function readCronJobs(path: string): unknown[] {
  const [each] = readDocuments(`${kubernetes}/pod/cronjob.yaml`);
  const [volume] = readDocuments(`${kubernetes}/pod/reports-volume.yaml`);
  return readDocuments(`${kubernetes}/${path}`).map((job) => {
    const { metadata } = isObject(job) ? job : {};
    const labels = isObject(metadata) ? metadata['labels'] : undefined;
    const isWatchdog = isObject(labels) && labels['app.kubernetes.io/component'] === 'watchdog';
    const patched = merge(merge(job, each), isWatchdog ? {} : volume);
    return { ...(isObject(patched) ? patched : {}), metadata };
  });
}

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

/** The words of a command as a shell splits them, without comments and what is behind a pipe or another command. */
export function splitWords(line: string): string[] {
  const [command = ''] = line.split(/\s+#|\s[|>;]|\s&&/);
  return [...command.matchAll(/(?:"([^"]*)"|'([^']*)'|(\S+))/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? '',
  );
}

/** Why the program would refuse these words as they are typed: a command, an option or a value that it does not know. Null: it takes them. */
export async function findRefusal(words: readonly string[]): Promise<string | null> {
  const program = await createProgram(async () => {}, { writeOut: () => {}, writeErr: () => {} });
  try {
    await program.parseAsync([...words], { from: 'user' });
    return null;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return null;
    return `${words.join(' ')}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The names of the commands of the program. */
export const commandNames: readonly string[] = (
  await createProgram(async () => {}, { writeOut: () => {}, writeErr: () => {} })
).commands.map((command) => command.name());

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
  {
    name: 'group-report.schema.json',
    title: 'report.json: the report over all rosters of an organisation',
    schema: groupJsonSchema,
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

/** The parts of a JSON Schema that the reference reads. */
interface SchemaNode {
  description?: string;
  title?: string;
  default?: unknown;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  properties?: Record<string, SchemaNode>;
  required?: string[];
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  propertyNames?: SchemaNode;
  additionalProperties?: boolean | SchemaNode;
}

/** A setting as the reference tells it; `initial` is its default in words. */
interface ReferenceRow {
  path: string;
  type: string;
  initial: string;
  description: string | undefined;
}

const mostWords = 12;
const code = (value: unknown): string => `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;

const formats: Readonly<Record<string, string>> = { uri: 'URL', email: 'e-mail address', date: 'date' };

function describeRange({ minimum, maximum, exclusiveMinimum }: SchemaNode): string {
  const from =
    minimum !== undefined ? `from ${minimum}` : exclusiveMinimum !== undefined ? `above ${exclusiveMinimum}` : '';
  return [from, maximum === undefined ? '' : `up to ${maximum}`].filter((part) => part !== '').join(' ');
}

function describeWords(words: readonly unknown[]): string {
  if (words.length <= mostWords) return words.map(code).join(', ');
  return `one of ${words.length}: ${words.slice(0, 4).map(code).join(', ')} ...`;
}

function describeType(node: SchemaNode): string {
  if (node.title !== undefined) return node.title;
  if (node.const !== undefined) return code(node.const);
  if (node.enum) return describeWords(node.enum);
  if (node.anyOf) return [...new Set(node.anyOf.map(describeType))].join(' or ');
  if (node.items) return node.items.properties ? 'list of groups' : `list of ${describeType(node.items)}`;
  if (node.properties) return code(`{${Object.keys(node.properties).join(', ')}}`);
  if (typeof node.additionalProperties === 'object') {
    return `${describeType(node.additionalProperties)} by ${node.propertyNames?.enum ? describeWords(node.propertyNames.enum) : 'word'}`;
  }
  if (Array.isArray(node.type)) return 'column';
  if (node.type === 'number' || node.type === 'integer') {
    return [node.type === 'integer' ? 'whole number' : 'number', describeRange(node)].join(' ').trim();
  }
  if (node.type === 'boolean') return '`true` or `false`';
  return formats[node.format ?? ''] ?? 'text';
}

const isGroup = (node: SchemaNode): boolean => node.properties !== undefined && node.anyOf === undefined;

function listRows(node: SchemaNode, path: string, isRequired: boolean): ReferenceRow[] {
  const inner = isGroup(node) ? node : node.items && isGroup(node.items) ? node.items : null;
  const prefix = inner === node ? path : `${path}[]`;
  const children = Object.entries(inner?.properties ?? {});
  // The others of an organisation are the groups of the top level.
  const own = path === 'organisations' ? children.filter(([, child]) => child.description !== undefined) : children;
  const ofInner = own.flatMap(([key, child]) =>
    listRows(child, `${prefix}.${key}`, inner?.required?.includes(key) ?? false),
  );
  const isDefaultNamed = node.default !== undefined && inner !== node;
  const otherwise = isRequired ? 'required' : inner === node ? '' : 'none';
  const row = {
    path,
    type: inner === node ? 'group' : describeType(node),
    initial: isDefaultNamed ? code(node.default) : otherwise,
    description: node.description,
  };
  return [row, ...ofInner];
}

const topLevel = (): Record<string, SchemaNode> => {
  const schema: SchemaNode = JSON.parse(JSON.stringify(toConfigJsonSchema()));
  return schema.properties ?? {};
};

/** The groups of the configuration file. */
export const listGroups = (): string[] => Object.keys(topLevel());

/** Every setting of the configuration file, groups and entries of lists included. */
export const listSettings = (): ReferenceRow[] =>
  Object.entries(topLevel()).flatMap(([key, node]) => listRows(node, key, false));

const variableOf = (path: string): Variable | undefined =>
  variables.find(({ overrides }) => overrides?.join('.') === path);

const toCell = (text: string): string => text.replaceAll('|', '\\|');

function renderGroup(group: string): string {
  const rows = listSettings().filter(
    ({ path }) => path === group || path.startsWith(`${group}.`) || path.startsWith(`${group}[`),
  );
  const lines = rows.map(({ path, type, initial, description = '' }) => {
    const variable = variableOf(path);
    const meaning = variable ? `${description}; variable \`${variable.name}\`` : description;
    return `| \`${path}\` | ${toCell(type)} | ${toCell(initial)} | ${toCell(meaning)} |`;
  });
  return ['| key | type | default | meaning |', '|---|---|---|---|', ...lines].join('\n');
}

function renderVariables(): string {
  const lines = variables.map(
    ({ name, isSecret, meaning }) =>
      `| \`${name}\`${isSecret ? `, \`${name}_FILE\`` : ''} | ${isSecret ? 'yes' : 'no'} | ${meaning} |`,
  );
  return ['| variable | secret | meaning |', '|---|---|---|', ...lines].join('\n');
}

const block = /(<!-- generated: (\w+) -->\n)(?:(?!<!--)[\s\S])*(<!-- end of generated -->)/g;

/** The names of the parts of a document that are generated, in their order. */
export const listBlocks = (document: string): string[] => [...document.matchAll(block)].map(([, , name = '']) => name);

/** The document with its generated parts written anew; what stands between them stays as it is. */
export const renderReference = (document: string): string =>
  document.replaceAll(block, (_whole, begin: string, name: string, end: string) =>
    [begin, name === 'variables' ? renderVariables() : renderGroup(name), '\n', end].join(''),
  );

/** `.env.example`: every variable, commented out, with its meaning. */
export function renderEnvironmentExample(): string {
  const lines = variables.flatMap(({ name, isSecret, meaning, example }) => [
    '',
    `# ${meaning.replaceAll('`', '')}${isSecret ? `. Secret; ${name}_FILE names a file with it instead.` : ''}`,
    `# ${name}=${example}`,
  ]);
  const head = [
    '# Environment of nightscreen, for `docker run --env-file`, compose or systemd. Made from the code: npm run docs:schemas.',
    '# A variable that is set but empty counts as not set. Keep a file that holds secrets at mode 0600.',
  ];
  return `${[...head, ...lines].join('\n')}\n`;
}

/** The JSON Schema of the configuration, as it is published. */
export const renderConfigSchema = (): string => `${JSON.stringify(toConfigJsonSchema(), null, 2)}\n`;
