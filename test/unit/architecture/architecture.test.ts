import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { type Import, listFiles, readImports, readLongTemplates, readSource, readTypeNames } from './read-imports.js';

/** DESIGN's table: from which places a place may import values. A place is a folder or file of `src`, or `jobs`. */
const mayImport: Readonly<Record<string, string>> = {
  vocabulary: '',
  errors: '',
  clock: '',
  loopback: '',
  files: 'errors',
  outgoing: 'loopback',
  serving: 'errors',
  'local-time': '',
  xml: '',
  formulas: '',
  'gather-by': '',
  client: 'errors clock loopback outgoing',
  roster: 'errors files formulas xml',
  'near-miss': '',
  names: 'near-miss',
  lists: 'errors files xml',
  screening: 'roster client errors',
  matches: 'screening roster errors',
  dossiers: 'client errors',
  changes: 'matches dossiers errors local-time',
  reconciliation: 'names',
  reports: 'changes matches reconciliation errors files formulas gather-by local-time',
  mail: 'reports errors loopback files',
  webhooks: 'client matches errors files loopback outgoing serving',
  evidence: 'errors files',
  store: 'errors clock files',
  runs: `errors clock local-time client roster names lists screening matches dossiers changes
    reconciliation reports mail webhooks evidence store outgoing files formulas gather-by`,
  scheduling: 'roster screening reports mail store runs errors clock local-time files',
  logging: 'errors',
  metrics: 'errors loopback outgoing files',
  // Its ranking only: it must not fold an echo or read an answer as the client does.
  sandbox: 'names',
  config: `errors client roster screening matches changes dossiers reconciliation reports mail webhooks
    runs scheduling metrics files loopback near-miss`,
  jobs: 'runs config errors',
  cli: '*',
};

/** Upstream order of the places: `import type` may point to any place earlier in it. */
const upstream = `errors clock local-time near-miss client roster names lists screening matches dossiers changes
    reconciliation reports mail webhooks evidence store runs scheduling logging metrics config jobs cli`.split(/\s+/);

const files = [...listFiles('src'), ...listFiles('jobs')];
const imports = files.flatMap(readImports);

function toPlace(file: string): string {
  const [top = '', second = ''] = file.split('/');
  return top === 'src' ? second.replace(/\.ts$/, '') : top;
}

function isAllowed({ from, to, isType }: Import): boolean {
  const [importer, imported] = [toPlace(from), toPlace(to)];
  const values = mayImport[importer]?.split(/\s+/);
  if (!values) return false;
  // The closed sets of words are everybody's, but for the sandbox, which must not agree with us by sharing our code.
  if (imported === 'vocabulary') return importer !== 'sandbox';
  if (importer === imported || values.includes('*') || values.includes(imported)) return true;
  return isType && importer !== 'sandbox' && upstream.indexOf(imported) < upstream.indexOf(importer);
}

function findCycle(edges: ReadonlyMap<string, readonly string[]>): readonly string[] | null {
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): readonly string[] | null => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return null;
    for (const next of edges.get(file) ?? []) {
      const cycle = walk(next, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return null;
  };
  for (const file of edges.keys()) {
    const cycle = walk(file, []);
    if (cycle) return cycle;
  }
  return null;
}

it('imports run one way, as the table of the design says, dynamic ones included', () => {
  expect(imports.length).toBeGreaterThan(100);
  const wrong = imports
    .filter((one) => !isAllowed(one))
    .map(({ from, to, isType }) => `${from} -> ${to}${isType ? ' (type)' : ''}`);
  expect(wrong).toEqual([]);
});

const toGraph = (edges: readonly (readonly [string, string])[]): ReadonlyMap<string, readonly string[]> => {
  const graph = new Map<string, string[]>();
  for (const [from, to] of edges) graph.set(from, [...(graph.get(from) ?? []), to]);
  return graph;
};

it('no files import each other in a circle, neither values nor types', () => {
  expect(findCycle(toGraph(imports.map(({ from, to }) => [from, to])))).toBeNull();
});

it('no sub-folders of a folder import each other in a circle', () => {
  // A folder's own files join its sub-folders and may be used by them: `runs/screening-run.ts` calls `runs/screening`, which uses `runs/session.ts`.
  const isBelow = (folder: string): boolean => folder.split('/').length > 2;
  const edges = imports
    .map(({ from, to }): readonly [string, string] => [dirname(from), dirname(to)])
    .filter(([from, to]) => from !== to && isBelow(from) && isBelow(to));
  expect(edges.length).toBeGreaterThan(0);
  expect(findCycle(toGraph(edges))).toBeNull();
});

it('only the command line and the configuration read the environment, and only the command line prints', () => {
  const outside = (places: readonly string[]) => files.filter((file) => !places.includes(toPlace(file)));
  const reading = outside(['cli', 'config']).filter((file) => readSource(file).includes('process.env'));
  // The library, for a program that gives it nothing, and the variables that name a proxy to every program.
  expect(reading).toEqual(['src/outgoing.ts', 'src/client/client.ts']);
  expect(outside(['cli']).filter((file) => /console\.|process\.stdout/.test(readSource(file)))).toEqual([]);
});

it('no file is untyped', () => {
  const untyped = /@ts-(ignore|nocheck|expect-error)|: any\b|<any>|as any\b/;
  expect(files.filter((file) => untyped.test(readSource(file)))).toEqual([]);
});

it('code of another language has a file of its own, which its linter reads, but for SQL and the completion of shells', () => {
  const exempt = ['src/cli/completion.ts'];
  const long = files.filter((file) => readLongTemplates(file, 20).length > 0);
  expect(long.filter((file) => !exempt.includes(file))).toEqual([]);
  expect(exempt.filter((file) => !long.includes(file))).toEqual([]);
});

const countLines = (file: string): number => readSource(file).split('\n').length - 1;

it('a file is a chapter: none above 500 lines, none under 60 that only its neighbour imports', () => {
  expect(files.filter((file) => countLines(file) > 500)).toEqual([]);
  const importers = toGraph(imports.map(({ from, to }) => [to, from]));
  const lonely = files.filter((file) => {
    const from = new Set(importers.get(file));
    const [only] = from;
    return from.size === 1 && only !== undefined && dirname(only) === dirname(file) && countLines(file) < 60;
  });
  // A job is a file of its own, as a command is.
  expect(lonely.filter((file) => !file.startsWith('jobs/'))).toEqual([]);
});

// How many importers an export has is no figure here: to remove what is told twice makes it worse.
// Exports that nobody imports fail in knip.
it('the files are few and long enough, and their types are few', () => {
  const lines = files.reduce((sum, file) => sum + countLines(file), 0);
  const types = files.flatMap(readTypeNames);
  expect(files.length).toBeLessThanOrEqual(420);
  expect(lines / files.length).toBeGreaterThanOrEqual(130);
  expect((1_000 * types.length) / lines).toBeLessThanOrEqual(11);
});

it('every file that the pages on promises, security and architecture name is there', () => {
  const named = ['docs/guarantees.md', 'docs/security.md', 'docs/architecture.md'].flatMap((page) =>
    [...readSource(page).matchAll(/`((?:src|jobs|test|docs|sql)\/[^`*]*?)`/g)].map((found) => found[1] ?? ''),
  );
  expect(named.length).toBeGreaterThan(100);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});
