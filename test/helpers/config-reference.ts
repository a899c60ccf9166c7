import { type Variable, variables } from '../../src/config/environment.js';
import { toConfigJsonSchema } from '../../src/config/schema.js';

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
  const ofInner = Object.entries(inner?.properties ?? {}).flatMap(([key, child]) =>
    listRows(child, `${prefix}.${key}`, inner?.required?.includes(key) ?? false),
  );
  const byName = typeof inner?.additionalProperties === 'object' ? inner.additionalProperties : null;
  if (byName) ofInner.push(...listRows(byName, `${prefix}.NAME`, false));
  const isDefaultTold = node.default !== undefined && inner !== node;
  const otherwise = isRequired ? 'required' : inner === node ? '' : 'none';
  const own = {
    path,
    type: inner === node ? 'group' : describeType(node),
    initial: isDefaultTold ? code(node.default) : otherwise,
    description: node.description,
  };
  return [own, ...ofInner];
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
