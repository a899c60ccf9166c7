import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { z } from 'zod';
import config from '../../../vitest.config.js';
import { listFiles } from './read-imports.js';

const project = z.object({ name: z.string(), include: z.array(z.string()), exclude: z.array(z.string()).optional() });
const projects = z
  .object({ test: z.object({ projects: z.array(z.object({ test: project })) }) })
  .parse(config)
  .test.projects.map(({ test }) => test);

/** Whether a path fits a pattern of `vitest.config.ts` or of a promise: `*` is any part of a name, `**` any folders. */
const fits = (pattern: string) => {
  const parts = pattern.split(/(\*\*\/|\*)/).map((part) => {
    if (part === '**/') return '(.*/)?';
    return part === '*' ? '[^/]*' : part.replaceAll('.', '\\.');
  });
  const expression = new RegExp(`^${parts.join('')}$`);
  return (path: string): boolean => expression.test(path);
};

/** The projects that the commands of `.ci/run` name, by way of the scripts of package.json. */
function listRunProjects(): readonly string[] {
  const { scripts } = z
    .object({ scripts: z.record(z.string(), z.string()) })
    .parse(JSON.parse(readFileSync('package.json', 'utf8')));
  const commands = readFileSync('.ci/run', 'utf8').matchAll(/npm (?:run (?:--silent )?)?([\w:]+)/g);
  return [...commands].flatMap(([, name = '']) =>
    [...(scripts[name] ?? '').matchAll(/--project (\w+)/g)].map(([, found = '']) => found),
  );
}

const run = listRunProjects();
const runFiles = listFiles('test').filter((path) =>
  projects
    .filter(({ name }) => run.includes(name))
    .some(
      ({ include, exclude = [] }) =>
        include.some((pattern) => fits(pattern)(path)) && !exclude.some((pattern) => fits(pattern)(path)),
    ),
);

it('every test is in a project that .ci/run runs', () => {
  expect(listFiles('test').filter((path) => path.endsWith('.test.ts') && !runFiles.includes(path))).toEqual([]);
});

it('every promise names tests, and .ci/run runs all of them', () => {
  const [promises = ''] = readFileSync('docs/guarantees.md', 'utf8').split('\n## On which database');
  const lines = promises.split('\n').filter((line) => line.startsWith('- '));
  const named = lines.map((line) => [...line.matchAll(/`(test\/[^`]+)`/g)].map(([, pattern = '']) => pattern));
  expect(lines.filter((_, at) => named[at]?.length === 0)).toEqual([]);
  expect(named.flat().filter((pattern) => !runFiles.some(fits(pattern)))).toEqual([]);
});
