import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript';

/** One import of a file of ours by another; `isType` when nothing of it remains at run time. `names` are the exports that it takes, `*` for all of them. */
export interface Import {
  from: string;
  to: string;
  isType: boolean;
  names: readonly string[];
}

const root = new URL('../../../', import.meta.url).pathname;

/** The TypeScript files below a folder of the project, as paths from its root. */
export function listFiles(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path));
}

/** Static, re-exporting and dynamic imports of a file that point to files of ours, as the compiler parses them. */
export function readImports(file: string): readonly Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const imports: Import[] = [];
  const add = (specifier: ts.Node | undefined, isType: boolean, names: readonly string[] = ['*']): void => {
    if (!specifier || !ts.isStringLiteralLike(specifier) || !specifier.text.startsWith('.')) return;
    const path = relative(root, join(root, dirname(file), specifier.text));
    imports.push({ from: file, to: path.replace(/\.js$/, '.ts'), isType, names });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node))
      add(node.moduleSpecifier, isTypeOnly(node.importClause), listNames(node.importClause?.namedBindings));
    else if (ts.isExportDeclaration(node)) add(node.moduleSpecifier, node.isTypeOnly);
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], false);
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(node.argument.literal, true);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ESNext, true));
  return imports;
}

const listNames = (bindings: ts.NamedImportBindings | undefined): readonly string[] =>
  bindings && ts.isNamedImports(bindings)
    ? bindings.elements.map(({ name, propertyName }) => (propertyName ?? name).text)
    : ['*'];

/** What a file declares at its top: the names that it exports, and how many interfaces and type aliases there are. */
export function readDeclarations(file: string): { exported: readonly string[]; types: number } {
  const exported: string[] = [];
  let types = 0;
  for (const statement of ts.createSourceFile(file, readSource(file), ts.ScriptTarget.ESNext, true).statements) {
    if (ts.isInterfaceDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) types += 1;
    if (!ts.canHaveModifiers(statement)) continue;
    if (!ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue;
    const declared = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    for (const one of declared)
      if ('name' in one && one.name && ts.isIdentifier(one.name)) exported.push(one.name.text);
  }
  return { exported, types };
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const { namedBindings } = clause;
  if (clause.name || !namedBindings || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.length > 0 && namedBindings.elements.every((element) => element.isTypeOnly);
}

/** The source text of a file of the project. */
export const readSource = (file: string): string => readFileSync(join(root, file), 'utf8');
