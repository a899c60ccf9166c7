import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/** The files of the package, by npm itself. */
const packed: readonly string[] = (() => {
  const words = ['pack', '--dry-run', '--ignore-scripts', '--offline', '--json'];
  const [listed]: { files: { path: string }[] }[] = JSON.parse(execFileSync('npm', words, { encoding: 'utf8' }));
  return listed?.files.map(({ path }) => path) ?? [];
})();
const isPacked = (path: string): boolean =>
  packed.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));

/** The anchors of a page: its headings, in the form that forges give them. */
function listAnchors(page: string): readonly string[] {
  const headings = [...readFileSync(page, 'utf8').matchAll(/^#{1,6}\s+(.+)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .trim()
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-'),
  );
}

/** What is wrong with a reference to `page#anchor`; null for a right one. */
function findFault(target: string): string | null {
  const [page = '', anchor] = target.split('#');
  if (!isPacked(page)) return 'is not in the package';
  if (anchor === undefined || !page.endsWith('.md')) return null;
  return listAnchors(page).includes(anchor) ? null : `${page} has no heading for #${anchor}`;
}

it('the package holds the program, its pages, its examples and what the demo reads, and no test', () => {
  const needed = [
    'README.md',
    'CHANGELOG.md',
    'LICENSE',
    'SECURITY.md',
    'nightscreen.config.example.yaml',
    'docs/configuration.md',
    'deploy/systemd',
    'deploy/docker',
    'deploy/kubernetes',
    'deploy/prometheus',
    'fixtures/demo',
    'docs/schemas',
    'sql/0001_organisations.sql',
    'src/reports/page/report.css',
    'src/reports/page/report.js',
    'src/reports/page/report.styles.xml',
  ];
  expect(needed.filter((path) => !isPacked(path))).toEqual([]);
  expect(packed.filter((path) => /^(?:test|\.ci|docs\/images|fixtures\/rosters)\//.test(path))).toEqual([]);
  expect(packed.filter((path) => path.startsWith('src/') && !needed.includes(path))).toEqual([]);
  expect(packed.filter((path) => path.startsWith('dist/programs/'))).toEqual([]);
});

it('every page that the program, its examples or its settings name is in the package, with the heading that is named', () => {
  const naming = /\.(?:ts|mjs|ya?ml|sql|sh|service|timer|env|json)$/;
  const tracked = execFileSync('git', ['ls-files', 'src', 'jobs', 'sql', 'deploy', '*.example.yaml'], {
    encoding: 'utf8',
  });
  const named = tracked
    .split('\n')
    .filter((file) => naming.test(file))
    .flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(/docs\/[\w-]+\.md(?:#[\w-]+)?/g)].map(([target]) => ({ file, target })),
    );
  expect(named.length).toBeGreaterThan(4);
  const faults = named.map(({ file, target }) => ({ file, target, fault: findFault(target) }));
  expect(faults.filter(({ fault }) => fault !== null)).toEqual([]);
});

it('every link of a packed page leads to a file of the package and to a heading of it', () => {
  const pages = packed.filter((file) => file.endsWith('.md'));
  const links = pages.flatMap((page) =>
    // Pictures are for the pages of a forge.
    [...readFileSync(page, 'utf8').matchAll(/(?<!!)\[[^\]]*\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => ({ page, target, path: target.startsWith('#') ? page + target : join(page, '..', target) })),
  );
  expect(links.length).toBeGreaterThan(20);
  const faults = links.map(({ page, target, path }) => ({ page, target, fault: findFault(normalize(path)) }));
  expect(faults.filter(({ fault }) => fault !== null)).toEqual([]);
});

it('git ignores what the commands of the README write into the checkout: customers, configuration, reports', () => {
  const made = ['customers.csv', 'nightscreen.config.yaml', 'review.xlsx', '.nightscreen/db', 'reports/1/report.html'];
  const ignored = execFileSync('git', ['check-ignore', ...made, 'key'], { encoding: 'utf8' });
  expect(ignored.trim().split('\n')).toEqual([...made, 'key']);
  const readme = readFileSync('README.md', 'utf8');
  for (const file of [...readme.matchAll(/--file (\S+\.csv)|writes (\S+\.(?:csv|xlsx|yaml))/g)].map(
    ([, one, other]) => one ?? other ?? '',
  ))
    expect(made).toContain(file);
});
