import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type Node, type Program, parseSync, Visitor } from 'oxc-parser';

/** One import of a file of ours by another; `isType` when nothing of it remains at run time. */
export interface Import {
  from: string;
  to: string;
  isType: boolean;
}

const root = new URL('../../../', import.meta.url).pathname;

/** The TypeScript files below a folder of the project, as paths from its root. */
export function listFiles(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path));
}

/** Static, re-exporting and dynamic imports of a file that point to files of ours. */
export function readImports(file: string): readonly Import[] {
  const imports: Import[] = [];
  const add = (specifier: Node | null, isType: boolean): void => {
    const text = readText(specifier);
    if (!text?.startsWith('.')) return;
    const path = relative(root, join(root, dirname(file), text));
    imports.push({ from: file, to: path.replace(/\.js$/, '.ts'), isType });
  };
  new Visitor({
    ImportDeclaration: ({ source, importKind, specifiers }) => {
      const named = specifiers.flatMap((each) => (each.type === 'ImportSpecifier' ? [each] : []));
      const isNamed = named.length > 0 && named.length === specifiers.length;
      const isType = importKind === 'type' || (isNamed && named.every((each) => each.importKind === 'type'));
      add(source, isType);
    },
    ExportNamedDeclaration: ({ source, exportKind }) => add(source, exportKind === 'type'),
    ExportAllDeclaration: ({ source, exportKind }) => add(source, exportKind === 'type'),
    ImportExpression: ({ source }) => add(source, false),
    TSImportType: ({ source }) => add(source, true),
  }).visit(parse(file));
  return imports;
}

/** A string, or a template without a placeholder. */
function readText(node: Node | null): string | undefined {
  if (node?.type === 'TemplateLiteral') return node.expressions.length === 0 ? node.quasis[0]?.value.raw : undefined;
  return node?.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
}

/** The strings of a file that are sentences or parts of them, without SQL, markup and style sheets; a placeholder is an ellipsis. */
export function readMessages(file: string): readonly string[] {
  const found: string[] = [];
  new Visitor({
    Literal: ({ value }) => {
      if (typeof value === 'string') found.push(value);
    },
    TemplateLiteral: ({ quasis }) => {
      found.push(quasis.map(({ value }) => value.cooked ?? '').join('…'));
    },
  }).visit(parse(file));
  return found.filter((text) => /[a-z…] [a-z…]/i.test(text) && !sql.test(text) && !/[{}]|=\\?"/.test(text));
}

/** The template strings of a file, SQL aside, that are longer than `most` lines: how each begins. */
export function readLongTemplates(file: string, most: number): readonly string[] {
  const found: string[] = [];
  const source = readSource(file);
  new Visitor({
    TemplateLiteral: ({ start, end, quasis }) => {
      const text = source.slice(start, end);
      if (text.split('\n').length > most && !sql.test(quasis[0]?.value.raw ?? '')) found.push(text.slice(0, 60));
    },
  }).visit(parse(file));
  return found;
}

const sql =
  /^\s*[(,]?(with|select|insert|update|delete|case|coalesce|(left |cross )?join|and|or|where|create|lock|alter|set|from|order by|not exists|exists|count|max|min|bool_or|array|jsonb?_|string_to|string_agg|least|greatest|distinct|values|when|union|limit|returning|truncate|analyze|drop|begin|commit)\b|\b(select|where|from|join) [a-z_]+[.( ]|::|\bis (not )?(null|distinct)\b| as "|= \$\d|:=/;

/** The regular expressions that a file writes as literals, and in how many places it constructs others. */
export function readExpressions(file: string): { literals: readonly RegExp[]; constructed: number } {
  const literals: RegExp[] = [];
  let constructed = 0;
  new Visitor({
    Literal: (literal) => {
      if ('regex' in literal) literals.push(new RegExp(literal.regex.pattern, literal.regex.flags));
    },
    NewExpression: ({ callee }) => {
      if (callee.type === 'Identifier' && callee.name === 'RegExp') constructed += 1;
    },
  }).visit(parse(file));
  return { literals, constructed };
}

/** The functions of a file that are longer than `most` lines: how each begins. */
export function readLongFunctions(file: string, most: number): readonly string[] {
  const found: string[] = [];
  const source = readSource(file);
  const measure = ({ start, end }: { start: number; end: number }): void => {
    const lines = source.slice(start, end).split('\n');
    if (lines.length > most) found.push(`${file}: ${lines.length} lines from ${lines[0]}`);
  };
  new Visitor({
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(parse(file));
  return found;
}

/** How often a file spreads an object or a list that it writes in the same place. */
export function readLiteralSpreads(file: string): number {
  let found = 0;
  new Visitor({
    SpreadElement: ({ argument }) => {
      const spread = argument.type === 'ParenthesizedExpression' ? argument.expression : argument;
      const literal = spread.type === 'TSAsExpression' ? spread.expression : spread;
      if (literal.type === 'ObjectExpression' || literal.type === 'ArrayExpression') found += 1;
    },
  }).visit(parse(file));
  return found;
}

/** The interfaces and type aliases that a file declares at its top. */
export function readTypeNames(file: string): readonly string[] {
  return parse(file).body.flatMap((statement) => {
    const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    const isType = declaration?.type === 'TSInterfaceDeclaration' || declaration?.type === 'TSTypeAliasDeclaration';
    return isType ? [declaration.id.name] : [];
  });
}

const parsed = new Map<string, Program>();

function parse(file: string): Program {
  const known = parsed.get(file);
  if (known) return known;
  const { program, errors } = parseSync(file, readSource(file));
  if (errors[0] !== undefined) throw new Error(`${file} cannot be parsed: ${errors[0].message}`);
  parsed.set(file, program);
  return program;
}

/** The source text of a file of the project. */
export const readSource = (file: string): string => readFileSync(join(root, file), 'utf8');
