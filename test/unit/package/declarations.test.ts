import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Comment, type Node, parseSync, Visitor } from 'oxc-parser';
import { beforeAll, expect, it } from 'vitest';

/** What a declaration refers to by name, and its members without a comment. */
interface Declared {
  refers: ReadonlySet<string>;
  bare: readonly string[];
}

let folder: string;
const declared = new Map<string, Declared>();
let exported: readonly string[] = [];

/** Reads what a declaration file declares at its top, by name. */
function readDeclared(path: string): void {
  const text = readFileSync(path, 'utf8');
  const { program, comments } = parseSync(path, text);
  const isCommented = ({ start }: Node, by: readonly Comment[]): boolean =>
    by.some(({ value, end }) => end <= start && value.startsWith('*') && text.slice(end, start).trim() === '');
  for (const statement of program.body) {
    const isExport = statement.type === 'ExportNamedDeclaration';
    const declaration = isExport ? statement.declaration : statement;
    if (isExport && path.endsWith('client/index.d.ts')) {
      exported = [...exported, ...statement.specifiers.map(({ local }) => text.slice(local.start, local.end))];
    }
    if (declaration === null) continue;
    const named = declaration.type === 'VariableDeclaration' ? declaration.declarations : [declaration];
    const [name] = named.flatMap((one) => ('id' in one && one.id?.type === 'Identifier' ? [one.id.name] : []));
    if (name === undefined) continue;
    const refers = new Set<string>();
    const bare: string[] = [];
    const look = (member: Node, key: Node): void => {
      const label = text.slice(key.start, key.end);
      if (label !== '#private' && !isCommented(member, comments)) bare.push(`${name}.${label}`);
    };
    new Visitor({
      Identifier: (node) => refers.add(node.name),
      TSPropertySignature: (node) => look(node, node.key),
      TSMethodSignature: (node) => look(node, node.key),
      TSIndexSignature: (node) => look(node, node),
      PropertyDefinition: (node) => look(node, node.key),
      MethodDefinition: (node) => look(node, node.key),
      TSAbstractMethodDefinition: (node) => look(node, node.key),
    }).visit({ ...program, body: [statement] });
    if (!isCommented(statement, comments)) bare.unshift(name);
    declared.set(name, { refers, bare });
  }
}

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'nightscreen-declarations-'));
  const words = [
    '-p',
    'tsconfig.build.json',
    '--outDir',
    folder,
    '--incremental',
    'false',
    '--tsBuildInfoFile',
    'null',
  ];
  execFileSync('node_modules/.bin/tsc', words);
  execFileSync('node_modules/.bin/tsx', ['test/comment-settings.ts', folder]);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.d.ts'));
  for (const file of files) readDeclared(join(folder, file));
});

it('every field that a program meets in the declarations of the library has a comment there', () => {
  expect(exported.length).toBeGreaterThan(50);
  const met = new Set<string>();
  const meet = (name: string): void => {
    const found = declared.get(name);
    if (found === undefined || met.has(name)) return;
    met.add(name);
    for (const next of found.refers) meet(next);
  };
  for (const name of exported) meet(name);
  expect(exported.filter((name) => !met.has(name))).toEqual([]);
  expect([...met].flatMap((name) => declared.get(name)?.bare ?? [])).toEqual([]);
});
