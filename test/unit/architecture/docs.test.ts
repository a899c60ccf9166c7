import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';

/** Made from the code by `npm run docs:schemas`; its words are the descriptions of settings. */
const generated = 'docs/configuration.md';
const mostWordsOfReadme = 900;
const mostWordsOfDocs = 20_000;
const mostWordsOfSentence = 25;

const pages = readdirSync('docs')
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`);
const texts = [...pages, 'README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];
const read = (file: string): string => readFileSync(file, 'utf8');

/** As `wc -w` counts them: code, tables and paths included. */
const countWords = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length;

const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```$/gm, '').replaceAll(/<!--[\s\S]*?-->/g, '');

/** Paragraphs, items of lists and headings, with code as one word, links as their text, and neither tables nor addresses. */
const listBlocks = (text: string): readonly string[] =>
  withoutCode(text)
    .replaceAll(/^\s*\|.*$/gm, '\n')
    .replaceAll(/`[^`\n]+`/g, 'code')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/https?:\/\/\S+/g, '')
    .replaceAll(/[*_]{1,2}(\S)/g, '$1')
    .split(/\n\s*\n|\n(?=\s*(?:[-#>]|\d+\.) )/);

/** Sentences end with a full stop, a question mark or an exclamation mark before a space. Only words with a letter or a digit count. */
const listSentences = (text: string): readonly string[] =>
  listBlocks(text).flatMap((block) => block.trim().split(/(?<=[.!?][)"]?)\s+/));

const countSpoken = (sentence: string): number => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** As GitHub names the anchors of headings. */
const listAnchors = (text: string): readonly string[] =>
  [...withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) =>
    heading
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );

function findBrokenLink(file: string, target: string): string | null {
  const [path = '', anchor] = target.split('#');
  const page = path === '' ? file : normalize(join(dirname(file), path));
  if (!existsSync(page)) return `${file}: ${target}`;
  return anchor === undefined || listAnchors(read(page)).includes(anchor) ? null : `${file}: ${target}`;
}

it(`README has at most ${mostWordsOfReadme} words, and begins with what it is and the two commands`, () => {
  const readme = read('README.md');
  expect(countWords(readme)).toBeLessThanOrEqual(mostWordsOfReadme);
  const top = readme.split('\n').slice(0, 12).join('\n');
  expect(top).toContain('anti-money-laundering (AML)');
  expect(top).toContain('npm ci && npm start');
  expect(top).toContain('npm ci && npm test');
});

it(`the pages have at most ${mostWordsOfDocs} words together, without the reference that is made from the code`, () => {
  const words = pages.filter((page) => page !== generated).map((page) => countWords(read(page)));
  expect(words.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(mostWordsOfDocs);
});

it(`no sentence has more than ${mostWordsOfSentence} words`, () => {
  const long = texts
    .filter((file) => file !== generated)
    .flatMap((file) =>
      listSentences(read(file))
        .filter((sentence) => countSpoken(sentence) > mostWordsOfSentence)
        .map((sentence) => `${file}: ${countSpoken(sentence)} words: ${sentence.replaceAll(/\s+/g, ' ')}`),
    );
  expect(long).toEqual([]);
});

it('a sentence that is too long would be found, in a paragraph and in an item of a list', () => {
  const long = Array.from({ length: mostWordsOfSentence + 1 }, (_, index) => `word${index}`).join(' ');
  const counts = (text: string) => listSentences(text).map(countSpoken);
  expect(Math.max(...counts(`Short.\n\n- **Bold.** ${long}.\n- Short \`code with words\`.`))).toBe(26);
  expect(Math.max(...counts(`\`\`\`sh\n${long}\n\`\`\`\n\n| ${long} |\n`))).toBe(0);
});

it('every link to a file of the project, or to a heading of a page, leads there', () => {
  const links = texts.flatMap((file) =>
    [...withoutCode(read(file)).matchAll(/\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => ({ file, target })),
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.flatMap(({ file, target }) => findBrokenLink(file, target) ?? [])).toEqual([]);
});

it('every page that the program, the installations and the tests name is there, with its heading', () => {
  const sources = ['src', 'deploy', 'jobs', '.ci'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => `${parentPath}/${name}`),
  );
  const named = sources.flatMap((file) =>
    [...read(file).matchAll(/docs\/[a-z-]+\.md(?:#[\w-]+)?/g)].map(([target]) => ({ file, target })),
  );
  expect(named.length).toBeGreaterThan(5);
  const broken = named.filter(({ target }) => findBrokenLink('README.md', target) !== null);
  expect(broken.map(({ file, target }) => `${file}: ${target}`)).toEqual([]);
});
